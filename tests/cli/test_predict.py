"""`pubench predict`: the scores of the model itself, for every file format, and one sentence for bad input."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pubench.api.registry import load_registry
from pubench.cli.main import main
from pubench.data import batches
from pubench.data.user_file import FileSpec, read_file
from pubench.model.saved import load_model
from pubench.types import Resources


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["predict", *map(str, arguments)])


def predict(saved: Path, file: Path, out: Path, *arguments: str | Path) -> pd.DataFrame:
    result = run(saved, file, "--out", out, *arguments)
    assert result.exit_code == 0, result.output
    return pd.read_csv(out, dtype={"customer": str}) if out.suffix == ".csv" else pd.read_parquet(out)


@pytest.fixture
def expected(saved: Path, table: Path) -> npt.NDArray[np.float64]:
    """The scores of the rows in memory, as they were encoded for training."""
    data = read_file(FileSpec(table, "bought", id="customer"))
    model = load_model(saved, load_registry())
    honest = model.honest_scores(data.dataset.X, Resources())
    assert honest.is_own.all()
    return honest.scores.values  # noqa: PD011 - of Scores, not of pandas


@pytest.mark.parametrize("out", ["s.parquet", "s.csv"])
@pytest.mark.parametrize("form", ["csv", "shuffled", "parquet", "feather", "extra"])
def test_scores_equal_those_in_memory(
    form: str,
    out: str,
    saved: Path,
    customers: pd.DataFrame,
    expected: npt.NDArray[np.float64],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "BATCH_VALUES", 1)
    monkeypatch.setattr(batches, "_LEAST_ROWS", 400)
    monkeypatch.setattr(batches, "BLOCK_BYTES", 20_000)
    path = tmp_path / f"new.{form if form in ('parquet', 'feather') else 'csv'}"
    match form:
        case "parquet":
            customers.to_parquet(path, index=False)
        case "feather":
            customers.to_feather(path)
        case "shuffled":
            customers[list(customers.columns[::-1])].drop(columns="bought").to_csv(path, index=False, sep=";")
        case "extra":
            customers.assign(more="x", score=1).to_csv(path, index=False)
        case _:
            customers.to_csv(path, index=False)
    scores = predict(saved, path, tmp_path / out)
    assert list(scores.columns) == ["customer", "score", "share"]
    assert scores["customer"].tolist() == customers["customer"].tolist()
    np.testing.assert_array_equal(scores["score"], expected)


def test_rows_of_the_training_data_are_scored_by_models_that_did_not_see_them(
    saved: Path, customers: pd.DataFrame, expected: npt.NDArray[np.float64], tmp_path: Path
) -> None:
    numeric = customers.select_dtypes("float").columns[0]
    changed = customers.copy()
    changed.loc[changed.index[:30], numeric] += 1e-6  # new customers, each beside one that is known
    path = tmp_path / "changed.csv"
    changed.to_csv(path, index=False)
    result = run(saved, path, "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    known = len(customers) - 30 + int(customers[numeric].iloc[:30].isna().sum())
    assert f"{known:,} of the {len(customers):,} rows were in the training data" in " ".join(
        result.output.split()
    )
    scores = pd.read_csv(tmp_path / "out.csv")["score"].to_numpy()
    np.testing.assert_array_equal(scores[30:], expected[30:])
    assert np.mean(scores[:30] != expected[:30]) > 0.8


def test_the_best_rows_with_their_evidence(
    saved: Path, table: Path, customers: pd.DataFrame, expected: npt.NDArray[np.float64], tmp_path: Path
) -> None:
    top = predict(saved, table, tmp_path / "top.csv", "--top", "20", "--evidence")
    order = np.argsort(-expected, kind="stable")[:20]
    assert top["customer"].tolist() == customers["customer"].iloc[order].tolist()
    np.testing.assert_array_equal(top["score"], expected[order])
    assert top["rank"].tolist() == list(range(1, 21))
    assert (np.diff(top["share"]) <= 0).all()
    assert top["share"].between(0.9, 1).all()
    names = [f"{what}_{number}" for number in (1, 2, 3) for what in ("nearest", "distance")]
    assert list(top.columns) == ["customer", "score", "share", "rank", *names]
    labelled = set(customers.loc[customers["bought"] == 1, "customer"].astype(int))
    assert set(top[["nearest_1", "nearest_2", "nearest_3"]].to_numpy().astype(int).ravel()) <= labelled
    assert (top["distance_1"] <= top["distance_2"]).all()
    own = top[top["customer"].astype(int).isin(labelled)]
    assert len(own) > 0
    np.testing.assert_allclose(own["distance_1"], 0)


def test_a_prior_makes_probabilities_of_scores(
    saved: Path, table: Path, customers: pd.DataFrame, tmp_path: Path
) -> None:
    bought = customers["bought"].to_numpy() == 1
    scores = predict(saved, table, tmp_path / "s.parquet", "--prior", "0.3")
    assert list(scores.columns) == ["customer", "score", "share", "probability"]
    assert scores["probability"].between(0, 1, inclusive="left").all()
    order = np.argsort(scores["score"])
    assert (np.diff(scores["probability"].to_numpy()[order]) >= -1e-12).all()
    hidden = 0.3 * len(customers) - bought.sum()
    assert scores["probability"].to_numpy()[~bought].sum() == pytest.approx(hidden, rel=0.05)


def test_nothing_is_called_a_probability_without_a_prior(saved: Path, table: Path, tmp_path: Path) -> None:
    result = run(saved, table, "--out", tmp_path / "s.csv")
    assert "probability" not in pd.read_csv(tmp_path / "s.csv").columns
    assert "hidden positives not known" in " ".join(result.stdout.split())


def test_labelled_rows_of_the_training_data_are_left_out_of_a_call_list(
    saved: Path, table: Path, customers: pd.DataFrame, tmp_path: Path
) -> None:
    result = run(saved, table, "--out", tmp_path / "s.csv", "--unlabeled-only", "--json")
    listed = pd.read_csv(tmp_path / "s.csv", dtype={"customer": str})["customer"]
    assert listed.tolist() == customers.loc[customers["bought"] == 0, "customer"].tolist()
    answer = json.loads(result.stdout)
    assert (answer["n_rows"], answer["n_left_out"]) == (1500, customers["bought"].sum())
    best = predict(saved, table, tmp_path / "best.csv", "--unlabeled-only", "--top", "30", "--prior", "0.3")
    assert set(best["customer"]) <= set(listed)
    assert best["rank"].tolist() == list(range(1, 31))


def test_a_file_of_labelled_rows_leaves_no_call_list(
    saved: Path, customers: pd.DataFrame, tmp_path: Path
) -> None:
    customers[customers["bought"] == 1].to_csv(tmp_path / "bought.csv", index=False)
    result = run(saved, tmp_path / "bought.csv", "--out", tmp_path / "s.csv", "--unlabeled-only")
    assert result.exit_code == 2
    assert "none is left" in result.stderr
    assert not (tmp_path / "s.csv").exists()


def test_top_above_the_number_of_rows_writes_all(
    saved: Path, table: Path, customers: pd.DataFrame, tmp_path: Path
) -> None:
    assert len(predict(saved, table, tmp_path / "s.parquet", "--top", "100000")) == len(customers)


def test_chosen_ids_and_row_numbers(saved: Path, customers: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    customers.rename(columns={"customer": "score"}).to_csv(path, index=False)
    rows = predict(saved, path, tmp_path / "a.csv")
    assert rows["row"].tolist() == list(range(1, len(customers) + 1))
    named = predict(saved, path, tmp_path / "b.csv", "--id", "town")
    assert named["town"].fillna("").tolist() == customers["town"].fillna("").tolist()
    taken = predict(saved, path, tmp_path / "c.parquet", "--id", "score")
    assert taken["id"].tolist() == customers["customer"].tolist()


def test_json_has_the_result(saved: Path, table: Path, tmp_path: Path) -> None:
    answer = json.loads(run(saved, table, "--out", tmp_path / "s.csv", "--top", "7", "--json").stdout)
    assert (answer["n_rows"], answer["n_written"], answer["id"]) == (1500, 7, "customer")
    assert 0 < answer["n_expected"] < 1500


def test_unknown_categories_count_as_missing_with_a_notice(
    saved: Path, customers: pd.DataFrame, tmp_path: Path
) -> None:
    blank, strange = customers.assign(town=None), customers.assign(town="Rome")
    blank.to_csv(tmp_path / "blank.csv", index=False)
    strange.to_csv(tmp_path / "strange.csv", index=False)
    result = run(saved, tmp_path / "strange.csv", "--out", tmp_path / "s.csv")
    assert "such as 'Rome', in 1,500 rows; they count as missing" in result.stderr
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "s.csv"),
        pd.read_csv(predicted(saved, tmp_path / "blank.csv", tmp_path / "b.csv")),
    )


def predicted(saved: Path, file: Path, out: Path) -> Path:
    assert run(saved, file, "--out", out).exit_code == 0
    return out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="income"), "has no column 'income'"),
        (lambda frame: frame.rename(columns={"income": "incme"}), "Did you mean 'incme'"),
        (lambda frame: frame.assign(income=["lots"] + ["1"] * 1499), "'income' holds 'lots' in row 1"),
        (lambda frame: frame.assign(income=["1"] * 1499 + ["1,5"]), "'income' holds '1,5' in row 1500"),
        (lambda frame: frame.assign(since="31.12.2024"), "'since' holds '31.12.2024' in row 1"),
        (lambda frame: frame.assign(income=np.inf), "'income' is infinite in row 1"),
        (lambda frame: frame.iloc[:0], "no rows"),
    ],
)
def test_bad_rows_give_one_sentence(
    change: Callable[[pd.DataFrame], pd.DataFrame],
    message: str,
    saved: Path,
    customers: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "BLOCK_BYTES", 20_000)
    change(customers).to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "s.csv").write_text("what was there")
    result = run(saved, tmp_path / "new.csv", "--out", tmp_path / "s.csv")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert (tmp_path / "s.csv").read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "s.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["RUN", "TABLE", "--out", "s.xlsx"], "must end in .parquet, .pq, .csv"),
        (["RUN", "TABLE", "--out", "nowhere/s.csv"], "folder nowhere does not exist"),
        (["RUN", "TABLE", "--out", "s.csv", "--id", "customr"], "Did you mean 'customer'"),
        (["RUN", "TABLE", "--out", "s.csv", "--top", "0"], "--top"),
        (["RUN", "TABLE", "--out", "s.csv", "--evidence=-1"], "-1"),
        (["RUN", "TABLE", "--out", "s.csv", "--threads", "0"], "--threads"),
        (["RUN", "TABLE", "--out", "s.csv", "--prior", "0.001"], "labelled positive already"),
        (["RUN", "TABLE", "--out", "s.csv", "--prior", "2"], "between 0 and 1"),
        (["RUN", "absent.csv", "--out", "s.csv"], "absent.csv does not exist"),
        (["RUN", "empty.csv", "--out", "s.csv"], "empty.csv is empty"),
        (["RUN", "TABLE", "--out", "TABLE"], "is the file to be scored"),
        (["RUN", "TABLE", "--out", "/proc/s.csv"], "cannot be written"),
        (["absent", "TABLE", "--out", "s.csv"], "absent is not a folder"),
        (["empty", "TABLE", "--out", "s.csv"], "is not a saved model"),
        (["TABLE", "TABLE", "--out", "s.csv"], "is not a folder"),
    ],
)
def test_bad_input_gives_one_sentence(
    arguments: list[str],
    message: str,
    saved: Path,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.csv").touch()
    result = run(*[{"RUN": saved, "TABLE": table}.get(word, word) for word in arguments])
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not (tmp_path / "s.csv").exists()


def test_a_modified_model_is_refused(saved: Path, table: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path / "run")
    member = tmp_path / "run" / "model" / "member-000.txt"
    member.write_text(member.read_text().replace("leaf_value=", "leaf_value=9", 1))
    result = run(tmp_path / "run", table, "--out", tmp_path / "s.csv")
    assert result.exit_code == 2
    assert "member-000.txt is not as it was saved" in result.stderr
