"""Chooses k from E_k, the expected number of positives: the smallest k at which its rise has ended; and draws the choice.

The paper reads k off a picture of E_k, its Figure 3: where the rise ends and the plateau begins. Written down, the rule is:

1. E_k is smoothed: the median of the five values around k.
2. The level is the highest smoothed value from k = 10 on.
3. k is the smallest one from 10 on whose smoothed value is at least 95% of the level.

Below 10 neighbours Cred_k takes so few values that one neighbour decides a tag. So a curve that is flat or only falls
gives 10, one that only rises gives a k near its end, and a plateau gives its beginning.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError
from pubench.neighbors.neighbor_ranks import PositiveNeighbors
from pubench.types import FloatVector, read_only

if TYPE_CHECKING:  # matplotlib takes half a second to import: only drawing needs it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Fewer neighbours than this are not chosen.
SMALLEST_K = 10
#: A rise has ended where this share of the level is reached.
REACHED = 0.95
_SMOOTHED_OVER = 5


@dataclass(frozen=True, eq=False)
class KChoice:
    """A chosen k, and the curve that it was chosen from.

    Attributes:
        k: the choice.
        expected: shape (k_max,), E_1..E_kmax.
        smoothed: shape (k_max,), the curve that the rule reads.
        level: of the plateau.
    """

    k: int
    expected: FloatVector
    smoothed: FloatVector
    level: float

    @property
    def rule(self) -> str:
        """Return the rule in one sentence."""
        return f"k = {self.k}: the smallest one from {SMALLEST_K} on at which E_k has reached {REACHED:.0%} of its highest value."


def choose_k(expected: npt.ArrayLike) -> KChoice:
    """Choose k from E_1..E_kmax by the rule above; with fewer than 10 values, the last one.

    Raises:
        DataError: there is no value, or one is not finite.
    """
    curve = np.asarray(expected, dtype=np.float64)
    if curve.ndim != 1 or not curve.size or not np.all(np.isfinite(curve)):
        raise DataError("k is chosen from E_1, E_2, ...: at least one value, each finite.")
    smoothed = _running_median(curve)
    first = min(SMALLEST_K, len(curve)) - 1
    level = float(smoothed[first:].max())
    k = first + int(np.argmax(smoothed[first:] >= REACHED * level)) + 1
    return KChoice(k, read_only(curve), read_only(smoothed), level)


def _running_median(values: FloatVector) -> FloatVector:
    around = np.pad(
        values, _SMOOTHED_OVER // 2, constant_values=np.nan
    )  # at the ends, of the values that exist
    windows = np.lib.stride_tricks.sliding_window_view(around, _SMOOTHED_OVER)
    return np.asarray(np.nanmedian(windows, axis=1), dtype=np.float64)


class ExpectedPositivesDisplay:
    """E_k over k with the chosen k; make one by `from_neighbors`.

    Attributes:
        choice: the curve and the k chosen from it.
        name: what the title calls the data; None: nothing.
        ax_: where it was drawn; this and the following exist after `plot`.
        figure_: the figure of `ax_`.
        line_: the curve.
    """

    ax_: "Axes"
    figure_: "Figure | None"
    line_: "Line2D"

    def __init__(self, *, choice: KChoice, name: str | None = None) -> None:
        self.choice = choice
        self.name = name

    @classmethod
    def from_neighbors(
        cls, neighbors: PositiveNeighbors, *, name: str | None = None, ax: "Axes | None" = None, **kwargs: Any
    ) -> Self:
        """Choose k from the neighbours and draw it; the other arguments are those of `plot`."""
        return cls(choice=choose_k(neighbors.expected_positives()), name=name).plot(ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw E_k, the band that counts as the plateau, and the chosen k.

        Args:
            ax: where to draw; None: a new figure.
            **kwargs: passed to matplotlib's `Axes.plot` for the curve.
        """
        if ax is None:
            import matplotlib.pyplot as plt  # noqa: PLC0415 - heavy, and only needed here

            _, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
        choice = self.choice
        ks = np.arange(1, len(choice.expected) + 1)
        style = {
            "color": "tab:blue",
            "marker": "o",
            "markersize": 3,
            "linewidth": 1,
            "label": "$E_k$",
            **kwargs,
        }
        (self.line_,) = ax.plot(ks, choice.expected, **style)
        ax.plot(ks, choice.smoothed, color="black", linewidth=1.2, label="median of five")
        reached = f"{REACHED:.0%} to 100% of its highest from k = {SMALLEST_K} on"
        ax.axhspan(REACHED * choice.level, choice.level, color="tab:green", alpha=0.15, label=reached)
        ax.axvline(choice.k, color="tab:red", linestyle="--", label=f"chosen: k = {choice.k}")
        ax.set(xlabel="neighbours k", ylabel="expected positives among unlabeled rows", xlim=(0, len(ks) + 1))
        ax.set_ylim(0, 1.15 * max(float(choice.expected.max()), 1e-12))
        ax.set_title("Expected positives" + (f", {self.name}" if self.name else ""))
        ax.legend(loc="lower right")
        self.ax_, self.figure_ = ax, ax.get_figure()  # type: ignore[assignment]
        return self
