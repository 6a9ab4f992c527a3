"""Publishes a site to a folder or to a branch of a git repository; files that are not of a site stay untouched."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pubench.errors import DataError, ParameterError, PubenchError, one_line
from pubench.leaderboard.site.build import MANIFEST, check_whole, read_manifest
from pubench.system.redaction import redacted

_GIT = "git:"
_MESSAGE = "Publish the leaderboard"


@dataclass(frozen=True)
class PublishResult:
    """The files that publishing changed, or would change.

    Attributes:
        target: the folder or branch, as given.
        added, changed, removed: paths of files below it, sorted.
    """

    target: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def is_change(self) -> bool:
        """Whether any file differs."""
        return bool(self.added or self.changed or self.removed)


def publish(site: Path, to: str, *, dry_run: bool = False) -> PublishResult:
    """Publish a site to a folder, or to `git:REMOTE#BRANCH`.

    Files of an earlier site that are not in the new one are removed; no other file is removed or overwritten. In a
    repository one commit with the site's files is added and pushed, never by force.

    Raises:
        DataError: the site is incomplete, or a file that is not of a site would be overwritten.
        ParameterError: the target is invalid.
        PubenchError: git failed.
    """
    new = check_whole(site)
    if to.startswith(_GIT):
        return _to_branch(site, new, to.removeprefix(_GIT), dry_run=dry_run)
    return _to_folder(site, new, Path(to), dry_run=dry_run)


def _to_folder(site: Path, new: Mapping[str, str], folder: Path, *, dry_run: bool) -> PublishResult:
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is no folder; give a folder or git:REMOTE#BRANCH.")
    if folder.resolve() == site.resolve():
        raise ParameterError(f"{folder} is the site itself; choose another folder.")
    change = _change(new, folder)
    if not dry_run and change.is_change:
        try:
            _copy(site, folder, change)
        except OSError as error:
            raise DataError(f"{folder} cannot be written: {error.strerror or error}.") from error
    return change


def _change(new: Mapping[str, str], folder: Path) -> PublishResult:
    """Return what the site changes in a folder.

    Raises:
        DataError: a file that is not of a site has the name of one of the new files.
    """
    old = read_manifest(folder)
    for name in (*new, MANIFEST):
        path = folder / name
        foreign = name not in old and not (name == MANIFEST and old)
        if path.is_symlink() or (path.exists() and foreign) or _has_linked_parent(folder, name):
            raise DataError(f"{path} is no file of a site and would be overwritten; move it away.")
    existing = {name for name in old if (folder / name).is_file()}
    return PublishResult(
        str(folder),
        tuple(sorted(name for name in new if name not in existing)),
        tuple(sorted(name for name in new if name in existing and new[name] != old[name])),
        tuple(sorted(existing - set(new))),
    )


def _has_linked_parent(folder: Path, name: str) -> bool:
    """Return whether a folder between `folder` and a file is a symbolic link, which may lead outside."""
    return any((folder / parent).is_symlink() for parent in Path(name).parents if parent != Path())


def _copy(site: Path, folder: Path, change: PublishResult) -> None:
    for name in (*change.added, *change.changed, MANIFEST):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(site / name, path)
    for name in change.removed:
        path = folder / name
        path.unlink()
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()


def _to_branch(site: Path, new: Mapping[str, str], address: str, *, dry_run: bool) -> PublishResult:
    remote, _, branch = address.rpartition("#")
    if not remote or not branch or remote.startswith("-") or branch.startswith("-"):
        raise ParameterError(
            f"'{_GIT}{redacted(address)}' is no branch to publish to; write git:REMOTE#BRANCH."
        )
    if Path(remote).exists():
        remote = str(Path(remote).absolute())  # git would resolve it against the clone
    with tempfile.TemporaryDirectory(prefix="pubench-publish-") as temporary:
        clone = Path(temporary) / "clone"
        _clone(remote, branch, clone)
        change = _change(new, clone)
        if not dry_run and change.is_change:
            _copy(site, clone, change)
            _git(clone, "add", "--force", "--", *new, MANIFEST)
            if change.removed:
                _git(clone, "rm", "--quiet", "--cached", "--ignore-unmatch", "--", *change.removed)
            _git(clone, *_identity(clone), "commit", "--quiet", "--message", _MESSAGE)
            _git(clone, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    return PublishResult(f"{_GIT}{redacted(address)}", change.added, change.changed, change.removed)


def _clone(remote: str, branch: str, clone: Path) -> None:
    """Clone the branch, or create an empty repository if the remote does not have the branch."""
    _git(None, "check-ref-format", f"refs/heads/{branch}", problem=f"'{branch}' is no branch name")
    branches = _git(None, "ls-remote", "--heads", "--", remote, f"refs/heads/{branch}")
    if branches.strip():
        _git(None, "clone", "--quiet", "--depth", "1", "--branch", branch, "--", remote, str(clone))
    else:
        _git(None, "init", "--quiet", "--initial-branch", branch, "--", str(clone))
        _git(clone, "remote", "add", "--", "origin", remote)


def _identity(clone: Path) -> tuple[str, ...]:
    """Return options that set a committer if git has none, as on machines that build sites."""
    try:
        _git(clone, "var", "GIT_COMMITTER_IDENT")
    except PubenchError:
        return ("-c", "user.name=pubench leaderboard", "-c", "user.email=leaderboard@localhost")
    return ()


def _git(folder: Path | None, *arguments: str, problem: str = "") -> str:
    command = ["git", *(() if folder is None else ("-C", str(folder))), *arguments]
    # Git must not ask for a password, as nobody may be there to answer.
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        completed = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError as error:
        raise PubenchError("git is not installed, and is needed to publish to a repository.") from error
    if completed.returncode:
        message = redacted(one_line(completed.stderr))[-300:]
        raise PubenchError(f"{problem or f'git {arguments[0]} failed'}: {message or 'without a message'}")
    return completed.stdout
