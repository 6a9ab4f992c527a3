"""A call list promises what it keeps, says less without a prior, and contradicts an impossible one."""

import numpy as np
import pytest

from pubench.decision.call_list import CallTable, call_list
from pubench.decision.hidden_positives import NEEDS_A_PRIOR, HiddenPositives, hidden_from_prior
from pubench.errors import ParameterError
from pubench.types import BoolVector, FloatVector


def exactly(number: float) -> HiddenPositives:
    return HiddenPositives(number, number, number, "known")


def population(seed: int, rows: int = 20_000) -> tuple[BoolVector, BoolVector, FloatVector]:
    """Who is positive, who is labelled, and scores of all."""
    generator = np.random.default_rng(seed)
    y = generator.random(rows) < 0.02
    return y, y & (generator.random(rows) < 0.5), generator.standard_normal(rows) + 2.0 * y


@pytest.fixture(scope="module")
def table() -> CallTable:
    y, s, scores = population(0)
    return call_list(
        s, scores, int((~s).sum()), hidden=exactly(int((y & ~s).sum())), depths=(50, 0.01, 0.1, 1.0)
    )


def test_its_figures_are_one_another_in_other_units(table: CallTable) -> None:
    assert isinstance(table.hidden, HiddenPositives)
    for row in table.rows:
        assert row.positives is not None
        assert row.precision is not None
        assert row.share == row.rows / table.n_unlabeled
        np.testing.assert_allclose(row.lift, np.array(row.found) / row.share)
        np.testing.assert_allclose(row.precision, np.array(row.positives) / row.rows)
        assert row.positives.estimate == pytest.approx(table.hidden.estimate * row.found.estimate)
        for values in (row.found, row.lift, row.positives, row.precision):
            assert 0 <= values.low <= values.estimate <= values.high
        assert row.precision.high <= 1


def test_all_rows_hold_all_hidden_positives(table: CallTable) -> None:
    last = table.rows[-1]
    assert last.rows == table.n_unlabeled
    assert last.found == last.lift == (1, 1, 1)
    assert isinstance(table.hidden, HiddenPositives)
    assert last.positives == (table.hidden.estimate,) * 3


def test_without_a_prior_there_are_lift_and_the_share_found_alone() -> None:
    _, s, scores = population(0)
    bare = call_list(s, scores, 20_000, depths=(0.01,))
    with_prior = call_list(s, scores, 20_000, hidden=exactly(200), depths=(0.01,))
    assert bare.hidden == NEEDS_A_PRIOR
    assert bare.rows[0].positives is None
    assert bare.rows[0].precision is None
    assert (bare.rows[0].lift, bare.rows[0].found) == (with_prior.rows[0].lift, with_prior.rows[0].found)


def test_nine_of_ten_ranges_hold_the_number_that_is_there() -> None:
    held = []
    for seed in range(60):
        y, s, scores = population(seed, rows=8000)
        judged = np.arange(len(y)) % 4 == 0
        hidden = y & ~s
        found = call_list(
            s[judged], scores[judged], int((~s).sum()), hidden=exactly(int(hidden.sum())), depths=(0.01, 0.05)
        )
        order = np.argsort(-scores[~s])
        for row in found.rows:
            assert row.positives is not None
            held.append(row.positives.low <= hidden[~s][order[: row.rows]].sum() <= row.positives.high)
    assert np.mean(held) >= 0.9


def test_a_range_of_priors_widens_the_range() -> None:
    _, s, scores = population(0)
    n = int((~s).sum())
    narrow = call_list(s, scores, n, hidden=exactly(200), depths=(0.05,)).rows[0].positives
    wide = (
        call_list(s, scores, n, hidden=HiddenPositives(200, 100, 400, "a guess"), depths=(0.05,))
        .rows[0]
        .positives
    )
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.estimate == wide.estimate < narrow.high < wide.high


def test_a_prior_that_the_ranking_contradicts_is_named() -> None:
    _, s, scores = population(0)
    hidden = hidden_from_prior(0.5, len(s), int(s.sum()))
    found = call_list(s, scores, int((~s).sum()), hidden=hidden)
    assert any("too many" in note for note in found.notes)
    assert found.rows[0].precision is not None
    assert found.rows[0].precision.estimate == 1


def test_few_labelled_rows_are_named() -> None:
    s = np.arange(100) < 5
    assert any("Only 5 labelled" in note for note in call_list(s, np.arange(100), 95).notes)


def test_depths_are_sorted_unique_and_within_the_list() -> None:
    _, s, scores = population(0)
    table = call_list(s, scores, 5000, depths=(0.1, 500, 0.01, 7000))
    assert [row.rows for row in table.rows] == [50, 500]


@pytest.mark.parametrize("depth", [0, -3, 0.0, 1.5])
def test_a_depth_is_rows_or_a_share(depth: float) -> None:
    _, s, scores = population(0)
    with pytest.raises(ParameterError, match="A depth is"):
        call_list(s, scores, 5000, depths=(depth,))
