"""Profit over depth is highest where a call stops paying, and says how sure that is."""

import numpy as np
import pytest

from pubench.decision.hidden_positives import HiddenPositives
from pubench.decision.profit import profit_over_depth
from pubench.errors import ParameterError
from pubench.types import BoolVector, FloatVector

N_HIDDEN = HiddenPositives(1000, 1000, 1000, "known")


def ranked(rows: int = 60_000) -> tuple[BoolVector, FloatVector]:
    """Unlabeled rows at every share, labelled ones with the density 2 u at the share u: lift is 2 (1 - depth)."""
    unlabeled = (np.arange(rows) + 0.5) / rows
    labelled = np.sqrt((np.arange(1500) + 0.5) / 1500)
    return np.arange(rows + 1500) >= rows, np.concatenate([unlabeled, labelled])


def test_the_best_cut_is_where_a_call_pays_for_itself() -> None:
    # A call at depth p is positive with chance 1000 / 10,000 x 2 (1 - p): worth its cost of 2 up to p = 0.75 at a gain of 40.
    s, scores = ranked()
    curve = profit_over_depth(s, scores, 10_000, N_HIDDEN, gain=40, cost=2)
    assert curve.best == pytest.approx(7500, rel=0.1)
    assert curve.first <= 7500 <= curve.last
    assert curve.best_profit.low <= curve.best_profit.estimate <= curve.best_profit.high
    assert f"call the best {curve.best:,} rows" in curve.sentence
    assert f"{curve.first:,} to {curve.last:,} calls" in curve.sentence
    assert curve.profit[0] == curve.low[0] == curve.high[0] == 0
    assert curve.profit[-1] == pytest.approx(40 * 1000 - 2 * 10_000)


def test_no_call_pays_where_gain_is_small() -> None:
    s, scores = ranked()
    curve = profit_over_depth(s, scores, 10_000, N_HIDDEN, gain=1, cost=2)
    assert (curve.best, curve.best_profit) == (0, (0, 0, 0))
    assert curve.sentence.startswith("If a positive brings 1 and a call costs 2, no call pays")


def test_everybody_is_called_where_calls_cost_next_to_nothing() -> None:
    s, scores = ranked()
    curve = profit_over_depth(s, scores, 10_000, N_HIDDEN, gain=1000, cost=0.001)
    assert curve.last == 10_000


def test_more_labelled_rows_know_the_best_cut_better() -> None:
    s, scores = ranked()
    few = ~s | (np.arange(len(s)) % 30 == 0)
    sure = profit_over_depth(s, scores, 10_000, N_HIDDEN, gain=40, cost=2)
    unsure = profit_over_depth(s[few], scores[few], 10_000, N_HIDDEN, gain=40, cost=2)
    assert unsure.last - unsure.first > sure.last - sure.first
    assert unsure.best_profit.high - unsure.best_profit.low > sure.best_profit.high - sure.best_profit.low


def test_gain_and_cost_are_above_0() -> None:
    s, scores = ranked()
    with pytest.raises(ParameterError, match="above 0"):
        profit_over_depth(s, scores, 10_000, N_HIDDEN, gain=0, cost=2)
