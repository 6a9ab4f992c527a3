"""Steps of the workflows tests, release and docs that a shell can run here: what they accept, refuse and publish.

What GitHub itself does (checkout, Python, artifacts, PyPI) is not tried.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the jobs with these steps run on Linux")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def workflow(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows" / f"{name}.yml").read_text())
    return document


def run_step(
    name: str, job: str, step: str, folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a named step as GitHub does, with values for what GitHub would put into its environment."""
    (text,) = [part["run"] for part in workflow(name)["jobs"][job]["steps"] if part.get("name") == step]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("GIT")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", text],
        cwd=folder,
        env={**inherited, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull, **environment},
        text=True,
        capture_output=True,
        check=False,
    )


def test_the_suite_runs_on_every_python_and_system_that_is_declared() -> None:
    matrix = workflow("tests")["jobs"]["newest"]["strategy"]["matrix"]
    declared = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: Python :: 3." in text]
    assert matrix["python"] == declared
    assert [system.partition("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]


@pytest.mark.parametrize("name", ["tests", "release", "docs"])
def test_a_workflow_may_only_read_unless_a_job_says_more(name: str) -> None:
    assert workflow(name)["permissions"] == {"contents": "read"}


CHANGELOG = """# Changelog

## [Unreleased]

Later.

## [{version}] - 2026-11-19

### Added

- The first release.

## [0.0.1]

- Older.
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose changelog has a section for the project's version."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG.format(version=PROJECT["version"]))
    return tmp_path


def check_tag(tag: str, folder: Path) -> subprocess.CompletedProcess[str]:
    step = "The tag is the version of the project, and the changelog has its section"
    return run_step("release", "build", step, folder, {"TAG": tag})


def test_a_release_has_the_section_of_its_version_as_notes(checkout: Path) -> None:
    result = check_tag(f"v{PROJECT['version']}", checkout)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (checkout / "notes.md").read_text() == "\n### Added\n\n- The first release.\n\n"


def test_a_tag_of_another_version_is_refused(checkout: Path) -> None:
    result = check_tag("v9.9.9", checkout)
    assert result.returncode == 1
    assert f"is not v{PROJECT['version']}" in result.stdout


def test_a_version_without_a_section_is_refused(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\nLater.\n")
    result = check_tag(f"v{PROJECT['version']}", checkout)
    assert result.returncode == 1
    assert "has no section" in result.stdout


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """An empty repository in place of the one on GitHub."""
    bare = tmp_path / "pages.git"
    subprocess.run(["git", "init", "--quiet", "--bare", bare], check=True)
    return bare


def publish(pages: Path, folder: str, text: str) -> None:
    """Publish one page as the workflow does, from a folder of its own."""
    work = pages.parent / text
    (work / "site/_static").mkdir(parents=True)
    (work / "site/index.html").write_text(text)
    environment = {
        "FOLDER": folder,
        "TOKEN": "secret",
        "GITHUB_REPOSITORY": "me/pubench",
        "GITHUB_SHA": "abc",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{pages.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://x-access-token:secret@github.com/me/pubench.git",
    }
    result = run_step("docs", "publish", "Replace the folder on gh-pages", work, environment)
    assert result.returncode == 0, result.stdout + result.stderr


def git(repository: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=repository, text=True, capture_output=True, check=True
    ).stdout


def test_documentation_of_main_and_of_a_release_lie_side_by_side(pages: Path) -> None:
    publish(pages, "docs/dev", "first")
    publish(pages, "docs/stable", "released")
    publish(pages, "docs/dev", "second")
    assert git(pages, "ls-tree", "-r", "--name-only", "gh-pages").split() == [
        ".nojekyll",
        "docs/dev/index.html",
        "docs/stable/index.html",
    ]
    assert git(pages, "show", "gh-pages:docs/dev/index.html") == "second"
    assert git(pages, "show", "gh-pages:docs/stable/index.html") == "released"


def test_documentation_that_did_not_change_is_no_commit(pages: Path) -> None:
    publish(pages, "docs/dev", "same")
    shutil.rmtree(pages.parent / "same")
    publish(pages, "docs/dev", "same")
    assert git(pages, "rev-list", "--count", "gh-pages").strip() == "1"
