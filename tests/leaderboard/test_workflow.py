"""The workflow of .github, its own lines run by bash on a real repository: what they let through, and what not.

What GitHub brings (checking out, Python, artifacts) is left out, and so is the installation of pubench; the address that
the site is pushed to is a repository on this machine.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the workflow's lines are written for Linux")

ROOT = Path(__file__).parents[2]
SUITE = """
title = "Two runs"
[limits]
minutes = 2
memory_gib = 2
[[jobs]]
datasets = ["bank1"]
rows = 4000
methods = ["naive", "elkan"]
learners = ["logistic"]
folds = 3
"""


def steps(job: str) -> Iterator[dict[str, Any]]:
    """Return the steps of a job that are lines of shell, but for the installation."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/leaderboard.yml").read_text())
    for step in workflow["jobs"][job]["steps"]:
        if "run" in step and not step["run"].startswith("pip install"):
            yield step


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a runner has: this pubench first, no git identity, folders of its own."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PUBENCH_"))}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "PUBENCH_CACHE": str(home / "cache"),
        "PUBENCH_CONFIG": str(home / "config"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GITHUB_REPOSITORY": "me/board",
        "TOKEN": "secret",
    }


@pytest.fixture(scope="module")
def runs(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Six real records."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "two.toml").write_text(SUITE)
    command = ["pubench", "bench", "two.toml", "--out", "out", "--quiet"]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    return sorted((folder / "out/records").glob("*.json"))


@pytest.fixture
def repository(runs: list[Path], environment: dict[str, str], tmp_path: Path) -> Path:
    """A board of three of the records, with what is made of them, committed."""
    folder = tmp_path / "repository"
    (folder / "leaderboard/records").mkdir(parents=True)
    for path in runs[:3]:
        shutil.copy(path, folder / "leaderboard/records")
    (folder / "leaderboard/README.md").write_text("<!-- ranking: begin -->\n<!-- ranking: end -->\n")
    subprocess.run(
        ["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, env=environment, check=True
    )
    commit(folder, environment)
    return folder


def commit(folder: Path, environment: dict[str, str]) -> None:
    """Commit all there is, the table and the data made anew."""
    lines = """
        pubench leaderboard show --markdown --into leaderboard/README.md > made.txt
        pubench leaderboard show --json > leaderboard/data.json
        rm made.txt
        git add --all
        git -c user.name=a -c user.email=a@b commit --quiet --message records
    """
    subprocess.run(["bash", "-e", "-c", lines], cwd=folder, env=environment, check=True)


def work(job: str, folder: Path, environment: dict[str, str]) -> tuple[str, str]:
    """Run the steps as GitHub does, to the end or to the first that fails; return its name ("" for none) and its text."""
    for step in steps(job):
        # As GitHub runs it: `bash -e`, with pipefail where bash is asked for by name; here the default.
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=folder,
            env=environment,
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            return str(step["name"]), done.stdout + done.stderr
    return "", ""


def add(runs: list[Path], folder: Path) -> None:
    for path in runs[3:]:
        shutil.copy(path, folder / "leaderboard/records")


def falsify(runs: list[Path], folder: Path) -> None:
    """Add the records, each with an AUC that is better than what the run reached."""
    for path in runs[3:]:
        document = json.loads(path.read_text())
        document["metrics"]["auc"] = (1 + document["metrics"]["auc"]) / 2
        (folder / "leaderboard/records" / path.name).write_text(json.dumps(document))


def remove(runs: list[Path], folder: Path) -> None:
    (folder / "leaderboard/records" / runs[0].name).unlink()


@pytest.mark.parametrize(
    ("change", "step", "text"),
    [
        (add, "", ""),
        (falsify, "Some of the new runs are done again", "auc"),
        (remove, "Records are only added, and each belongs to the others", "never changed or removed"),
    ],
)
def test_a_pull_request_is_let_through_if_it_is_true(
    change: Callable[[list[Path], Path], None],
    step: str,
    text: str,
    runs: list[Path],
    repository: Path,
    environment: dict[str, str],
) -> None:
    base = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=repository,
        env=environment,
        text=True,
        capture_output=True,
        check=True,
    ).stdout.strip()
    change(runs, repository)
    commit(repository, environment)
    failed, said = work("records", repository, {**environment, "BASE": base})
    assert failed == step, said
    assert text in said
    assert (repository / "site/index.html").exists() == (step == "")


def test_a_table_that_was_not_made_anew_is_refused(repository: Path, environment: dict[str, str]) -> None:
    (repository / "leaderboard/README.md").write_text(
        "<!-- ranking: begin -->\nme first\n<!-- ranking: end -->\n"
    )
    lines = "git -c user.name=a -c user.email=a@b commit --quiet --all --message first"
    subprocess.run(["bash", "-e", "-c", lines], cwd=repository, env=environment, check=True)
    failed, said = work("records", repository, {**environment, "BASE": "HEAD^"})
    assert failed == "The table and the data made of the records are up to date", said
    assert "-me first" in said


def test_the_site_is_pushed(repository: Path, environment: dict[str, str], tmp_path: Path) -> None:
    bare = tmp_path / "pages.git"
    subprocess.run(["git", "init", "--quiet", "--bare", bare], env=environment, check=True)
    subprocess.run(
        ["pubench", "leaderboard", "build", "--out", "site"], cwd=repository, env=environment, check=True
    )
    address = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{bare.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://x-access-token:secret@github.com/me/board.git",
    }
    assert work("publish", repository, {**environment, **address}) == ("", "")
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "gh-pages"],
        cwd=bare, env=environment, text=True, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert "index.html" in listed.splitlines()
