"""Publishing to folders and to real git repositories on this machine."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pubench.errors import DataError, ParameterError, PubenchError
from pubench.leaderboard.board import load_board
from pubench.leaderboard.publish import publish
from pubench.leaderboard.site.build import MANIFEST, build_site, check_whole, read_manifest


def git(*arguments: str, cwd: Path) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def smaller(written: Path, tmp_path: Path) -> Path:
    """The site of some of the records; it lacks some of the pages of the full site."""
    folder = tmp_path / "half" / "records"
    folder.mkdir(parents=True)
    for path in written.iterdir():
        if '"kdd"' not in path.read_text():
            shutil.copy(path, folder)
    return build_site(load_board(folder), tmp_path / "half" / "site").folder


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository to push to, on a machine without git identity."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    remote = tmp_path / "remote.git"
    git("init", "--quiet", "--bare", "--initial-branch=main", str(remote), cwd=tmp_path)
    return remote


def test_other_files_of_the_folder_stay(site: Path, smaller: Path, tmp_path: Path) -> None:
    target = tmp_path / "www"
    target.mkdir()
    (target / "CNAME").write_text("board.example")
    planned = publish(site, str(target), dry_run=True)
    assert len(planned.added) == len(read_manifest(site))
    assert [path.name for path in target.iterdir()] == ["CNAME"]
    assert publish(site, str(target)) == planned
    assert check_whole(target) == read_manifest(site)
    assert not publish(site, str(target)).is_change
    change = publish(smaller, str(target))
    assert "datasets/kdd.html" in change.removed
    assert "index.html" in change.changed
    assert check_whole(target) == read_manifest(smaller)
    assert not (target / "datasets/kdd.html").exists()
    assert (target / "CNAME").read_text() == "board.example"


def test_a_foreign_file_is_never_overwritten_or_removed(site: Path, smaller: Path, tmp_path: Path) -> None:
    target = tmp_path / "www"
    target.mkdir()
    (target / "index.html").write_text("my homepage")
    with pytest.raises(DataError, match=r"index\.html is no file of a site"):
        publish(site, str(target))
    assert [path.name for path in target.iterdir()] == ["index.html"]
    (target / "index.html").unlink()
    publish(site, str(target))
    (target / "datasets" / "notes.html").write_text("mine")
    publish(smaller, str(target))
    assert (target / "datasets" / "notes.html").read_text() == "mine"


def test_links_are_not_followed(site: Path, tmp_path: Path) -> None:
    elsewhere, target = tmp_path / "elsewhere", tmp_path / "www"
    elsewhere.mkdir()
    target.mkdir()
    (target / "methods").symlink_to(elsewhere)
    with pytest.raises(DataError, match="is no file of a site"):
        publish(site, str(target))
    assert list(elsewhere.iterdir()) == []


def test_an_incomplete_site_is_not_published(site: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no site"):
        publish(tmp_path, str(tmp_path / "www"))
    broken = tmp_path / "broken"
    shutil.copytree(site, broken)
    (broken / "site.js").write_text("alert(1)")
    with pytest.raises(DataError, match="was changed"):
        publish(broken, str(tmp_path / "www"))
    with pytest.raises(ParameterError, match="the site itself"):
        publish(site, str(site))
    with pytest.raises(ParameterError, match="no folder"):
        publish(site, str(site / "index.html"))


def test_a_branch_gets_one_commit_with_the_site_alone(
    site: Path, smaller: Path, bare: Path, tmp_path: Path
) -> None:
    target = f"git:{bare}#gh-pages"
    assert publish(site, target, dry_run=True).added
    assert git("branch", "--list", cwd=bare) == ""
    publish(site, target)
    listed = git("ls-tree", "-r", "--name-only", "gh-pages", cwd=bare).split()
    assert sorted(listed) == sorted([*read_manifest(site), MANIFEST])
    assert not publish(site, target).is_change
    assert len(git("log", "--format=%h", "gh-pages", cwd=bare).split()) == 1

    clone = tmp_path / "clone"
    git("clone", "--quiet", "--branch", "gh-pages", str(bare), str(clone), cwd=tmp_path)
    (clone / "CNAME").write_text("board.example")
    git("add", "CNAME", cwd=clone)
    git("commit", "--quiet", "-m", "mine", cwd=clone)
    git("push", "--quiet", cwd=clone)
    publish(smaller, target)
    listed = git("ls-tree", "-r", "--name-only", "gh-pages", cwd=bare).split()
    assert sorted(listed) == sorted([*read_manifest(smaller), MANIFEST, "CNAME"])
    subjects = git("log", "--format=%s", "gh-pages", cwd=bare).splitlines()
    assert subjects == ["Publish the leaderboard", "mine", "Publish the leaderboard"]


def test_a_repository_may_be_named_from_here(site: Path, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bare.parent)
    for _ in range(2):
        publish(site, f"git:{bare.name}#gh-pages")
    assert git("log", "--format=%s", "gh-pages", cwd=bare).splitlines() == ["Publish the leaderboard"]


def test_a_push_that_is_refused_fails_and_forces_nothing(site: Path, bare: Path) -> None:
    hook = bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'not today' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PubenchError, match=r"git push failed: .*not today"):
        publish(site, f"git:{bare}#gh-pages")
    assert git("branch", "--list", cwd=bare) == ""


@pytest.mark.parametrize(
    "target", ["git:#main", "git:remote", "git:--upload-pack=touch x#main", "git:remote#-f", "git:"]
)
def test_an_invalid_target_is_refused(site: Path, target: str) -> None:
    with pytest.raises(ParameterError, match="no branch to publish"):
        publish(site, target)


def test_branch_and_remote_are_checked(site: Path, bare: Path, tmp_path: Path) -> None:
    with pytest.raises(PubenchError, match="no branch name"):
        publish(site, f"git:{bare}#a..b")
    with pytest.raises(PubenchError, match="git ls-remote failed"):
        publish(site, f"git:{tmp_path / 'nothing'}#main")
    # Git itself refuses commands instead of addresses.
    with pytest.raises(PubenchError, match="git ls-remote failed"):
        publish(site, f"git:ext::sh -c 'touch {tmp_path / 'run'}'#main")
    assert not (tmp_path / "run").exists()


def test_secrets_in_an_address_are_not_shown(site: Path, tmp_path: Path) -> None:
    target = f"git:file://me:s3cret@{tmp_path}/nothing#main"
    with pytest.raises(PubenchError) as caught:
        publish(site, target)
    assert "s3cret" not in str(caught.value)
    with pytest.raises(ParameterError) as refused:
        publish(site, "git:https://me:s3cret@host/x")
    assert "s3cret" not in str(refused.value)
