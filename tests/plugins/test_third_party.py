"""A plugin of somebody else: installed from its own project, found by itself, checked and used."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PROJECT = "plugins/pubench-mahalanobis"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment of its own that sees what is installed here, and the plugin beside it."""
    folder = tmp_path_factory.mktemp("third-party")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    interpreter = folder / "venv/bin/python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site_packages = Path(run(interpreter, "-c", asked).stdout.strip())
    here = sysconfig.get_path("purelib")
    (site_packages / "here.pth").write_text(f"import site; site.addsitedir({here!r})\n")
    # A copy: building must leave the checkout as it is.
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    project = shutil.copytree(Path(__file__).parents[2] / PROJECT, folder / "project", ignore=ignore)
    pip = (sys.executable, "-m", "pip", "--python", interpreter, "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", project)
    return interpreter


def run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "PUBENCH_DISABLE_PLUGIN_AUTOLOAD"}
    result = subprocess.run(
        list(map(str, command)), cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def pubench(python: Path, *arguments: str | Path, cwd: Path) -> dict[str, Any]:
    """Run the command as a user would, and return the JSON object it prints."""
    program = "from pubench.cli.main import main; main()"
    answer: dict[str, Any] = json.loads(run(python, "-c", program, *arguments, "--json", cwd=cwd).stdout)
    return answer


def test_it_is_listed_with_its_package(python: Path, tmp_path: Path) -> None:
    answer = pubench(python, "plugins", "list", "--kind", "similarity", cwd=tmp_path)
    (entry,) = [entry for entry in answer["plugins"] if entry["name"] == "mahalanobis"]
    assert (entry["package"], entry["version"]) == ("pubench-mahalanobis", "0.1.0")
    assert set(entry["parameters"]) == {"rank", "shrinkage", "expected"}


def test_it_keeps_its_promises(python: Path, tmp_path: Path) -> None:
    answer = pubench(python, "plugins", "check", "mahalanobis", cwd=tmp_path)
    assert answer["holds"] is True
    assert {verdict["outcome"] for verdict in answer["checks"]} == {"ok"}


def test_a_search_uses_it_in_its_workers(python: Path, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    values = generator.standard_normal((600, 3))
    bought = (values[:, 0] + values[:, 1] > 2) & (generator.random(600) < 0.7)
    table = np.column_stack([values, bought])
    np.savetxt(tmp_path / "mine.csv", table, fmt="%.5g", delimiter=",", header="a,b,c,bought", comments="")
    answer = pubench(
        python,
        *(
            "tune",
            "--dataset",
            "mine.csv",
            "--label",
            "bought",
            "--trials",
            "2",
            "--folds",
            "2",
            "--out",
            "run",
        ),
        *(
            "--method",
            "probtagging",
            "--similarity",
            "mahalanobis",
            "--learner",
            "logistic",
            "--threads",
            "1",
        ),
        cwd=tmp_path,
    )
    assert answer["failed"] == 0
    setting = answer["models"]["tuned"]["setting"]
    parts = setting.get("blend", [setting])
    assert {part["similarity"]["name"] for part in parts} == {"mahalanobis"}
