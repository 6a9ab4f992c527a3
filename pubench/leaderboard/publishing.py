"""A built site goes to a folder or to a branch of a git repository; what is not of the site stays untouched."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pubench.errors import DataError, ParameterError, PubenchError, one_line
from pubench.leaderboard.site.writing import MANIFEST, check_whole, read_manifest

_GIT = "git:"
_MESSAGE = "Publish the leaderboard"
_CREDENTIALS = re.compile(r"://[^/\s@]*@")


@dataclass(frozen=True)
class Published:
    """What publishing changed, or would change.

    Attributes:
        place: where.
        added, changed, removed: paths of files, by name.
    """

    place: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def is_change(self) -> bool:
        """Whether anything is different now."""
        return bool(self.added or self.changed or self.removed)


def publish(site: Path, to: str, *, dry_run: bool = False) -> Published:
    """Bring a site to a folder, or to `git:REMOTE#BRANCH`.

    Files of an earlier site that are not in the new one are removed; no other file is removed or overwritten. In a
    repository one commit is added, with the site's files alone, and pushed; never by force.

    Raises:
        DataError: the site is not whole, or a file that is not of a site stands in its way.
        ParameterError: the place is none.
        PubenchError: git failed.
    """
    new = check_whole(site)
    if to.startswith(_GIT):
        return _to_branch(site, new, to.removeprefix(_GIT), dry_run=dry_run)
    return _to_folder(site, new, Path(to), dry_run=dry_run)


def _to_folder(site: Path, new: Mapping[str, str], folder: Path, *, dry_run: bool) -> Published:
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is no folder; name one, or git:REMOTE#BRANCH.")
    if folder.resolve() == site.resolve():
        raise ParameterError(f"{folder} is the site itself; name another folder.")
    change = _change(new, folder)
    if not dry_run and change.is_change:
        try:
            _copy(site, folder, change)
        except OSError as error:
            raise DataError(f"{folder} can not be written: {error.strerror or error}.") from error
    return change


def _change(new: Mapping[str, str], folder: Path) -> Published:
    """Return what the site changes in a folder.

    Raises:
        DataError: a file of somebody else has the name of one of the site's.
    """
    old = read_manifest(folder)
    for name in (*new, MANIFEST):
        place = folder / name
        foreign = name not in old and not (name == MANIFEST and old)
        if place.is_symlink() or (place.exists() and foreign) or _through_a_link(folder, name):
            raise DataError(f"{place} is no file of a site and would be overwritten; move it away.")
    there = {name for name in old if (folder / name).is_file()}
    return Published(
        str(folder),
        tuple(sorted(name for name in new if name not in there)),
        tuple(sorted(name for name in new if name in there and new[name] != old[name])),
        tuple(sorted(there - set(new))),
    )


def _through_a_link(folder: Path, name: str) -> bool:
    """Return whether a folder on the way to a file is a link, which might lead anywhere."""
    return any((folder / parent).is_symlink() for parent in Path(name).parents if parent != Path())


def _copy(site: Path, folder: Path, change: Published) -> None:
    for name in (*change.added, *change.changed, MANIFEST):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(site / name, place)
    for name in change.removed:
        place = folder / name
        place.unlink()
        if place.parent != folder and not any(place.parent.iterdir()):
            place.parent.rmdir()


def _to_branch(site: Path, new: Mapping[str, str], address: str, *, dry_run: bool) -> Published:
    remote, _, branch = address.rpartition("#")
    if not remote or not branch or remote.startswith("-") or branch.startswith("-"):
        raise ParameterError(
            f"'{_GIT}{without_secrets(address)}' is no place to publish to; write git:REMOTE#BRANCH."
        )
    if Path(remote).exists():
        remote = str(Path(remote).absolute())  # git would look for it beside the clone
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
    return Published(f"{_GIT}{without_secrets(address)}", change.added, change.changed, change.removed)


def without_secrets(text: str) -> str:
    """Return a text in which no address has a user and a password: what is printed ends up in logs."""
    return _CREDENTIALS.sub("://", text)


def _clone(remote: str, branch: str, clone: Path) -> None:
    """Make a clone of the branch, or one without any commit if the remote does not have it."""
    _git(None, "check-ref-format", f"refs/heads/{branch}", problem=f"'{branch}' is no name of a branch")
    found = _git(None, "ls-remote", "--heads", "--", remote, f"refs/heads/{branch}")
    if found.strip():
        _git(None, "clone", "--quiet", "--depth", "1", "--branch", branch, "--", remote, str(clone))
    else:
        _git(None, "init", "--quiet", "--initial-branch", branch, "--", str(clone))
        _git(clone, "remote", "add", "--", "origin", remote)


def _identity(clone: Path) -> tuple[str, ...]:
    """Return who commits where git does not know: a machine that builds sites is nobody."""
    try:
        _git(clone, "var", "GIT_COMMITTER_IDENT")
    except PubenchError:
        return ("-c", "user.name=pubench leaderboard", "-c", "user.email=leaderboard@localhost")
    return ()


def _git(folder: Path | None, *arguments: str, problem: str = "") -> str:
    command = ["git", *(() if folder is None else ("-C", str(folder))), *arguments]
    # Nobody is there to be asked for a password, and no setting of a clone is to run anything.
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError as error:
        raise PubenchError("git is not installed, and is needed to publish to a repository.") from error
    if done.returncode:
        said = without_secrets(one_line(done.stderr))[-300:]
        raise PubenchError(f"{problem or f'git {arguments[0]} failed'}: {said or 'it did not say why'}")
    return done.stdout
