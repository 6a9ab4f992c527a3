"""Whom to call: what the best rows of a ranking hold, at a handful of depths.

    holdout (s, scores of the twin) -> RecallCurve -> depths of all unlabeled rows -> CallTable

Lift and the share of hidden positives found need no prior; numbers of positives and precision do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.decision.hidden_positives import NEEDS_A_PRIOR, Hidden, HiddenPositives
from pubench.decision.recall import Range, RecallCurve, Spread, found_among
from pubench.errors import ParameterError
from pubench.metrics.intervals import check_confidence, note_on_few

#: A number of rows, or a share of the unlabeled rows.
Depth: TypeAlias = int | float
DEPTHS: tuple[Depth, ...] = (100, 1000, 0.01, 0.05, 0.1)


@dataclass(frozen=True)
class CallRow:
    """What the best rows hold.

    Attributes:
        rows: number of rows: the best unlabeled ones.
        share: the same as a share of all unlabeled rows.
        found: share of all hidden positives that is among them.
        lift: how many times as many positives as among as many random unlabeled rows.
        positives: number of positives among them, in whole rows at the ends of the range; None: it needs a prior.
        precision: share of positives among them; None: it needs a prior.
    """

    rows: int
    share: float
    found: Range
    lift: Range
    positives: Range | None
    precision: Range | None


@dataclass(frozen=True)
class CallTable:
    """What the best unlabeled rows hold.

    Attributes:
        rows: by depth, ascending.
        n_unlabeled: number of unlabeled rows that the list is taken from.
        n_labelled: number of labelled rows that recall was measured with, on which the precision of the table depends.
        hidden: number of hidden positives, or why it is withheld.
        confidence: of all ranges.
        notes: what a reader has to know, a sentence each.
    """

    rows: tuple[CallRow, ...]
    n_unlabeled: int
    n_labelled: int
    hidden: Hidden
    confidence: float
    notes: tuple[str, ...]


def call_list(
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    n_unlabeled: int,
    *,
    hidden: Hidden = NEEDS_A_PRIOR,
    depths: Sequence[Depth] = DEPTHS,
    confidence: float = 0.95,
) -> CallTable:
    """Return what the best of `n_unlabeled` rows hold, as measured on rows that the model did not see.

    `found` and `lift` have intervals of the share in the population. The range of `positives` is one of prediction: it covers the
    number in just these rows, chance included, for every number of hidden positives between `hidden.low` and
    `hidden.high`. All of it rests on SCAR.

    Args:
        s: labels of the rows that were held out.
        scores: of the same rows.
        n_unlabeled: number of unlabeled rows to call from; the held-out ones may be part of them.
        hidden: number of hidden positives among these, or why there is none.
        depths: numbers of rows (int) or shares of the unlabeled rows (float); those beyond all rows are left out.
        confidence: of all ranges.

    Raises:
        DataError: as `aul_pu_score`.
        ParameterError: an argument is out of its range.
    """
    check_confidence(confidence)
    if n_unlabeled < 1:
        raise ParameterError(f"A call list has at least one unlabeled row to choose from; got {n_unlabeled}.")
    curve = RecallCurve.of(s, scores)
    numbers = sorted({number for depth in depths if (number := _rows(depth, n_unlabeled)) <= n_unlabeled})
    rows = tuple(_row(curve, number, n_unlabeled, hidden, confidence) for number in numbers)
    notes = (note_on_few(curve.n_labelled), _note_on_prior(rows, hidden))
    return CallTable(
        rows, n_unlabeled, curve.n_labelled, hidden, confidence, tuple(note for note in notes if note)
    )


def _rows(depth: Depth, n_unlabeled: int) -> int:
    if isinstance(depth, int) and depth >= 1:
        return depth
    if isinstance(depth, float) and 0 < depth <= 1:
        return max(1, round(depth * n_unlabeled))
    raise ParameterError(f"A depth is a number of rows or a share in (0, 1]; got {depth}.")


def _row(curve: RecallCurve, rows: int, n_unlabeled: int, hidden: Hidden, confidence: float) -> CallRow:
    share = rows / n_unlabeled
    depth = np.array([share])
    spread = curve.spread(depth, n_unlabeled)
    found = Range(1.0, 1.0, 1.0) if rows == n_unlabeled else _found(curve, depth, spread, confidence)
    positives = None
    if isinstance(hidden, HiddenPositives):
        if rows == n_unlabeled:
            positives = Range(hidden.estimate, math.floor(hidden.low), math.ceil(hidden.high))
        else:
            positives = predicted(hidden, found.estimate, spread, rows, confidence)
    return CallRow(
        rows,
        share,
        found,
        found.scaled(1 / share),
        positives,
        None if positives is None else positives.scaled(1 / rows),
    )


def _found(curve: RecallCurve, depth: npt.NDArray[np.float64], spread: Spread, confidence: float) -> Range:
    estimate = float(curve.at(depth)[0])
    low, high = (float(bound[0]) for bound in spread.bounds(confidence))
    return Range(estimate, min(low, estimate), max(high, estimate))


def predicted(hidden: HiddenPositives, found: float, spread: Spread, rows: int, confidence: float) -> Range:
    """Return the number of positives among `rows` rows that hold a share `found` of the hidden ones."""
    tail = (1 - confidence) / 2
    beta = (float(spread.a[0]), float(spread.b[0]))
    estimate = min(hidden.estimate * found, float(rows))
    low = min(found_among(math.floor(hidden.low), beta, tail), rows)
    high = min(found_among(math.ceil(hidden.high), beta, 1 - tail), rows)
    return Range(estimate, min(float(low), estimate), max(float(high), estimate))


def _note_on_prior(rows: Sequence[CallRow], hidden: Hidden) -> str:
    """Return a warning if more positives would have to be among the best rows than there are rows."""
    if not isinstance(hidden, HiddenPositives):
        return ""
    full = next((row for row in rows if hidden.low * row.found.low > row.rows), None)
    if full is None:
        return ""
    return (
        f"{hidden.low:,.0f} hidden positives are too many: {hidden.low * full.found.low:,.0f} of them would be among the best "
        f"{full.rows:,} rows. Either the prior is too high, or positives were not labelled at random."
    )
