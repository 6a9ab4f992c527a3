"""`pubench.tune` on a DataFrame: the result, what it offers, and what is refused."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pubench
from pubench.api.registry import load_registry
from pubench.data.sources import DatasetRequest, open_dataset
from pubench.errors import InputError
from pubench.model.saved import load_model
from pubench.tuning.model_costs import ModelCosts
from pubench.tuning.tune_dataframe import open_frame


def customers(n_rows: int = 1500) -> pd.DataFrame:
    """Customers of whom some have bought; their names are no feature."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"customer": [f"<c{i}>" for i in range(n_rows)]}, index=range(10, 10 + n_rows))
    frame["spend"] = generator.exponential(size=n_rows)
    frame["region"] = pd.Categorical(generator.choice(["north", "south", "west"], n_rows))
    frame["since"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(generator.integers(0, 900, n_rows), "D")
    wants = generator.random(n_rows) < 1 / (1 + np.exp(3 - 2 * frame.spend - (frame.region == "west")))
    frame["bought"] = (wants & (generator.random(n_rows) < 0.5)).astype(int)
    return frame


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, pubench.TuneResult]:
    """A table and a run on it."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PUBENCH_CACHE", str(folder / "cache"))
        result = pubench.tune(
            customers(),
            label="bought",
            id="customer",
            trials=2,
            method=["elkan-weighted"],
            learner=["logistic"],
            out=folder / "out",
            name="customers",
            prior=0.5,
            top=[7],
            gain=40,
            cost=2,
        )
    return customers(), result


def test_the_folder_is_that_of_the_command(run: tuple[pd.DataFrame, pubench.TuneResult]) -> None:
    _, result = run
    names = {path.name for path in result.out.iterdir()}
    assert {"model", "best.toml", "trials.csv", "record.json", "report.html"} <= names
    assert result.report() == result.out / "report.html"
    assert result.report().exists()


def test_the_leaderboard_has_the_contenders_best_first(
    run: tuple[pd.DataFrame, pubench.TuneResult],
) -> None:
    _, result = run
    board = result.leaderboard()
    ranked = board[board["rank"].notna()]
    assert ranked.aul_pu.is_monotonic_decreasing
    assert (ranked.low <= ranked.aul_pu).all()
    assert (ranked.aul_pu <= ranked.high).all()
    assert {"default", "baseline"} <= set(board.role)
    assert ranked.difference.isna().sum() == 1  # the model itself
    written = pd.read_csv(result.out / "leaderboard.csv")
    assert list(written.columns) == list(board.columns)
    assert written.label.tolist() == board.label.tolist()


def test_whom_to_call_rests_on_the_prior_as_does_the_saved_model(
    run: tuple[pd.DataFrame, pubench.TuneResult],
) -> None:
    frame, result = run
    labelled = int(frame.bought.sum())
    hidden = pubench.hidden_from_prior(0.5, len(frame), labelled)
    table, profit = result.call_table, result.profit
    assert table.hidden == hidden
    assert (table.n_unlabeled, table.n_labelled) == (len(frame) - labelled, result.holdout.n_labelled)
    assert [row.rows for row in table.rows][:2] == [7, round(0.01 * table.n_unlabeled)]
    assert all(row.positives is not None and row.positives.low <= row.rows for row in table.rows)
    assert profit is not None
    assert profit.best > 0
    assert load_model(result.out / "model", load_registry()).manifest.hidden_positives == hidden


def test_a_run_on_fewer_rows_writes_everything_about_the_rows_that_it_was_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelCosts, "trainable_share", lambda *_: 0.3)
    frame = customers(3000)
    result = pubench.tune(
        frame,
        label="bought",
        id="customer",
        trials=1,
        method=["naive"],
        learner=["logistic"],
        baselines=["none"],
        out=tmp_path / "out",
        prior=0.5,
    )
    assert result.report().exists()
    shipped = result.shipped
    assert len(shipped.rows) == shipped.data.X.n_rows < len(frame)
    positives = json.loads((tmp_path / "out/model/evidence/positives.json").read_text(encoding="utf-8"))
    trained = frame.iloc[shipped.rows]
    assert set(positives["names"]) <= set(trained.customer[trained.bought == 1])


@pytest.mark.parametrize(("labelled", "unlabeled"), [(2, 50), (50, 2)])
def test_too_few_rows_of_a_kind_are_refused_before_anything_is_written(
    labelled: int, unlabeled: int, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"a": np.arange(labelled + unlabeled), "s": [1] * labelled + [0] * unlabeled})
    with pytest.raises(pubench.DataError, match=r"A search needs at least 3 .*; there are 2"):
        pubench.tune(frame, label="s", trials=1, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_three_labelled_rows_are_enough(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(60.0), "s": [1] * 3 + [0] * 57})
    result = pubench.tune(frame, label="s", trials=2, learner=["logistic"], out=tmp_path / "out")
    assert len(result.folds) == 2
    assert result.predict(frame).notna().all()


def test_scores_are_those_of_the_saved_model(run: tuple[pd.DataFrame, pubench.TuneResult]) -> None:
    frame, result = run
    scores = result.predict(frame.drop(columns="bought"))
    assert scores.index.equals(frame.index)
    saved = load_model(result.out / "model", load_registry())
    honest = saved.honest_scores(result.data.X, pubench.Resources())
    assert honest.is_own.all()
    np.testing.assert_array_equal(scores, honest.scores.values)


def test_new_rows_are_scored_by_the_model_itself(run: tuple[pd.DataFrame, pubench.TuneResult]) -> None:
    frame, result = run
    changed = frame.assign(spend=frame.spend + 0.5, region="elsewhere")
    scores = result.predict(changed)
    assert np.isfinite(scores).all()
    assert not np.array_equal(scores, result.predict(frame))


def test_scoring_without_a_column_is_refused(run: tuple[pd.DataFrame, pubench.TuneResult]) -> None:
    frame, result = run
    with pytest.raises(InputError, match="frame has no column 'spend'"):
        result.predict(frame.drop(columns="spend"))


def test_a_notebook_shows_run_and_model_without_markup_of_users(
    run: tuple[pd.DataFrame, pubench.TuneResult],
) -> None:
    _, result = run
    shown = result._repr_html_()
    assert result.conclusion.sentence.split(",")[0] in shown
    assert all(f">{row.short_label}<" in shown for row in result.standings)
    saved = load_model(result.out / "model", load_registry())._repr_html_()
    assert "elkan-weighted" in saved
    assert "<c1>" not in shown + saved


def test_a_frame_is_read_as_its_parquet_file_is(tmp_path: Path) -> None:
    frame = customers().assign(texts=["a", "n/a", "2020-01-01"] * 500)
    frame.to_parquet(tmp_path / "customers.parquet", index=False)
    of_frame = open_frame(frame, DatasetRequest("x", "bought", id="customer", drop=("since",)))
    path = tmp_path / "customers.parquet"
    of_file = open_dataset(
        DatasetRequest(str(path), "bought", id="customer", drop=("since",)), load_registry()
    )
    assert of_frame.dataset.X.features == of_file.dataset.X.features
    np.testing.assert_array_equal(of_frame.dataset.X.values, of_file.dataset.X.values)
    np.testing.assert_array_equal(of_frame.dataset.labels, of_file.dataset.labels)
    assert of_frame.ids is not None
    assert of_frame.ids.tolist() == frame.customer.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "bough"}, "frame has no column 'bough'.*bought"),
        ({"label": "bought", "drop": ["bought"]}, "cannot be dropped"),
        ({"label": "bought", "learner": ["nothing"]}, "nothing"),
    ],
)
def test_wrong_requests_are_refused_before_anything_is_written(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        pubench.tune(customers(200), out=tmp_path / "out", trials=1, **change)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(InputError, match="0 rows"):
        pubench.tune(customers(5).iloc[:0], label="bought", trials=1)


@pytest.mark.parametrize("before", ["", "import pubench.tuning; ", "import pubench.tuning.tune_dataframe; "])
def test_tune_is_a_function_whatever_was_imported_before(before: str) -> None:
    program = (
        f"{before}import pubench; assert callable(pubench.tune); assert pubench.tuning.__name__.endswith('g')"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
