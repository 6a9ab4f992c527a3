"""The best rows equal those of a stable sort, however the rows are split into batches."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pubench.model.score_file import ScoredRows, best_rows
from pubench.types import Table


def scored(scores: list[float], first: int = 1) -> ScoredRows:
    values = np.array(scores, dtype=np.float64)
    rows = np.arange(first, first + len(values))
    own = np.zeros(len(values), dtype=np.bool_)
    return ScoredRows(
        rows, values, own, own, Table.from_array(values[:, None]), pa.chunked_array([[f"r{i}" for i in rows]])
    )


@given(
    st.lists(st.integers(0, 5).map(float), min_size=1, max_size=60), st.integers(1, 20), st.integers(1, 15)
)
def test_the_best_of_pieces_are_the_best_of_all(scores: list[float], count: int, step: int) -> None:
    top = best_rows(scored(scores[:step]), count)
    for start in range(step, len(scores), step):
        top = best_rows(top.joined(scored(scores[start : start + step], start + 1)), count)
        assert len(top.scores) <= count
    order = sorted(range(len(scores)), key=lambda i: -scores[i])[:count]
    assert top.rows.tolist() == [i + 1 for i in order]
    assert top.scores.tolist() == [scores[i] for i in order]
    assert top.X.values[:, 0].tolist() == top.scores.tolist()
    assert top.ids is not None
    assert top.ids.to_pylist() == [f"r{i + 1}" for i in order]
