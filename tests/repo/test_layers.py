"""The one-way flow and the seal on the truth, read off the import graph."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
#: Everything that may know true labels. Whatever is not listed, now or later, may not.
MAY_SEE_TRUTH = {
    "pubench.cli",
    "pubench.data.aliases",
    "pubench.data.sources",
    "pubench.data.catalogue",
    "pubench.data.paper_folds",
    "pubench.data.user_file",
    "pubench.data.labelling",
    "pubench.api.dataset",
    "pubench.doctor",
    "pubench.bench",  # opens folds; what trains is handed their PU data, and truth is opened after scoring
    "pubench.model.fit",  # opens data sets and finds plugins by name; what it trains is handed PU data alone
    "pubench.estimators",  # an edge that turns names into plugins holds a registry, which also knows data sets
    "pubench.api.hookspecs",
    "pubench.leaderboard.verification",  # runs jobs again; rankings and pages cannot reach it
    "pubench.api.registry",
    "pubench.testing.contracts",  # data sets are checked as other plugins are, and carry truth
    "pubench.testing.datasets",
    "pubench.testing.examination",
    "pubench.tuning.command",  # opens the data set; the run gets the rows and which of them are labelled
    "pubench.tuning.tune_dataframe",  # opens a DataFrame as the command opens a file
    "pubench.tuning.oracle",  # trains on true labels, when the choice has been written down
    "pubench.tuning.run_files",
    "pubench.tuning.run_records",
}
TRUTH_NAMES = {"Truth", "PUView", "draw_view", "DataFile", "Dataset", "DatasetInfo", "DatasetLoader"}


def check_layers(packages: Path, config: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--config", str(config), "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(packages)},
        cwd=packages,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """A copy of both packages that a test may spoil."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "pubench", tmp_path / "pubench", ignore=ignore)
    shutil.copytree(root / "plugins/pubench_plugins", tmp_path / "pubench_plugins", ignore=ignore)
    return tmp_path


def test_imports_point_one_way(copy: Path, root: Path) -> None:
    result = check_layers(copy, root / "pyproject.toml")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("pubench/types.py", "from pubench.api.plugin import Plugin"),
        ("pubench/seeds.py", "def late() -> None:\n    from pubench.cli import render"),
        ("pubench/api/registry.py", "import pubench_plugins"),
    ],
)
def test_a_planted_wrong_import_is_found(copy: Path, root: Path, module: str, line: str) -> None:
    path = copy / module
    path.write_text(f"{path.read_text()}\n{line}\n")
    result = check_layers(copy, root / "pyproject.toml")
    assert result.returncode == 1
    assert path.stem in result.stdout


def test_a_module_outside_the_layers_is_found(copy: Path, root: Path) -> None:
    (copy / "pubench/utils.py").write_text('"""Anything."""\n')
    assert check_layers(copy, root / "pyproject.toml").returncode == 1


def who_sees_truth(graph: grimp.ImportGraph) -> set[str]:
    """Return the modules that reach true labels, or the metrics that need them, and may not."""
    seeing = graph.find_downstream_modules("pubench.truth")
    seeing |= graph.find_downstream_modules("pubench.metrics.supervised")
    return {
        module for module in seeing if not any(f"{module}.".startswith(f"{name}.") for name in MAY_SEE_TRUTH)
    }


def test_truth_is_out_of_reach_of_training_and_tuning() -> None:
    graph = grimp.build_graph("pubench", exclude_type_checking_imports=True, cache_dir=None)
    assert who_sees_truth(graph) == set()


@pytest.mark.parametrize("imported", ["pubench.api.dataset", "pubench.metrics.supervised"])
def test_the_seal_breaks_on_an_indirect_import(imported: str) -> None:
    graph = grimp.build_graph("pubench", exclude_type_checking_imports=True, cache_dir=None)
    graph.add_import(importer="pubench.metrics.aul", imported=imported)
    assert {"pubench.metrics.aul", "pubench.evaluation"} <= who_sees_truth(graph)


def test_only_the_command_trains_an_oracle() -> None:
    graph = grimp.build_graph("pubench", exclude_type_checking_imports=True, cache_dir=None)
    assert graph.find_modules_that_directly_import("pubench.tuning.oracle") == {"pubench.tuning.command"}
    assert "pubench.tuning.oracle" not in graph.find_upstream_modules("pubench.tuning.run")


def public_imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pubench":
            assert node.module == "pubench", f"{path} reaches past the public names into {node.module}"
            names.update(alias.name for alias in node.names)
        if isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == "pubench" for alias in node.names), path
    return names


def test_built_ins_use_public_names_alone_and_never_truth(root: Path) -> None:
    files = sorted((root / "plugins/pubench_plugins").rglob("*.py"))
    assert files
    for path in files:
        imported = public_imports(path)
        if "datasets" not in path.parts:
            # The package itself names the loaders' contract to register them; truth it does not touch.
            allowed = {"DatasetLoader"} if path.parent.name == "pubench_plugins" else set()
            assert not imported & (TRUTH_NAMES - allowed), path


def facade_imports(path: Path) -> list[str]:
    """Return the imports of `pubench` itself: its lazy names lead everywhere, and the graph does not see where."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name == "pubench"]
            found += [
                alias.name for alias in node.names if alias.name.startswith("pubench.") and not alias.asname
            ]
        if isinstance(node, ast.ImportFrom) and node.module == "pubench":
            found += [
                alias.name for alias in node.names if not (ROOT / "pubench" / f"{alias.name}.py").exists()
            ]
    return found


def test_the_core_does_not_import_its_own_facade() -> None:
    for path in sorted((ROOT / "pubench").rglob("*.py")):
        assert facade_imports(path) == [], path


@pytest.mark.parametrize(
    "line", ["import pubench", "import pubench.types", "from pubench import Truth", "from pubench import *"]
)
def test_a_planted_facade_import_is_found(line: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(line)
    assert facade_imports(tmp_path / "module.py")
