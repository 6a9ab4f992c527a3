"""`pubench predict`: the scores of the model itself, in every form of file, and one sentence for bad input."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pubench.cli.main import main
from pubench.data.reading import FileSpec, read_file
from pubench.registry import load_registry
from pubench.saving.models import load_model
from pubench.scoring import pieces
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
    scores = model.score(data.dataset.X, Resources())
    return scores.values  # noqa: PD011 - of Scores, not of pandas


@pytest.mark.parametrize("out", ["s.parquet", "s.csv"])
@pytest.mark.parametrize("form", ["csv", "shuffled", "parquet", "feather", "extra"])
def test_scores_are_those_in_memory(
    form: str,
    out: str,
    saved: Path,
    customers: pd.DataFrame,
    expected: npt.NDArray[np.float64],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pieces, "PIECE_VALUES", 1)
    monkeypatch.setattr(pieces, "_LEAST_ROWS", 400)
    monkeypatch.setattr(pieces, "BLOCK_BYTES", 20_000)
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
    assert list(scores.columns) == ["customer", "score"]
    assert scores["customer"].tolist() == customers["customer"].tolist()
    np.testing.assert_array_equal(scores["score"], expected)


def test_the_best_with_their_evidence(
    saved: Path, table: Path, customers: pd.DataFrame, expected: npt.NDArray[np.float64], tmp_path: Path
) -> None:
    top = predict(saved, table, tmp_path / "top.csv", "--top", "20", "--evidence")
    order = np.argsort(-expected, kind="stable")[:20]
    assert top["customer"].tolist() == customers["customer"].iloc[order].tolist()
    np.testing.assert_array_equal(top["score"], expected[order])
    assert top["rank"].tolist() == list(range(1, 21))
    np.testing.assert_allclose(top["share"], np.arange(1, 21) / len(customers))
    names = [f"{what}_{number}" for number in (1, 2, 3) for what in ("nearest", "distance")]
    assert list(top.columns) == ["customer", "score", "rank", "share", *names]
    labelled = set(customers.loc[customers["bought"] == 1, "customer"].astype(int))
    assert set(top[["nearest_1", "nearest_2", "nearest_3"]].to_numpy().astype(int).ravel()) <= labelled
    assert (top["distance_1"] <= top["distance_2"]).all()
    own = top[top["customer"].astype(int).isin(labelled)]
    assert len(own) > 0
    np.testing.assert_allclose(own["distance_1"], 0)


def test_more_than_there_are_is_all(
    saved: Path, table: Path, customers: pd.DataFrame, tmp_path: Path
) -> None:
    assert len(predict(saved, table, tmp_path / "s.parquet", "--top", "100000")) == len(customers)


def test_ids_of_choice_and_row_numbers(saved: Path, customers: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    customers.rename(columns={"customer": "score"}).to_csv(path, index=False)
    rows = predict(saved, path, tmp_path / "a.csv")
    assert rows["row"].tolist() == list(range(1, len(customers) + 1))
    named = predict(saved, path, tmp_path / "b.csv", "--id", "town")
    assert named["town"].fillna("").tolist() == customers["town"].fillna("").tolist()
    taken = predict(saved, path, tmp_path / "c.parquet", "--id", "score")
    assert taken["id"].tolist() == customers["customer"].tolist()


def test_json_says_what_was_done(saved: Path, table: Path, tmp_path: Path) -> None:
    answer = json.loads(run(saved, table, "--out", tmp_path / "s.csv", "--top", "7", "--json").stdout)
    assert (answer["n_rows"], answer["n_written"], answer["id"]) == (1500, 7, "customer")
    assert 0 < answer["n_expected"] < 1500


def test_unknown_categories_are_missing_and_told(
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
def test_bad_rows_are_one_sentence(
    change: Callable[[pd.DataFrame], pd.DataFrame],
    message: str,
    saved: Path,
    customers: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pieces, "BLOCK_BYTES", 20_000)
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
        (["RUN", "absent.csv", "--out", "s.csv"], "absent.csv does not exist"),
        (["RUN", "empty.csv", "--out", "s.csv"], "empty.csv is empty"),
        (["RUN", "TABLE", "--out", "TABLE"], "is the file to be scored"),
        (["RUN", "TABLE", "--out", "/proc/s.csv"], "can not be written"),
        (["absent", "TABLE", "--out", "s.csv"], "absent is no folder"),
        (["empty", "TABLE", "--out", "s.csv"], "is no saved model"),
        (["TABLE", "TABLE", "--out", "s.csv"], "is no folder"),
    ],
)
def test_bad_input_is_one_sentence(
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


def test_a_tampered_model_is_refused(saved: Path, table: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path / "run")
    member = tmp_path / "run" / "model" / "member-000.txt"
    member.write_text(member.read_text().replace("leaf_value=", "leaf_value=9", 1))
    result = run(tmp_path / "run", table, "--out", tmp_path / "s.csv")
    assert result.exit_code == 2
    assert "member-000.txt is not as it was saved" in result.stderr
