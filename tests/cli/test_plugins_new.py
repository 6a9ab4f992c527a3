"""`pubench plugins new`: new plugins work at once, and nothing is overwritten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.cli.main import main
from pubench.errors import ParameterError
from pubench.scaffolding.new_plugin import NewPlugin

KINDS = tuple(Kind)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["plugins", *map(str, arguments)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_file_passes_its_checks(kind: Kind, tmp_path: Path) -> None:
    result = run("new", f"my-{kind}", "--kind", kind, "--single-file", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    path = tmp_path / f"my_{kind}.py"
    assert [*tmp_path.iterdir()] == [path]
    assert f"pubench plugins check my-{kind} --plugin {path}" in result.stdout
    checked = run("check", f"my-{kind}", "--plugin", path, "--json")
    assert checked.exit_code == 0, checked.output
    assert {verdict["outcome"] for verdict in json.loads(checked.stdout)["checks"]} <= {"ok", "declined"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_project_passes_its_own_tests(kind: Kind, tmp_path: Path) -> None:
    result = run("new", f"my-{kind}", "--kind", kind, "--out", tmp_path, "--json")
    project = tmp_path / f"pubench-my-{kind}"
    assert result.exit_code == 0, result.output
    written = {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()}
    assert written == {
        "README.md",
        "pyproject.toml",
        f"pubench_my_{kind}.py",
        f"tests/test_pubench_my_{kind}.py",
    }
    assert sorted(json.loads(result.stdout)["files"]) == sorted(str(project / name) for name in written)
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:randomly"],
        cwd=project,
        env={**os.environ, "PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert " passed" in tested.stdout


@pytest.mark.parametrize("single", [True, False])
def test_existing_files_are_never_overwritten(single: bool, tmp_path: Path) -> None:
    taken = tmp_path / ("mine.py" if single else "pubench-mine")
    taken.touch()
    result = run(
        "new", "mine", "--kind", "learner", "--out", tmp_path, *(["--single-file"] if single else [])
    )
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert f"{taken} exists already" in result.stderr
    assert [*tmp_path.iterdir()] == [taken]
    assert taken.read_bytes() == b""


def test_a_folder_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("new", "mine", "--kind", "learner", "--out", tmp_path / "file/inside")
    assert result.exit_code == 2
    assert "cannot be made" in result.stderr


@pytest.mark.parametrize("name", ["My", "a_b", "", "-a", "a--b", "../a", "a" * 61, "ä"])
def test_only_names_that_the_registry_accepts(name: str, tmp_path: Path) -> None:
    result = run("new", "--kind", "method", "--out", tmp_path / "out", "--", name)
    assert result.exit_code == 2
    assert "cannot be the name of a plugin" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    result = run("new", "knn", "--kind", "similarity", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "There is a similarity 'knn' already" in result.stderr


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["3d", "class", "fitted", "table", "trained", "numpy", "pubench", "similarity"]
)
def test_every_valid_name_gives_a_plugin_that_loads(kind: Kind, name: str, tmp_path: Path) -> None:
    """Also names of Python, of other modules and of classes that the template uses."""
    path = tmp_path / "plugin.py"
    path.write_text(NewPlugin(kind, name).source())
    assert load_registry([path], strict=True).find(name, kind).plugin.name == name
    assert NewPlugin(kind, name).module.isidentifier()


def test_the_name_of_the_class() -> None:
    assert NewPlugin(Kind.SIMILARITY, "near-mean").class_name == "NearMeanSimilarity"
    assert NewPlugin(Kind.SIMILARITY, "my-similarity").class_name == "MySimilarity"
    with pytest.raises(ParameterError):
        NewPlugin(Kind.SIMILARITY, "Near Mean")
