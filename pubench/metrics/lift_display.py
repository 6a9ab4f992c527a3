"""Draws lift curves, by scikit-learn's conventions for displays, and saves them; the figures come from the other modules."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from pubench.metrics.aul import LiftCurve, lift_curve
from pubench.metrics.intervals import AULInterval, SensitivityBand, aul_pu_interval, sensitivity_band
from pubench.metrics.ranks import Label
from pubench.system.files import write_whole
from pubench.types import BoolVector, FloatVector

if TYPE_CHECKING:  # matplotlib takes half a second to import: only drawing needs it
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_RANDOM = "pubench-random-line"
_GRID_POINTS = 300


class LiftCurveDisplay:
    """A lift curve with its interval band; make one by `from_predictions` or `from_estimator`.

    The band is Wilson's interval of the sensitivity at each share, on its own; the legend gives AUL_PU and its
    interval. Several models go on one axis by passing `ax`.

    Attributes:
        curve: the lift curve.
        band: pointwise bounds at the vertices of `curve`.
        interval: AUL_PU and its interval.
        name: what the legend calls the model; None: nothing.
        ax_: where it was drawn; this and the following exist after `plot`.
        figure_: the figure of `ax_`.
        line_: the curve.
        band_: the filled band.
    """

    ax_: "Axes"
    figure_: "Figure | None"
    line_: "Line2D"
    band_: "FillBetweenPolyCollection"

    def __init__(
        self, *, curve: LiftCurve, band: SensitivityBand, interval: AULInterval, name: str | None = None
    ) -> None:
        self.curve = curve
        self.band = band
        self.interval = interval
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        s: npt.ArrayLike,
        scores: npt.ArrayLike,
        *,
        name: str | None = None,
        confidence: float = 0.95,
        pos_label: Label | None = None,
        log_share: bool = False,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Compute and draw the lift curve of scores.

        Args:
            s: shape (n,), labels as in `aul_pu_score`.
            scores: shape (n,), scores as in `aul_pu_score`.
            name: what the legend calls the model.
            confidence: of the band and of AUL_PU's interval.
            pos_label: the value of `s` that marks a labelled positive. None: True or 1.
            log_share: see `plot`.
            ax: where to draw; None: a new figure.
            **kwargs: passed to matplotlib's `Axes.plot` for the curve.

        Raises:
            DataError: as `aul_pu_score`.
            ParameterError: `confidence` is out of its range.
        """
        interval = aul_pu_interval(s, scores, confidence, pos_label=pos_label)
        curve = lift_curve(s, scores, pos_label=pos_label)
        band = sensitivity_band(curve, interval.n_labelled, confidence)
        display = cls(curve=curve, band=band, interval=interval, name=name)
        return display.plot(ax=ax, log_share=log_share, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        s: npt.ArrayLike,
        *,
        name: str | None = None,
        pos_label: Label | None = None,
        **kwargs: Any,
    ) -> Self:
        """Score X with a fitted classifier, then go on as `from_predictions`, which takes the other arguments.

        The score is `decision_function` or else the positive column of `predict_proba`; the positive class is
        `pos_label`, or else the last of `classes_`. The name is that of the estimator's class, unless given.
        """
        scores = _response(estimator, X, pos_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(s, scores, name=name, pos_label=pos_label, **kwargs)

    def plot(self, ax: "Axes | None" = None, *, log_share: bool = False, **kwargs: Any) -> Self:
        """Draw the curve, its band and, once per axis, the line of random scores.

        Args:
            ax: where to draw; None: a new figure.
            log_share: draw the share on a logarithmic axis: with extreme imbalance it is the left end that matters.
            **kwargs: passed to matplotlib's `Axes.plot` for the curve.
        """
        if ax is None:
            import matplotlib.pyplot as plt  # noqa: PLC0415  heavy, and only needed here

            _, ax = plt.subplots(figsize=(7.2, 5.4), layout="constrained")
        share, sensitivity, low, high = self._drawn_points(log_share)
        (self.line_,) = ax.plot(share, sensitivity, **{"label": self._label(), "linewidth": 1.8, **kwargs})
        self.band_ = ax.fill_between(share, low, high, color=self.line_.get_color(), alpha=0.18, linewidth=0)
        _draw_random_line(ax, float(share[0]))
        _format_axes(ax, log_share, self._title())
        self.ax_ = ax
        self.figure_ = ax.get_figure(root=True)
        return self

    def _label(self) -> str:
        interval = self.interval
        figures = f"AUL$_{{PU}}$ = {interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
        return figures if self.name is None else f"{self.name}: {figures}"

    def _title(self) -> str:
        return f"{self.interval.n_labelled} labelled; {100 * self.interval.confidence:g}% band at each share"

    def _drawn_points(self, log_share: bool) -> tuple[FloatVector, FloatVector, FloatVector, FloatVector]:
        share, sensitivity, _ = self.curve
        if not log_share:
            return share, sensitivity, *self.band
        # A logarithmic axis has no 0: start where the sensitivity is 1%. Straight lines bend there: add points.
        start = share[np.searchsorted(sensitivity, 0.01)]
        grid = np.union1d(share[share >= start], np.geomspace(start, 1.0, _GRID_POINTS))
        low, high = (np.interp(grid, share, bound) for bound in self.band)
        return grid, np.interp(grid, share, sensitivity), low, high


def _response(estimator: Any, X: Any, pos_label: Label | None) -> FloatVector:
    positive = 1 if pos_label is None else list(estimator.classes_).index(pos_label)
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
        return scores if positive == 1 else -scores
    return np.asarray(estimator.predict_proba(X))[:, positive]


def _draw_random_line(ax: "Axes", start: float) -> None:
    if any(line.get_gid() == _RANDOM for line in ax.lines):
        return
    share = np.linspace(0, 1, 2) if start == 0 else np.geomspace(start, 1, _GRID_POINTS)
    ax.plot(
        share, share, linestyle="--", color="0.45", linewidth=1, label="Random: 0.500", gid=_RANDOM, zorder=1
    )


def _format_axes(ax: "Axes", log_share: bool, title: str) -> None:
    if log_share:
        ax.set_xscale("log")
    ax.set_xlim(min(float(np.min(np.asarray(line.get_xdata()))) for line in ax.lines), 1)
    ax.set_ylim(0, 1.01)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
    ax.set_xlabel("Share of all rows predicted positive, highest scores first")
    ax.set_ylabel("Sensitivity: share of labelled positives among them")
    ax.grid(visible=True, color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax, title, "upper left" if log_share else "lower right")


def _legend(ax: "Axes", title: str, corner: Literal["upper left", "lower right"]) -> None:
    entries = zip(*ax.get_legend_handles_labels(), strict=True)
    models_first = sorted(entries, key=lambda entry: entry[0].get_gid() == _RANDOM)
    handles, labels = zip(*models_first, strict=True)
    ax.legend(handles, labels, title=title, loc=corner, frameon=False, alignment="left")


def save_lift_curves(s: BoolVector, scores: Mapping[str, FloatVector], confidence: float, path: Path) -> None:
    """Draw the lift curve of every model on one axis and save it; the suffix of `path` decides the format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - heavy imports happen when used
    from matplotlib.figure import Figure  # noqa: PLC0415

    # A figure of its own, outside pyplot: no global state, no window, whatever the backend.
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    for name, values in scores.items():
        LiftCurveDisplay.from_predictions(s, values, name=name, confidence=confidence, ax=ax)
    with write_whole(path) as temporary:
        figure.savefig(temporary, dpi=150)
