"""The rows that peers are measured on, and the files of results."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from peer_protocol import (
    FAILED,
    OK,
    TIMEOUT,
    Cell,
    PeerTable,
    Protocol,
    Result,
    cells,
    draw,
    is_due,
    levels,
    measured,
    metrics,
    placements,
    read_results,
    read_table,
    table_name,
    write_task,
)
from pubench.api.registry import Registry
from pubench.types import Feature, Table

PROTOCOL = Protocol(seconds=5, threads=1, labelled=(5, 20), unlabeled=None)
CELL = Cell("rows", 0, 1, 5, "lightgbm")


def table(rows: int = 300, positives: int = 60, name: str = "rows") -> PeerTable:
    """A table whose only column is the number of the row."""
    y = np.zeros(rows, dtype=np.bool_)
    y[np.random.default_rng(0).permutation(rows)[:positives]] = True
    return PeerTable(name, Table.from_array(np.arange(rows, dtype=np.float64)[:, None]), y)


def numbers(X: Table) -> set[int]:
    return set(X.values[:, 0].astype(int).tolist())


def test_two_of_three_parts_are_trained_on_and_every_row_is_tested_once() -> None:
    whole = table()
    samples = [draw(whole, 0, fold, 5, PROTOCOL) for fold in range(3)]
    for sample in samples:
        assert (sample.train.n_rows, sample.test.n_rows, sample.y_test.sum()) == (200, 100, 20)
        assert numbers(sample.train) | numbers(sample.test) == set(range(300))
        np.testing.assert_array_equal(sample.y_test, whole.y[sample.test.values[:, 0].astype(int)])
    assert set.union(*(numbers(sample.test) for sample in samples)) == set(range(300))


def test_only_positives_are_labelled_and_more_include_fewer() -> None:
    whole = table()
    few, more = (draw(whole, 0, 1, count, PROTOCOL) for count in (5, 20))
    assert (few.s.sum(), more.s.sum()) == (5, 20)
    assert (few.hidden_positives.sum(), more.hidden_positives.sum()) == (35, 20)
    assert not (few.s & ~more.s).any()
    assert whole.y[more.train.values[more.s, 0].astype(int)].all()


def test_at_most_half_of_the_positives_are_labelled() -> None:
    sample = draw(table(positives=30), 0, 0, 20, PROTOCOL)
    assert sample.counts == {"train": 200, "labelled": 10, "hidden": 10, "test": 100, "test_positives": 10}


@pytest.mark.parametrize(("positives", "found"), [(60, (5, 20)), (59, (5, 20)), (15, (5, 20)), (14, (5,))])
def test_a_number_that_is_too_great_is_measured_once(positives: int, found: tuple[int, ...]) -> None:
    assert levels(table(positives=positives), PROTOCOL) == found


def test_unlabeled_rows_are_drawn_and_labelled_ones_stay() -> None:
    whole = table()
    everything = draw(whole, 0, 0, 5, PROTOCOL)
    few = draw(whole, 0, 0, 5, replace(PROTOCOL, unlabeled=50))
    assert (few.train.n_rows, few.s.sum()) == (55, 5)
    assert numbers(few.train) < numbers(everything.train)
    assert few.train.values[few.s].tolist() == everything.train.values[everything.s].tolist()
    assert few.test.values.tolist() == everything.test.values.tolist()
    hidden = whole.y[few.train.values[:, 0].astype(int)] & ~few.s
    assert few.hidden_positives.sum() == hidden.sum() > 0


def test_other_seeds_draw_other_rows_and_equal_ones_the_same() -> None:
    first, again, other = (draw(table(), seed, 0, 5, PROTOCOL) for seed in (0, 0, 1))
    assert (first.s == again.s).all()
    assert numbers(first.train) == numbers(again.train) != numbers(other.train)


def test_the_measurements_of_a_fold_stand_together() -> None:
    found = list(cells(table(), [0], ["a", "b"], PROTOCOL))
    assert len(found) == 3 * 2 * 2
    assert found[:2] == [Cell("rows", 0, 0, 5, "a"), Cell("rows", 0, 0, 5, "b")]


def test_a_task_holds_no_truth(tmp_path: Path) -> None:
    sample = draw(table(), 0, 0, 5, PROTOCOL)
    features = (Feature("kind", "categorical", tuple("abc")),)
    named = replace(sample, train=Table(sample.train.values, features))
    write_task(tmp_path, named, CELL, PROTOCOL)
    assert {path.name for path in tmp_path.iterdir()} == {"task.json", "train.npz", "test.npz"}
    with np.load(tmp_path / "train.npz") as train, np.load(tmp_path / "test.npz") as test:
        assert (set(train), set(test)) == ({"X", "s"}, {"X"})
        assert train["s"].sum() == 5
    task = json.loads((tmp_path / "task.json").read_text())
    assert task["categories"] == {"0": ["a", "b", "c"]}
    assert (task["system"], task["seconds"]) == ("lightgbm", 5)


def test_placements_are_those_of_the_auc() -> None:
    y = np.array([1, 0, 0, 1, 0], dtype=np.bool_)
    scores = np.array([0.5, 0.5, 0.1, 0.9, 0.2])
    assert placements(y, scores).tolist() == [2.5 / 3, 1]
    found = metrics(y, scores)
    assert found["auc"] == pytest.approx(placements(y, scores).mean())
    assert found["aul"] == pytest.approx(0.4 / 2 + 0.6 * found["auc"])
    assert found["ap"] == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def scored(folder: Path, scores: list[float]) -> Result:
    sample = draw(table(30, 6), 0, 0, 2, PROTOCOL)
    (folder / "answer.json").write_text(json.dumps({"seconds": 1.5, "version": "3"}))
    np.save(folder / "scores.npy", np.array(scores))
    return measured(Result(CELL, OK), folder, sample)


def test_scores_are_measured(tmp_path: Path) -> None:
    result = scored(tmp_path, list(range(10)))
    assert (result.status, result.version, result.seconds_of_system) == (OK, "3", 1.5)
    assert np.mean(result.placements) == pytest.approx(result.metrics["auc"], abs=1e-6)


@pytest.mark.parametrize("scores", [[0.5] * 9, [float("nan")] * 10, [float("inf")] * 10])
def test_wrong_scores_are_a_failure(scores: list[float], tmp_path: Path) -> None:
    result = scored(tmp_path, scores)
    assert (result.status, result.reason) == (FAILED, "its scores are not a finite number for each row")
    assert not result.metrics


def test_no_scores_are_a_failure(tmp_path: Path) -> None:
    result = measured(Result(CELL, OK), tmp_path, draw(table(), 0, 0, 5, PROTOCOL))
    assert result.status == FAILED
    assert result.reason.startswith("it left no scores")


def test_results_come_back_and_are_not_measured_again(tmp_path: Path) -> None:
    result = Result(CELL, OK, seconds=2.0, metrics={"auc": 0.9}, placements=(0.8, 1.0), table="abc")
    assert is_due(CELL, tmp_path, "abc", [])
    result.write(tmp_path)
    assert read_results(tmp_path) == [result]
    assert not is_due(CELL, tmp_path, "abc", [FAILED, TIMEOUT])
    replace(result, status=FAILED).write(tmp_path)
    assert not is_due(CELL, tmp_path, "abc", [TIMEOUT])
    assert is_due(CELL, tmp_path, "abc", [FAILED])
    with pytest.raises(SystemExit, match="another table called rows"):
        is_due(CELL, tmp_path, "def", [])


def test_results_of_another_protocol_are_not_mixed_with_these(tmp_path: Path) -> None:
    PROTOCOL.keep(tmp_path)
    replace(PROTOCOL, labelled=(7,)).keep(tmp_path)  # a number of labelled rows is part of each result
    with pytest.raises(SystemExit, match="name another folder"):
        replace(PROTOCOL, seconds=6).keep(tmp_path)


def test_a_table_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, X=np.arange(6).reshape(3, 2), y=[0, 1, 0])
    found = read_table(str(path), Registry(()))
    assert (found.name, found.X.values.tolist(), found.y.tolist()) == (
        *("mine", [[0, 1], [2, 3], [4, 5]]),
        [False, True, False],
    )
    assert found.fingerprint != replace(found, y=~found.y).fingerprint


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"X": [[1.0]]}, "no .npz file with numeric arrays X and y"),
        ({"X": [["a"]], "y": [1]}, "no .npz file with numeric arrays"),
        ({"X": [[1.0]], "y": [2]}, "a y of 0 and 1"),
        ({"X": [1.0], "y": [1]}, "needs a matrix X"),
        ({"X": np.array([[{}]]), "y": [1]}, "no .npz file with numeric arrays"),
    ],
)
def test_a_file_without_a_table(arrays: dict[str, Any], says: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, **arrays)
    with pytest.raises(SystemExit, match=says):
        read_table(str(path), Registry(()))


def test_a_name_that_cannot_be_part_of_a_file_name() -> None:
    assert table_name("folder/a.b.npz") == "a.b"
    with pytest.raises(SystemExit, match="cannot name a table"):
        table_name("a table.npz")
