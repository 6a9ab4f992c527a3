"""The SCAR diagnostic: quiet under SCAR, loud when a feature decides, and blind where it says it is."""

from typing import Any, Literal

import numpy as np
import pytest
from scipy.special import expit

from pubench.errors import DataError, ParameterError
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.scar_diagnostic import SCARDiagnostic, scar_diagnostic
from pubench.metrics.supervised import aul_pn_score
from pubench.types import BoolVector, FloatVector

Labelling = Literal["scar", "feature", "score"]


def simulate(labelling: Labelling, seed: int) -> tuple[FloatVector, BoolVector, FloatVector, BoolVector]:
    """Rows, observed labels, the true posterior as score, and the truth."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((12_000, 6))
    posterior = expit(1.3 * (X[:, 0] + 0.8 * X[:, 1] + 0.6 * X[:, 2] * X[:, 3]) - 4.5)
    y = generator.random(len(X)) < posterior
    chance = {"scar": np.full(len(X), 0.4), "feature": expit(1.5 * X[:, 5] - 0.5), "score": posterior**0.7}
    return X, y & (generator.random(len(X)) < chance[labelling]), posterior, y


def diagnose(labelling: Labelling, seed: int) -> SCARDiagnostic:
    X, s, posterior, _ = simulate(labelling, seed)
    return scar_diagnostic(X, s, posterior, n_permutations=99)


def test_under_scar_it_rejects_about_5_percent_of_the_time() -> None:
    p_values = np.array([diagnose("scar", seed).p_value for seed in range(100)])
    assert np.mean(p_values <= 0.05) <= 0.12  # 5% and three standard errors of 100 repetitions
    assert 0.38 < p_values.mean() < 0.62  # uniform: 1/2 and four standard errors


def test_a_feature_that_is_the_score_is_no_sign() -> None:
    p_values = []
    for seed in range(60):
        generator = np.random.default_rng(seed)
        X = generator.standard_normal((20_000, 2))
        posterior = expit(2 * X[:, 0] - 3.5)
        s = generator.random(len(X)) < posterior / 2
        p_values.append(scar_diagnostic(X, s, posterior, n_strata=5, n_permutations=99).p_value)
    # Wide strata, inside which the score still rises: were its trend left in, the mean p-value would be 0.27.
    assert np.mean(p_values) > 0.4


def test_labelling_by_a_feature_is_seen() -> None:
    found = [diagnose("feature", seed) for seed in range(12)]
    assert np.mean([diagnostic.p_value <= 0.05 for diagnostic in found]) > 0.8
    assert min(diagnostic.statistic for diagnostic in found) > 0.5


def test_labelling_by_the_score_is_not_seen_although_it_biases_aul() -> None:
    rejected = []
    for seed in range(20):
        X, s, posterior, y = simulate("score", seed)
        assert aul_pu_score(s, posterior) > aul_pn_score(y, posterior) + 0.01
        rejected.append(scar_diagnostic(X, s, posterior, n_permutations=99).p_value <= 0.05)
    assert np.mean(rejected) <= 0.2


def test_what_the_score_misses_is_seen_too() -> None:
    X, s, _, _ = simulate("scar", 0)
    diagnostic = scar_diagnostic(X, s, X[:, 1])
    assert diagnostic.p_value <= 0.01
    assert "the score misses something" in diagnostic.sentence


def test_the_sentence_says_what_was_found_and_its_limits() -> None:
    loud, quiet = diagnose("feature", 0), diagnose("scar", 0)
    assert "labelling is not random among positives (SCAR fails)" in loud.sentence
    assert "not a proof" in quiet.sentence
    assert "favours high or low scores cannot be seen" in quiet.sentence
    for diagnostic in (loud, quiet):
        assert (
            f"{diagnostic.n_rows} highest-scored rows ({diagnostic.n_labelled} labelled)"
            in diagnostic.sentence
        )


def test_the_same_seed_gives_the_same_answer() -> None:
    X, s, posterior, _ = simulate("scar", 1)
    assert scar_diagnostic(X, s, posterior) == scar_diagnostic(X, s, posterior)
    assert scar_diagnostic(X, s, posterior) != scar_diagnostic(X, s, posterior, random_state=1)


def test_only_the_order_of_scores_counts() -> None:
    X, s, posterior, _ = simulate("feature", 2)
    assert scar_diagnostic(X, s, posterior) == scar_diagnostic(X, s, np.log(posterior))


def test_likely_positives_hold_half_of_the_labelled_and_are_capped() -> None:
    X, s, posterior, _ = simulate("scar", 3)
    diagnostic = scar_diagnostic(X, s, posterior, n_permutations=1)
    assert diagnostic.n_labelled == -(-s.sum() // 2)
    assert scar_diagnostic(X, s, posterior, n_permutations=1, likely_factor=1.0).n_rows == s.sum()


@pytest.mark.parametrize("labelled_first", [True, False])
def test_ties_do_not_fall_in_the_order_of_the_file(labelled_first: bool) -> None:
    s = np.arange(4000) < 300 if labelled_first else np.arange(4000) >= 3700
    X = np.random.default_rng(0).standard_normal((4000, 2))
    found = [
        scar_diagnostic(X, s, np.zeros(4000), n_permutations=1, likely_factor=100, random_state=seed).n_rows
        for seed in range(10)
    ]
    # Half of the labelled are in half of the rows, give or take 115 for one seed; in file order, in 150 or 3850.
    assert np.mean(found) == pytest.approx(2000, abs=4 * 115 / np.sqrt(len(found)))


def test_missing_and_constant_columns_are_taken() -> None:
    X, s, posterior, _ = simulate("feature", 5)
    X[:, 0] = np.nan
    X[:, 1] = 7
    X[::3, 5] = np.nan
    assert scar_diagnostic(X, s, posterior).p_value <= 0.05


def test_too_few_labelled_rows_are_said() -> None:
    generator = np.random.default_rng(0)
    diagnostic = scar_diagnostic(generator.standard_normal((50, 2)), np.arange(50) < 5, generator.random(50))
    assert diagnostic.p_value == 1
    assert "too few" in diagnostic.sentence


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a"], ["b"]], "numeric matrix"),
        ([1.0, 2.0], "numeric matrix"),
        ([[1.0]], "X has 1 rows but s has 2"),
    ],
)
def test_bad_features_are_refused(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        scar_diagnostic(X, [0, 1], [0.1, 0.2])


@pytest.mark.parametrize("option", ["n_strata", "n_permutations", "likely_factor"])
def test_numbers_out_of_range_are_refused(option: str) -> None:
    with pytest.raises(ParameterError, match=option):
        scar_diagnostic([[1.0], [2.0]], [0, 1], [0.1, 0.2], **{option: 0})
