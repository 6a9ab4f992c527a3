"""Methods that vote by rank."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import rankdata

from pubench import DataError, Parts, PUData, Resources, Seed, Table
from pubench.ensemble.blend import FittedBlend
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.methods.rank_average import RankAverage

ONE = Resources(n_threads=1)
WITHOUT_SIMILARITY = "bagging+elkan-weighted"


def draw(rows: int = 500, seed: int = 3) -> PUData:
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, 3))
    return PUData(Table.from_array(X), X[:, 0] + 0.5 * generator.standard_normal(rows) > 1.6)


def test_the_score_is_the_mean_of_the_log_odds_of_ranks_among_rows_that_are_not_known() -> None:
    fitted = RankAverage(of=WITHOUT_SIMILARITY, members=5).fit(
        draw(2000), Parts(learner=Logistic()), Seed(0), ONE
    )
    assert isinstance(fitted, FittedBlend)
    fresh = draw(2000, seed=4).X
    each = [member.fitted.score(fresh, ONE).values for member in fitted.members]
    assert len(each) == 2
    ranks = [(rankdata(scores) - 0.5) / len(scores) for scores in each]
    expected = expit(np.mean(logit(ranks), axis=0))
    assert np.abs(fitted.score(fresh, ONE).values - expected).max() < 0.06


def test_a_model_of_other_methods_is_refused(tmp_path: Path) -> None:
    parts = Parts(learner=Logistic())
    RankAverage(of=WITHOUT_SIMILARITY, members=5).fit(draw(), parts, Seed(0), ONE).save(tmp_path)
    with pytest.raises(DataError, match="no list of quantiles for each of 3 models"):
        RankAverage(members=5).load(tmp_path, parts)
