"""Tables of every size are searched right by whatever is the fastest for it."""

import numpy as np
import pytest

from pubench.neighbors.search import positive_neighbors

SHAPES = (
    [(rows, 3) for rows in (2, 50, 128, 129, 512, 513, 4500, 6001)]
    + [(512, 200), (512, 201)]
    + [(6000, 120), (6001, 120)]
)


@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_the_definition_holds_on_both_sides_of_every_border(
    rows: int, columns: int, copies: int, share: float
) -> None:
    generator = np.random.default_rng(rows)
    X = generator.integers(0, 1000, (rows, columns)).astype(np.float64)  # so that any sum of squares is exact
    X = np.repeat(X, copies, axis=0)[:rows]
    s = generator.permutation(rows) < max(1, share * rows)
    found = positive_neighbors(X, s, 20)
    for row in np.flatnonzero(~s)[:: max(1, rows // 50)]:
        squares = np.square(X - X[row]).sum(axis=1)
        squares[row] = np.inf
        near = np.argsort(squares, kind="stable")[: min(20, rows - 1)]
        ranks, positives = found.of(int(row))
        np.testing.assert_array_equal(ranks, np.flatnonzero(s[near]) + 1)
        np.testing.assert_array_equal(positives, near[s[near]])
