"""`pubench fit`: a model folder, a useful summary, and one sentence for bad input."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main

FAST = ("--set", "method.members=5", "--set", "learner.trees=20", "--device", "cpu", "--threads", "2")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["fit", *map(str, arguments)])


def fit(table: Path, out: Path, *arguments: str | Path) -> Result:
    return run("--dataset", table, "--label", "bought", "--id", "customer", "--out", out, *FAST, *arguments)


def test_the_summary(table: Path, tmp_path: Path) -> None:
    result = fit(table, tmp_path / "run")
    assert result.exit_code == 0, result.output
    for text in (
        "probtagging + knn + lightgbm",
        "1,500 rows",
        "k ",
        "expected tags",
        "hidden positives",
        "income",
        "pubench predict",
    ):
        assert text in result.stdout
    assert "Dates became days" in result.stderr
    assert "AUL" not in result.output


def test_json_has_the_manifest(table: Path, tmp_path: Path) -> None:
    answer = json.loads(fit(table, tmp_path / "run", "--json", "--seed", "5").stdout)
    assert answer["model"]["seed"] == 5
    assert answer["model"]["id_column"] == "customer"
    assert answer["model"]["learner"]["params"]["trees"] == 20
    assert answer["device"] == "cpu"
    saved = json.loads((tmp_path / "run" / "manifest.json").read_text())
    del saved["files"]
    assert saved == answer["model"]


def test_a_fit_can_be_repeated_from_its_config(table: Path, tmp_path: Path) -> None:
    fit(table, tmp_path / "run", "--seed", "5", "--set", "method.scaling=robust")
    config = tmp_path / "run" / "config.toml"
    assert tomllib.loads(config.read_text())["method"]["scaling"] == "robust"
    again = run(
        "--dataset", table, "--label", "bought", "--id", "customer", "--config", config, "--out", tmp_path / "again",
        "--device", "cpu", "--threads", "2",
    )  # fmt: skip
    assert again.exit_code == 0, again.output
    files = [
        json.loads((tmp_path / name / "manifest.json").read_text())["files"] for name in ("run", "again")
    ]
    assert files[0] == files[1]


def test_defaults_that_are_derived_from_the_data_are_in_the_config(table: Path, tmp_path: Path) -> None:
    arguments = ("--dataset", table, "--label", "bought", "--id", "customer", "--method", "naive")
    assert run(*arguments, "--learner", "logistic", "--out", tmp_path / "run").exit_code == 0
    model = json.loads((tmp_path / "run" / "manifest.json").read_text())
    derived = 0.5 / len(model["features"])
    assert model["learner"]["params"] == {"c": derived}
    assert tomllib.loads((tmp_path / "run" / "config.toml").read_text())["learner"]["c"] == derived


def test_options_override_the_config(table: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(
        'seed = 9\n[method]\nname = "naive"\n[learner]\nname = "lightgbm"\ntrees = 50\ndepth = 2\n'
    )
    arguments = ("--dataset", table, "--label", "bought", "--drop", "customer", "--config", config, "--json")
    first = json.loads(
        run(*arguments, "--set", "learner.trees=20", "--seed", "1", "--out", tmp_path / "a").stdout
    )
    assert first["model"]["seed"] == 1
    assert first["model"]["learner"]["params"]["trees"] == 20
    assert first["model"]["learner"]["params"]["depth"] == 2
    second = json.loads(run(*arguments, "--learner", "logistic", "--out", tmp_path / "b").stdout)
    assert second["model"]["seed"] == 9
    assert second["model"]["learner"]["name"] == "logistic"
    assert second["model"]["method"]["name"] == "naive"
    assert "similarity" not in second["model"]


def test_labels_are_drawn_from_true_labels_with_a_notice(tmp_path: Path) -> None:
    plugin = tmp_path / "known.py"
    plugin.write_text(
        "import numpy as np\n"
        "from pubench import Dataset, DatasetInfo, DatasetLoader, Table, Truth, hookimpl\n"
        "pubench_api = 1\n"
        "class Known(DatasetLoader):\n"
        "    '''True labels are known.'''\n"
        "    name = 'known'\n"
        "    info = DatasetInfo('t', 600, 2, 60, 's', 'l')\n"
        "    def load(self, paths, rows, seed):\n"
        "        X = seed.generator().normal(size=(600, 2))\n"
        "        y = np.arange(600) < 60\n"
        "        X[y] += 1\n"
        "        return Dataset(Table.from_array(X), truth=Truth(y))\n"
        "@hookimpl\n"
        "def pubench_register_datasets(register):\n"
        "    register(Known)\n"
    )
    arguments = ("--dataset", "known", "--plugin", plugin, "--method", "naive", "--json")
    result = run(*arguments, "--out", tmp_path / "half")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"]["labelled"] == 30
    assert "30 of 60 positives, the share 0.5 (--theta-o)" in result.stderr
    result = run(*arguments, "--out", tmp_path / "tenth", "--theta-o", "0.1")
    assert json.loads(result.stdout)["model"]["labelled"] == 6
    result = run(*arguments, "--out", tmp_path / "none", "--theta-o", "2")
    assert result.exit_code == 2


def test_a_saved_model_is_replaced_only_with_force(saved: Path, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(saved, out)
    before = (out / "manifest.json").read_bytes()
    refused = fit(table, out, "--seed", "1")
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert (out / "manifest.json").read_bytes() == before
    assert fit(table, out, "--seed", "1", "--force").exit_code == 0
    assert json.loads((out / "manifest.json").read_text())["seed"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--learner", "lightgbn"), "Did you mean 'lightgbm'"),
        (("--set", "learner.tree=5"), "has no parameter 'tree'"),
        (("--set", "learner.trees=many"), "trees = 'many' is not in its range"),
        (("--set", "trees=5"), "sets no parameter"),
        (("--method", "naive", "--similarity", "knn"), "uses no similarity"),
        (("--method", "naive"), "which method 'naive' does not use"),
        (("--theta-o", "0.5"), "has observed labels"),
        (("--drop", "incme"), "has no column 'incme'"),
        (("--rows", "1"), "--rows"),
        (("--threads", "0"), "--threads"),
        (("--device", "tpu"), "--device"),
        (("--seed", "-1"), "--seed"),
    ],
)
def test_bad_input_gives_one_sentence(
    options: tuple[str, ...], message: str, table: Path, tmp_path: Path
) -> None:
    extra = ("--set", "similarity.k_rule=plateau") if options == ("--method", "naive") else ()
    result = run(
        "--dataset", table, "--label", "bought", "--out", tmp_path / "run", "--device", "cpu", *extra, *options
    )  # fmt: skip
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not (tmp_path / "run").exists()


def test_an_invalid_folder_is_refused_before_training(table: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "run", tmp_path):
        result = fit(table, out)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
