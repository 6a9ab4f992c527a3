"""Methods that vote by rank."""

from pathlib import Path

import numpy as np
import pytest

from pubench import DataError, Parts, PUData, Resources, Seed, Table
from pubench.blending import FittedBlend
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.methods.rank_average import RankAverage

ONE = Resources(n_threads=1)
WITHOUT_SIMILARITY = "bagging+elkan-weighted"


def draw() -> PUData:
    generator = np.random.default_rng(3)
    X = generator.standard_normal((500, 3))
    return PUData(Table.from_array(X), X[:, 0] + 0.5 * generator.standard_normal(500) > 1.6)


def test_the_score_is_the_mean_of_ranks() -> None:
    data = draw()
    fitted = RankAverage(of=WITHOUT_SIMILARITY, members=5).fit(data, Parts(learner=Logistic()), Seed(0), ONE)
    assert isinstance(fitted, FittedBlend)
    each = [voter.fitted.score(data.X, ONE).values for voter in fitted.voters]
    assert len(each) == 2
    expected = np.mean([(np.argsort(np.argsort(scores)) + 0.5) / 500 for scores in each], axis=0)
    assert np.abs(fitted.score(data.X, ONE).values - expected).max() < 0.01


def test_a_model_of_other_methods_is_refused(tmp_path: Path) -> None:
    parts = Parts(learner=Logistic())
    RankAverage(of=WITHOUT_SIMILARITY, members=5).fit(draw(), parts, Seed(0), ONE).save(tmp_path)
    with pytest.raises(DataError, match="another number of parts"):
        RankAverage(members=5).load(tmp_path, parts)
