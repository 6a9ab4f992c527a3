"""`pubench plugins list` and `info`, and what users see of a faulty plugin."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main

BROKEN = "import nonexistent_library\n"
LEARNER = '''
from pubench import Float, Learner, hookimpl
pubench_api = 1

class Mine(Learner):
    """Mine [bold]brackets[/] and all."""
    name = "NAME"
    suffix = ".mine"
    space = {"a": Float(0.0, 1.0, default=0.5, help="an [a]")}
    def prepare(self, X, resources): ...
    def train(self, prepared, tags, seed, resources): ...
    @classmethod
    def load(cls, path): ...

@hookimpl
def pubench_register_learners(register):
    register(Mine)
'''


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["plugins", *map(str, arguments)])


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(LEARNER.replace("NAME", "mine"))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    return path


def test_list_shows_kind_name_package_and_ranges(mine: Path) -> None:
    output = run("list", "--plugin", mine).stdout
    for text in ("learner", "xgboost", "pubench", "trees: 20 to 500, log (60)", "a: 0 to 1 (0.5)"):
        assert text in output


def test_list_as_json_is_one_object(mine: Path, broken: Path) -> None:
    result = run("list", "--plugin", mine, "--plugin", broken, "--json")
    answer = json.loads(result.stdout)
    entry = next(entry for entry in answer["plugins"] if entry["name"] == "mine")
    assert entry["package"] == str(mine)
    assert entry["parameters"]["a"] == {
        "type": "float", "range": "0 to 1", "low": 0.0, "high": 1.0, "default": 0.5, "log": False,
        "help": "an [a]", "when": None, "tuned": True, "draft": None, "expensive": False, "dear": False, "derived": False, "before": None,
    }  # fmt: skip
    (failure,) = answer["failures"]
    assert failure["origins"][0]["package"] == str(broken)


def test_list_of_one_kind() -> None:
    names = {
        entry["kind"] for entry in json.loads(run("list", "--kind", "method", "--json").stdout)["plugins"]
    }
    assert names == {"method"}


def test_a_broken_plugin_warns_in_one_line_and_stays_listed(broken: Path) -> None:
    result = run("list", "--plugin", broken)
    assert result.exit_code == 0
    assert result.stderr.count("\n") == 1
    assert "No module named 'nonexistent_library'" in result.stderr
    assert "not loaded" in result.stdout
    assert "xgboost" in result.stdout


def test_strict_plugins_make_it_fatal(broken: Path) -> None:
    result = run("list", "--plugin", broken, "--strict-plugins")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1


def test_info_explains_parameters(mine: Path) -> None:
    output = run("info", "mine", "--plugin", mine).stdout
    assert "Mine [bold]brackets[/] and all." in output
    assert "an [a]" in output


def test_info_of_an_unknown_name_suggests_one() -> None:
    result = run("info", "xgbost")
    assert result.exit_code == 2
    assert "Did you mean 'xgboost'?" in result.stderr


def test_info_of_a_name_in_two_packages_shows_both(tmp_path: Path) -> None:
    path = tmp_path / "rival.py"
    path.write_text(LEARNER.replace("NAME", "xgboost"))
    result = run("info", "xgboost", "--plugin", path)
    assert result.exit_code == 2
    assert "pubench 0." in result.stderr
    assert str(path) in result.stderr


def test_a_missing_plugin_file() -> None:
    result = run("list", "--plugin", "nowhere.py")
    assert result.exit_code == 2
    assert "nowhere.py" in result.stderr
