"""Lift curves are drawn with their band and legend; several models share an axis."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pubench.errors import DataError
from pubench.metrics.aul import lift_curve
from pubench.metrics.intervals import aul_pu_interval, sensitivity_band
from pubench.metrics.lift_display import LiftCurveDisplay
from pubench.types import BoolVector, FloatVector


@pytest.fixture(scope="module")
def table() -> tuple[BoolVector, FloatVector, FloatVector]:
    generator = np.random.default_rng(0)
    s = np.arange(3000) < 60
    first, second = generator.standard_normal((2, 3000))
    return s, first + 1.5 * s, second + s


def legend(ax: Axes) -> list[str]:
    drawn = ax.get_legend()
    assert drawn is not None
    return [text.get_text() for text in drawn.get_texts()]


def test_it_draws_the_curve_its_band_and_a_legend(table: tuple[BoolVector, FloatVector, FloatVector]) -> None:
    s, scores, _ = table
    display = LiftCurveDisplay.from_predictions(s, scores, name="boosting", confidence=0.9)
    curve, interval = lift_curve(s, scores), aul_pu_interval(s, scores, 0.9)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.share)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.sensitivity)
    outline = display.band_.get_paths()[0].vertices
    assert np.asarray(outline)[:, 1].min() == pytest.approx(sensitivity_band(curve, 60, 0.9).low.min())
    label = legend(display.ax_)[0]
    assert label.startswith("boosting: ")
    assert f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]" in label
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()
    assert display.figure_ is display.ax_.figure


def test_several_models_share_an_axis_and_one_random_line(
    table: tuple[BoolVector, FloatVector, FloatVector],
) -> None:
    s, a, b = table
    first = LiftCurveDisplay.from_predictions(s, a, name="a")
    second = LiftCurveDisplay.from_predictions(s, b, name="b", ax=first.ax_)
    assert second.ax_ is first.ax_
    assert first.line_.get_color() != second.line_.get_color()
    assert [label.split(":")[0] for label in legend(first.ax_)] == ["a", "b", "Random"]
    assert len(first.ax_.collections) == 2


def test_a_figure_outside_pyplot_will_do(table: tuple[BoolVector, FloatVector, FloatVector]) -> None:
    s, a, _ = table
    figure = Figure()
    display = LiftCurveDisplay.from_predictions(s, a, ax=figure.subplots())
    assert display.figure_ is figure
    assert plt.get_fignums() == []


def test_a_logarithmic_share_shows_the_left_end(table: tuple[BoolVector, FloatVector, FloatVector]) -> None:
    s, a, b = table
    display = LiftCurveDisplay.from_predictions(s, a, log_share=True)
    LiftCurveDisplay.from_predictions(s, b, log_share=True, ax=display.ax_)
    assert display.ax_.get_xscale() == "log"
    left, right = display.ax_.get_xlim()
    assert left == min(np.min(np.asarray(line.get_xdata())) for line in display.ax_.lines) > 0
    assert left < 0.01
    assert right == 1
    curve = lift_curve(s, a)
    share, drawn = np.asarray(display.line_.get_xdata()), np.asarray(display.line_.get_ydata())
    np.testing.assert_allclose(drawn, np.interp(share, curve.share, curve.sensitivity))


def test_a_display_can_be_drawn_again_with_other_looks(
    table: tuple[BoolVector, FloatVector, FloatVector],
) -> None:
    s, a, _ = table
    display = LiftCurveDisplay.from_predictions(s, a)
    again = display.plot(color="black", label="mine")
    assert again is display
    assert display.line_.get_color() == "black"
    assert legend(display.ax_)[0] == "mine"


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)]
)
def test_an_estimator_is_scored_by_its_positive_class(estimator: LogisticRegression) -> None:
    generator = np.random.default_rng(1)
    X = generator.standard_normal((400, 2))
    s = generator.random(400) < 1 / (1 + np.exp(2 - 2 * X[:, 0]))
    display = LiftCurveDisplay.from_estimator(estimator.fit(X, s), X, s)
    expected = aul_pu_interval(s, estimator.predict_proba(X)[:, 1])
    assert display.interval.estimate == pytest.approx(expected.estimate)
    assert display.name == type(estimator).__name__
    named = np.where(s, "fraud", "unknown")  # the positive class comes first
    display = LiftCurveDisplay.from_estimator(
        estimator.fit(X, named), X, named, pos_label="fraud", name="mine"
    )
    assert display.interval.estimate == pytest.approx(expected.estimate)
    assert display.name == "mine"


def test_bad_input_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(DataError):
        LiftCurveDisplay.from_predictions([0, 0], [1.0, 2.0])
    assert plt.get_fignums() == []
