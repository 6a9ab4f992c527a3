"""The best rows: those of a stable sort, however the rows come in."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pubench.scoring.ranking import ScoredRows, best
from pubench.types import Table


def scored(scores: list[float], first: int = 1) -> ScoredRows:
    values = np.array(scores, dtype=np.float64)
    rows = np.arange(first, first + len(values))
    return ScoredRows(
        rows, values, Table.from_array(values[:, None]), pa.chunked_array([[f"r{i}" for i in rows]])
    )


@given(
    st.lists(st.integers(0, 5).map(float), min_size=1, max_size=60), st.integers(1, 20), st.integers(1, 15)
)
def test_the_best_of_pieces_are_the_best_of_all(scores: list[float], count: int, step: int) -> None:
    kept = best(scored(scores[:step]), count)
    for start in range(step, len(scores), step):
        kept = best(kept.joined(scored(scores[start : start + step], start + 1)), count)
        assert len(kept.scores) <= count
    order = sorted(range(len(scores)), key=lambda i: -scores[i])[:count]
    assert kept.rows.tolist() == [i + 1 for i in order]
    assert kept.scores.tolist() == [scores[i] for i in order]
    assert kept.X.values[:, 0].tolist() == kept.scores.tolist()
    assert kept.ids is not None
    assert kept.ids.to_pylist() == [f"r{i + 1}" for i in order]
