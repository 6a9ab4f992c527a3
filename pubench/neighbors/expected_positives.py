"""Draws the choice of k, by scikit-learn's conventions for displays: the paper's Figure 3."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pubench.neighbors.k_choice import REACHED, SMALLEST_K, KChoice, choose_k
from pubench.neighbors.neighbor_ranks import PositiveNeighbors

if TYPE_CHECKING:  # matplotlib takes half a second to import: only drawing needs it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


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
