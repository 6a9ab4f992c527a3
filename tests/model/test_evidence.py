"""Evidence: the nearest labelled positives equal those of brute force, also after saving and loading."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench.errors import DataError
from pubench.model.evidence import Evidence
from pubench.types import PUData, Table


def made(data: PUData, ids: Any = None) -> Evidence:
    evidence = Evidence.of(data, ids)
    assert evidence is not None
    return evidence


def test_the_nearest_positives_are_those_of_brute_force(data: PUData) -> None:
    evidence = made(data)
    rows = evidence.embedding.transform(data.X).values.astype(np.float64)
    positives = rows[data.s]
    nearest = evidence.nearest(data.X, 4)
    for row in range(0, data.X.n_rows, 17):
        distances = np.sqrt(np.sum((rows[row] - positives) ** 2, axis=1))
        order = np.argsort(distances, kind="stable")[:4]
        np.testing.assert_allclose(nearest.distances[row], distances[order], rtol=1e-6, atol=1e-6)
    assert np.all(np.diff(nearest.distances, axis=1) >= 0)


def test_a_labelled_row_finds_itself(data: PUData) -> None:
    evidence = made(data)
    rows = np.flatnonzero(data.s)
    nearest = evidence.nearest(data.X.take(rows), 1)
    np.testing.assert_array_equal(nearest.positives[:, 0], np.arange(len(rows)))
    np.testing.assert_array_equal(nearest.distances, 0)
    assert evidence.names_of(nearest.positives[:, 0]) == (rows + 1).tolist()


def test_nearest_returns_at_most_all_positives(data: PUData) -> None:
    rows = np.concatenate([np.flatnonzero(data.s)[:2], np.flatnonzero(~data.s)[:50]])
    nearest = made(data.take(rows)).nearest(data.X.take(rows), 5)
    assert nearest.positives.shape == (52, 2)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda i: i - 5, -5),
        (lambda i: f"C{i}", "C0"),
        (lambda i: i + 0.5, "0.5"),
        (lambda _: None, ""),
        (lambda i: 2**70 + i, str(2**70)),
    ],
)
def test_ids_name_positives_and_are_restored(make: Any, name: Any, data: PUData, tmp_path: Path) -> None:
    rows = np.argsort(~data.s, kind="stable")  # the labelled first
    evidence = made(data.take(rows), [make(i) for i in range(len(rows))])
    evidence.save(tmp_path)
    loaded = Evidence.load(tmp_path)
    assert loaded.are_ids
    assert loaded.names_of(np.array([0])) == [name]
    before, after = evidence.nearest(data.X, 3), loaded.nearest(data.X, 3)
    np.testing.assert_array_equal(after.distances, before.distances)
    np.testing.assert_array_equal(after.positives, before.positives)


def test_there_is_no_evidence_if_every_feature_is_constant() -> None:
    data = PUData(Table.from_array(np.ones((10, 2))), np.arange(10) < 3)
    assert Evidence.of(data) is None


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((2, 2), dtype=np.float32),
        np.zeros((0, 7), dtype=np.float32),
        np.array(["x"]),
        np.array([{"a": 1}], dtype=object),
        None,
        "nan",
        "claims",
    ],
    ids=["shape", "empty", "text", "pickle", "junk", "nan", "claims"],
)
def test_invalid_points_are_refused(points: Any, data: PUData, tmp_path: Path) -> None:
    evidence = made(data)
    evidence.save(tmp_path)
    path = tmp_path / "points.npy"
    if points is None:
        path.write_bytes(b"\x93NUMPY junk")
    elif isinstance(points, str) and points == "nan":
        np.save(path, np.full_like(evidence.points, np.nan))
    elif isinstance(points, str):
        path.write_bytes(path.read_bytes().replace(b"'shape': (", b"'shape': (9999", 1))
    else:
        np.save(path, points, allow_pickle=True)
    with pytest.raises(DataError, match=r"points\.npy"):
        Evidence.load(tmp_path)


@pytest.mark.parametrize("junk", [{}, {"names": 5}, {"names": [[]]}, {"are_ids": "yes"}, {"embedding": []}])
def test_invalid_documents_are_refused(junk: Any, data: PUData, tmp_path: Path) -> None:
    made(data).save(tmp_path)
    path = tmp_path / "positives.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | junk if junk else {}))
    with pytest.raises(DataError):
        Evidence.load(tmp_path)
