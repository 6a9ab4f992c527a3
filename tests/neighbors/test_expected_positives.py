"""The choice of k is drawn with the curve it was made from."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pubench.errors import DataError
from pubench.neighbors.expected_positives import ExpectedPositivesDisplay
from pubench.neighbors.k_choice import choose_k
from pubench.neighbors.neighbor_ranks import PositiveNeighbors
from pubench.neighbors.search import positive_neighbors


@pytest.fixture(scope="module")
def neighbors() -> PositiveNeighbors:
    generator = np.random.default_rng(0)
    s = np.arange(600) < 40
    return positive_neighbors(generator.standard_normal((600, 3)) + s[:, None], s, n_threads=1)


def legend(ax: Axes) -> list[str]:
    drawn = ax.get_legend()
    assert drawn is not None
    return [text.get_text() for text in drawn.get_texts()]


def test_it_draws_the_curve_and_the_chosen_k(neighbors: PositiveNeighbors) -> None:
    display = ExpectedPositivesDisplay.from_neighbors(neighbors)
    k = choose_k(neighbors.expected_positives()).k
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, 51))
    np.testing.assert_array_equal(display.line_.get_ydata(), neighbors.expected_positives())
    assert f"chosen: k = {k}" in legend(display.ax_)
    assert any(np.array_equal(line.get_xdata(), [k, k]) for line in display.ax_.lines)
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()
    assert display.figure_ is display.ax_.figure


def test_the_title_names_the_data(neighbors: PositiveNeighbors) -> None:
    assert ExpectedPositivesDisplay.from_neighbors(neighbors).ax_.get_title() == "Expected positives"
    named = ExpectedPositivesDisplay.from_neighbors(neighbors, name="Bank 1")
    assert named.ax_.get_title() == "Expected positives, Bank 1"


def test_a_given_axis_is_drawn_on_and_no_figure_is_opened(neighbors: PositiveNeighbors) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = ExpectedPositivesDisplay.from_neighbors(neighbors, ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert len(left.lines) == 0
    assert plt.get_fignums() == []


def test_a_new_figure_is_opened_and_can_be_saved(neighbors: PositiveNeighbors) -> None:
    display = ExpectedPositivesDisplay.from_neighbors(neighbors)
    assert len(plt.get_fignums()) == 1
    assert display.figure_ is not None
    display.figure_.canvas.draw()


def test_a_display_can_be_drawn_again_with_other_looks(neighbors: PositiveNeighbors) -> None:
    display = ExpectedPositivesDisplay(choice=choose_k(neighbors.expected_positives()))
    assert display.plot(ax=Figure().subplots(), color="red", label="mine") is display
    assert display.line_.get_color() == "red"
    assert "mine" in legend(display.ax_)


@pytest.mark.parametrize("curve", [np.zeros(50), [3.0], np.arange(5.0)], ids=["zeros", "one", "five"])
def test_curves_at_the_edge_are_drawn(curve: np.ndarray) -> None:
    figure = Figure(layout="constrained")
    display = ExpectedPositivesDisplay(choice=choose_k(curve)).plot(ax=figure.subplots())
    figure.canvas.draw()
    low, high = display.ax_.get_ylim()
    assert low == 0
    assert high > np.max(curve)


def test_what_can_not_be_chosen_from_opens_no_figure() -> None:
    nothing = PositiveNeighbors(np.array([0, 0]), np.array([], np.int32), np.array([], np.int64), 0)
    with pytest.raises(DataError):
        ExpectedPositivesDisplay.from_neighbors(nothing)
    assert plt.get_fignums() == []
