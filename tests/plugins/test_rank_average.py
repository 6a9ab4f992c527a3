"""Methods that vote by rank."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pubench import DataError, Parts, PUData, Resources, Seed, Table
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.methods.rank_average import RankAverage, Ranks

ONE = Resources(n_threads=1)
WITHOUT_SIMILARITY = "bagging+elkan-weighted"


def draw() -> PUData:
    generator = np.random.default_rng(3)
    X = generator.standard_normal((500, 3))
    return PUData(Table.from_array(X), X[:, 0] + 0.5 * generator.standard_normal(500) > 1.6)


@given(arrays(np.float64, st.integers(1, 300), elements=st.floats(-5, 5)))
def test_ranks_keep_the_order(scores: np.ndarray) -> None:
    ranks = Ranks.of(scores)(np.sort(scores))
    assert np.all(np.diff(ranks) >= 0)
    assert ranks.min() >= 0
    assert ranks.max() <= 1


def test_ranks_are_shares_of_the_rows_below() -> None:
    scores = np.random.default_rng(0).standard_normal(20_000)
    exact = (np.argsort(np.argsort(scores)) + 0.5) / len(scores)
    assert np.abs(Ranks.of(scores)(scores) - exact).max() < 0.005


def test_the_top_is_resolved_to_single_rows() -> None:
    """One row in ten thousand matters where positives are rare."""
    scores = np.random.default_rng(0).standard_normal(100_000)
    top = np.sort(scores)[-20:]
    assert len(np.unique(Ranks.of(scores)(top))) == 20


def test_the_score_is_the_mean_of_ranks() -> None:
    data = draw()
    fitted = RankAverage(of=WITHOUT_SIMILARITY, members=5).fit(data, Parts(learner=Logistic()), Seed(0), ONE)
    assert list(fitted.fitted) == ["bagging", "elkan-weighted"]
    each = [one.score(data.X, ONE).values for one in fitted.fitted.values()]
    expected = np.mean([(np.argsort(np.argsort(scores)) + 0.5) / 500 for scores in each], axis=0)
    assert np.abs(fitted.score(data.X, ONE).values - expected).max() < 0.01
    assert set(fitted.chosen) == {"bagging", "elkan-weighted"}


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        '{"bagging": {"scores": [1, 2], "ranks": [0, 1]}}',
        '{"bagging": 3, "elkan-weighted": 4}',
        '{"bagging": {"scores": [2, 1], "ranks": [0, 1]}, "elkan-weighted": {"scores": [1], "ranks": [0]}}',
        '{"bagging": {"scores": [], "ranks": []}, "elkan-weighted": {"scores": [1], "ranks": [0]}}',
        '{"bagging": {"scores": [[1]], "ranks": [[0]]}, "elkan-weighted": {"scores": [1], "ranks": [0]}}',
    ],
)
def test_damaged_ranks_are_refused(content: str, tmp_path: Path) -> None:
    parts = Parts(learner=Logistic())
    method = RankAverage(of=WITHOUT_SIMILARITY, members=5)
    method.fit(draw(), parts, Seed(0), ONE).save(tmp_path)
    (tmp_path / "ranks.json").write_text(content)
    with pytest.raises(DataError):
        method.load(tmp_path, parts)
