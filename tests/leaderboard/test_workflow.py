"""The commands of the leaderboard workflow in .github, run by bash on a real repository: what they accept and refuse.

Steps of GitHub itself (checkout, Python, artifacts) and the installation of pubench are skipped; the site is pushed to a
repository on this machine.
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

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the workflow is written for Linux")

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
    """Yield the steps of a job that run shell commands, except for the installation."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/leaderboard.yml").read_text())
    for step in workflow["jobs"][job]["steps"]:
        if "run" in step and not step["run"].startswith("pip install"):
            yield step


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a runner: this pubench first on the path, no git identity, and its own folders."""
    home = tmp_path_factory.mktemp("home")
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PUBENCH_"))
    }
    return {
        **inherited,
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
    """A repository with a board of three of the records, and the files made of it, committed."""
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
    """Write the table and the data again, and commit everything."""
    lines = """
        pubench leaderboard show --markdown --into leaderboard/README.md > made.txt
        pubench leaderboard show --json > leaderboard/data.json
        rm made.txt
        git add --all
        git -c user.name=a -c user.email=a@b commit --quiet --message records
    """
    subprocess.run(["bash", "-e", "-c", lines], cwd=folder, env=environment, check=True)


def run_job(job: str, folder: Path, environment: dict[str, str]) -> tuple[str, str]:
    """Run the steps as GitHub does, up to the first that fails; return the name of this step, or "", and its output."""
    for step in steps(job):
        # GitHub's default is `bash -e`.
        completed = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=folder,
            env=environment,
            text=True,
            capture_output=True,
            check=False,
        )
        if completed.returncode:
            return str(step["name"]), completed.stdout + completed.stderr
    return "", ""


def add(runs: list[Path], folder: Path) -> None:
    for path in runs[3:]:
        shutil.copy(path, folder / "leaderboard/records")


def falsify(runs: list[Path], folder: Path) -> None:
    """Add the records, each with a better AUC than that of the run."""
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
def test_a_pull_request_is_accepted_if_its_records_are_true(
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
    failed, output = run_job("records", repository, {**environment, "BASE": base})
    assert failed == step, output
    assert text in output
    assert (repository / "site/index.html").exists() == (step == "")


def test_an_outdated_table_is_refused(repository: Path, environment: dict[str, str]) -> None:
    (repository / "leaderboard/README.md").write_text(
        "<!-- ranking: begin -->\nme first\n<!-- ranking: end -->\n"
    )
    lines = "git -c user.name=a -c user.email=a@b commit --quiet --all --message first"
    subprocess.run(["bash", "-e", "-c", lines], cwd=repository, env=environment, check=True)
    failed, output = run_job("records", repository, {**environment, "BASE": "HEAD^"})
    assert failed == "The table and the data made of the records are up to date", output
    assert "-me first" in output


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
    assert run_job("publish", repository, {**environment, **address}) == ("", "")
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "gh-pages"],
        cwd=bare, env=environment, text=True, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert "index.html" in listed.splitlines()
