"""Training rows are recognised by their features."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pubench.errors import DataError
from pubench.model.training_rows import OwnRows, fingerprints
from pubench.types import Table

TABLES = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=20),
    elements=st.sampled_from([0.0, 1.0, np.nan]),
)


@given(TABLES)
def test_equal_rows_share_a_fingerprint_and_others_do_not(values: np.ndarray) -> None:
    found = fingerprints(Table.from_array(values))
    texts = [str((row + 0.0).tolist()) for row in values]
    assert len(set(found.tolist())) == len(set(texts))
    assert all((found[i] == found[j]) == (texts[i] == texts[j]) for i in range(len(texts)) for j in range(i))


def test_representation_does_not_matter_and_order_of_features_does() -> None:
    values = np.array([[0.5, -0.0, np.nan]])
    negative_nan = np.array([[0.5, 0.0, np.copysign(np.nan, -1.0)]])
    first = fingerprints(Table.from_array(values))
    assert np.array_equal(first, fingerprints(Table.from_array(negative_nan)))
    assert np.array_equal(first, fingerprints(Table.from_array(values.astype(np.float32))))
    assert first != fingerprints(Table.from_array(values[:, ::-1]))


def test_rows_are_looked_up_and_equal_ones_share_their_mean(tmp_path: Path) -> None:
    X = Table.from_array(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    own = OwnRows.of(X, np.array([0.2, 0.9, 0.4]), np.array([True, True, False]))
    own.save(tmp_path)
    asked = Table.from_array(np.array([[3.0, 4.0], [5.0, 6.0], [1.0, 2.0]]))
    for one in (own, OwnRows.load(tmp_path)):
        scores, labelled = one.look_up(asked)
        assert scores[[0, 2]] == pytest.approx([0.9, 0.3])
        assert np.isnan(scores[1])
        # A row that shares its features with an unlabeled one may be that one.
        assert labelled.tolist() == [True, False, False]


def test_models_of_older_versions_do_not_know_which_rows_are_labelled(tmp_path: Path) -> None:
    X = Table.from_array(np.arange(4.0).reshape(2, 2))
    OwnRows.of(X, np.arange(2.0), np.array([True, False])).save(tmp_path)
    (tmp_path / "labelled.npy").unlink()
    own = OwnRows.load(tmp_path)
    assert own.labelled is None
    assert not own.look_up(X).labelled.any()


@pytest.mark.parametrize(
    "change", ["absent", "junk", "unsorted", "shorter", "another type", "not finite", "labels"]
)
def test_a_damaged_file_is_refused(change: str, tmp_path: Path) -> None:
    X = Table.from_array(np.arange(8.0).reshape(4, 2))
    own = OwnRows.of(X, np.arange(4.0), np.arange(4) < 1)
    own.save(tmp_path)
    if change == "absent":
        (tmp_path / "rows.npy").unlink()
    elif change == "junk":
        (tmp_path / "scores.npy").write_bytes(b"junk")
    elif change == "unsorted":
        np.save(tmp_path / "rows.npy", own.rows[::-1])
    elif change == "shorter":
        np.save(tmp_path / "scores.npy", own.scores[:2])
    elif change == "another type":
        np.save(tmp_path / "scores.npy", own.scores.astype(np.float32))
    elif change == "labels":
        np.save(tmp_path / "labelled.npy", np.ones(3, dtype=np.bool_))
    else:
        np.save(tmp_path / "scores.npy", own.scores + np.inf)
    with pytest.raises(DataError):
        OwnRows.load(tmp_path)
