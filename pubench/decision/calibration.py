"""From a score to the share of rows below it, and to a probability if the number of hidden positives is known.

An unlabeled row at depth p among the unlabeled rows is positive with the probability

    P(y = 1 | p) = pi_U r(p),    r(p) = d recall / dp

where pi_U is the share of positives among the unlabeled rows and r how many times denser positives are at this depth: under SCAR
the density of the labelled rows. If a higher score never means a lower probability, recall is concave; the slope of its least
concave majorant is the maximum-likelihood estimate (Grenander 1956), that is isotonic regression of the label with the
correction for PU labels. Two things that a sample can not show are kept out. A vertex counts one unlabeled row more than there
is: that none was seen does not say that there is none. And no row is certain: the probability ends at (n_L + 1) / (n_L + 2), what
Laplace's rule of succession gives after n_L positives and nothing else.

All of it depends on scores through their ranks alone. So what was measured with scores of training rows by models that were not
trained on them holds for a model of the same kind that was trained on all rows, whose scores may have another scale.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pubench.decision.hidden_positives import HiddenPositives
from pubench.decision.recall import Range, RecallCurve
from pubench.metrics.quantiles import TOWARDS_TOP, Quantiles
from pubench.system.json_documents import Node
from pubench.types import FloatVector, Json


@dataclass(frozen=True, eq=False)
class Calibration:
    """What the scores of a model mean.

    Attributes:
        quantiles: of the scores of unlabeled rows, denser towards the top.
        depth: shape (k,), ascending from 0 to 1: vertices of the concave curve of recall.
        recall: shape (k,), ascending from 0 to 1; concave over `depth`.
        n_labelled, n_unlabeled: number of rows that it was made from.
    """

    quantiles: Quantiles
    depth: FloatVector
    recall: FloatVector
    n_labelled: int
    n_unlabeled: int

    @classmethod
    def of(cls, s: npt.ArrayLike, scores: npt.ArrayLike) -> Self:
        """Calibrate on rows with labels `s` and scores by models that were not trained on them; errors are those of `aul_pu_score`."""
        curve = RecallCurve.of(s, scores)
        n = curve.n_unlabeled
        shifted = (curve.share * n + 1) / (n + 1)
        depth, recall = _concave(np.append(0.0, shifted), np.append(0.0, curve.recall))
        unlabeled = np.asarray(scores, dtype=np.float64)[~np.asarray(s, dtype=np.bool_)]
        return cls(Quantiles.of(unlabeled, TOWARDS_TOP), depth, recall, curve.n_labelled, n)

    def shares(self, scores: FloatVector) -> FloatVector:
        """Return for each score the share of the unlabeled rows below it, equal ones half."""
        return self.quantiles.ranks(scores)

    def probabilities(self, scores: FloatVector, hidden: HiddenPositives) -> FloatVector:
        """Return the probability that an unlabeled row of each score is positive, given the number of hidden positives.

        It never falls with the score, and its sum over the unlabeled rows is `hidden.estimate`, unless that is more than
        certainty allows.
        """
        return self.probabilities_at(self.shares(scores), hidden)

    def probabilities_at(self, shares: FloatVector, hidden: HiddenPositives) -> FloatVector:
        """Return the same for shares of the unlabeled rows that score lower."""
        prior = min(hidden.estimate / self.n_unlabeled, 1.0)
        certain = (self.n_labelled + 1) / (self.n_labelled + 2)
        # Where the best rows would be more than certain, the surplus of positives moves to the next ones.
        full = np.flatnonzero(prior * self.recall >= certain * self.depth)[-1]
        chances = np.minimum(prior * self._lift, certain)
        depth = 1 - np.clip(shares, 0, 1)
        segment = np.clip(np.searchsorted(self.depth, depth, "left") - 1, 0, len(chances) - 1)
        crossing = self._crossing(int(full), prior, certain)
        return np.where(depth <= crossing, certain, chances[segment])

    @cached_property
    def _lift(self) -> FloatVector:
        return np.diff(self.recall) / np.diff(self.depth)

    def _crossing(self, full: int, prior: float, certain: float) -> float:
        """Return the depth down to which all rows are as good as certain, from the last vertex where they are."""
        if full == len(self.depth) - 1:
            return 1.0
        slope = prior * self._lift[full]
        surplus = prior * self.recall[full] - certain * self.depth[full]
        return float(self.depth[full] + surplus / (certain - slope)) if surplus > 0 else float("-inf")

    def to_json(self) -> dict[str, Json]:
        """Return a JSON object."""
        return {
            "quantiles": self.quantiles.values.tolist(),
            "depth": self.depth.tolist(),
            "recall": self.recall.tolist(),
            "labelled": self.n_labelled,
            "unlabeled": self.n_unlabeled,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote; raises `DataError` for anything else."""
        node = Node(document, "calibration.json")
        depth, recall = node["depth"].ascending(strictly=True), node["recall"].ascending(strictly=False)
        if len(depth) != len(recall) or (depth[0], depth[-1], recall[0], recall[-1]) != (0, 1, 0, 1):
            raise node["recall"].error("recall at each depth, from 0 to 1")
        if np.any(np.diff(np.diff(recall) / np.diff(depth)) > 1e-6):
            raise node["recall"].error("concave curve")
        return cls(
            Quantiles.from_json(node["quantiles"], TOWARDS_TOP),
            depth,
            recall,
            node["labelled"].integer(1),
            node["unlabeled"].integer(1),
        )


