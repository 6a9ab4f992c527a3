"""A data set has labels of some sort, one per row."""

import numpy as np
import pytest

from pubench.api.dataset import Dataset
from pubench.errors import DataError
from pubench.truth import Truth
from pubench.types import Table

X = Table.from_array(np.zeros((3, 2)))


def test_observed_or_true_labels_are_needed() -> None:
    with pytest.raises(DataError, match="observed labels or true"):
        Dataset(X)
    assert Dataset(X, truth=Truth(np.array([True, False, False]))).observed is None


@pytest.mark.parametrize("labels", [np.array([True]), np.ones((3, 1), dtype=bool)])
def test_labels_match_rows(labels: np.ndarray) -> None:
    with pytest.raises(DataError, match="3 rows"):
        Dataset(X, observed=labels)