def _concave(depth: FloatVector, recall: FloatVector) -> tuple[FloatVector, FloatVector]:
    """Return the vertices of the least concave curve that is nowhere below the given one."""
    kept: list[int] = []
    for number in range(len(depth)):
        if kept and depth[number] == depth[kept[-1]]:
            kept.pop()  # of a vertical step the upper end counts
        while len(kept) > 1 and _is_below(depth, recall, kept[-2], kept[-1], number):
            kept.pop()
        kept.append(number)
    return depth[kept], recall[kept]


def _is_below(depth: FloatVector, recall: FloatVector, left: int, middle: int, right: int) -> bool:
    """Whether the vertex in the middle is on or below the line between the other two."""
    rise = (recall[middle] - recall[left]) * (depth[right] - depth[left])
    return bool(rise <= (recall[right] - recall[left]) * (depth[middle] - depth[left]))


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows of similar probability.

    Attributes:
        rows: number of unlabeled rows.
        predicted: their mean probability.
        observed: the share of positives that the labelled rows among them imply.
    """

    rows: int
    predicted: float
    observed: Range


def reliability(
    calibration: Calibration,
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    hidden: HiddenPositives,
    *,
    bins: int = 10,
    confidence: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Return the reliability curve of probabilities by labelled positives, on rows that were held out.

    Positives in a bin are `pi_U` times its share of the labelled rows over its share of the unlabeled ones, with `pi_U` of the
    calibration. The rows may be scored by a twin of the model, on a scale of its own, because ranks count alone.

    Args:
        calibration: of the model.
        s: which of the rows are labelled.
        scores: of the rows.
        hidden: number of hidden positives among the unlabeled rows that the calibration was made from.
        bins: number of bins, with about equal numbers of labelled rows.
        confidence: of the intervals, which are those of the shares of labelled rows.

    Raises:
        DataError: as `aul_pu_score`.
    """
    curve = RecallCurve.of(s, scores)
    prior = hidden.estimate / calibration.n_unlabeled
    edges = np.unique(np.interp(np.linspace(0, 1, bins + 1), curve.recall, curve.share))
    found = []
    for top, end in pairwise(edges.tolist()):
        rows = round((end - top) * curve.n_unlabeled)
        if rows == 0:
            continue
        inside = 1 - (top + (end - top) * (np.arange(rows) + 0.5) / rows)
        shallow, deep = np.array([top]), np.array([end])
        recall = float(curve.at(deep)[0] - curve.at(shallow)[0])
        low, high = curve.spread_between(shallow, deep, curve.n_unlabeled).bounds(confidence)
        observed = Range(recall, min(float(low[0]), recall), max(float(high[0]), recall))
        predicted = float(calibration.probabilities_at(inside, hidden).mean())
        found.append(ReliabilityBin(rows, predicted, observed.scaled(prior / (end - top))))
    return tuple(found)
