"""k is where the rise of the expected positives ends, on curves whose answer is plain to see; it is drawn with its curve."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pubench.errors import DataError
from pubench.neighbors.k_choice import REACHED, SMALLEST_K, ExpectedPositivesDisplay, choose_k
from pubench.neighbors.neighbor_ranks import PositiveNeighbors
from pubench.neighbors.search import positive_neighbors

KS = np.arange(1, 51)


def rising_to(plateau: int, length: int = 50) -> npt.NDArray[np.float64]:
    """In a straight line up to `plateau`, then level."""
    return 100 * np.minimum(np.arange(1, length + 1), plateau) / plateau


def test_a_curve_that_only_rises_gives_a_k_near_its_end() -> None:
    assert choose_k(KS).k == 47  # the first from 95% of 49 on, the last smoothed value
    assert choose_k(KS**2.0).k == 48


@pytest.mark.parametrize(
    "curve", [50.0 / KS, 100.0 - KS, np.exp(-KS)], ids=["hyperbola", "line", "exponential"]
)
def test_a_curve_that_only_falls_gives_the_smallest(curve: npt.NDArray[np.float64]) -> None:
    assert choose_k(curve).k == SMALLEST_K


@pytest.mark.parametrize("height", [1e-300, 1.0, 1e12])
def test_a_flat_curve_gives_the_smallest(height: float) -> None:
    choice = choose_k(np.full(50, height))
    assert choice.k == SMALLEST_K
    assert choice.level == height


def test_a_curve_of_zeros_gives_the_smallest() -> None:
    choice = choose_k(np.zeros(50))
    assert choice.k == SMALLEST_K
    assert choice.level == 0


@pytest.mark.parametrize("plateau", [15, 20, 30, 40])
def test_a_plateau_gives_its_beginning(plateau: int) -> None:
    assert choose_k(rising_to(plateau)).k == np.ceil(REACHED * plateau)


def test_a_plateau_that_begins_early_gives_the_smallest() -> None:
    assert choose_k(rising_to(5)).k == SMALLEST_K


@pytest.mark.parametrize("at", [11, 18, 25, 40])
@pytest.mark.parametrize("factor", [0.0, 10.0])
def test_a_spike_of_one_or_two_values_changes_nothing(at: int, factor: float) -> None:
    curve = np.full(50, 80.0)
    curve[at : at + 2] *= factor
    choice = choose_k(curve)
    assert choice.k == SMALLEST_K
    assert choice.level == 80


def test_what_stands_below_the_smallest_k_is_not_the_level() -> None:
    curve = rising_to(30)
    curve[:6] = 1000
    assert choose_k(curve).k == choose_k(rising_to(30)).k


@pytest.mark.parametrize("length", [1, 2, 3, 9])
@pytest.mark.parametrize("step", [-1.0, 0.0, 1.0])
def test_with_fewer_values_than_the_smallest_k_the_last_one_is_chosen(length: int, step: float) -> None:
    choice = choose_k(20 + step * np.arange(length))
    assert choice.k == length
    assert choice.smoothed.shape == (length,)


def test_a_little_noise_moves_k_a_little() -> None:
    generator = np.random.default_rng(1)
    chosen = [choose_k(rising_to(30) * (1 + 0.01 * generator.standard_normal(50))).k for _ in range(200)]
    assert min(chosen) >= 26
    assert max(chosen) <= 33


def test_noise_alone_still_gives_a_k_in_range() -> None:
    generator = np.random.default_rng(2)
    for _ in range(100):
        choice = choose_k(generator.random(50))
        assert SMALLEST_K <= choice.k <= 50


CURVES = st.lists(st.floats(0, 1e9, allow_subnormal=False), min_size=1, max_size=80)


@given(CURVES)
@settings(deadline=None)
def test_k_is_the_first_that_reaches_the_level(values: list[float]) -> None:
    choice = choose_k(values)
    first = min(SMALLEST_K, len(values))
    reached = choice.smoothed >= REACHED * choice.level
    assert first <= choice.k <= len(values)
    assert choice.level == choice.smoothed[first - 1 :].max()
    assert reached[choice.k - 1]
    assert not reached[first - 1 : choice.k - 1].any()


@given(CURVES, st.integers(-20, 20))
@settings(deadline=None)
def test_the_scale_of_the_curve_does_not_matter(values: list[float], exponent: int) -> None:
    normal = np.where(np.array(values) < 1e-200, 0, values)  # a power of 2 then rounds nothing
    assert choose_k(normal * 2.0**exponent).k == choose_k(normal).k


@given(CURVES)
@settings(deadline=None)
def test_the_same_curve_gives_the_same_choice_and_stays_as_it_was(values: list[float]) -> None:
    curve = np.array(values)
    first, second = choose_k(curve), choose_k(values)
    assert (first.k, first.level) == (second.k, second.level)
    np.testing.assert_array_equal(first.smoothed, second.smoothed)
    np.testing.assert_array_equal(curve, values)


def test_a_choice_tells_what_it_was_made_from() -> None:
    choice = choose_k(rising_to(30))
    np.testing.assert_array_equal(choice.expected, rising_to(30))
    assert choice.smoothed.shape == (50,)
    assert choice.smoothed[20] == np.median(rising_to(30)[18:23])
    assert choice.rule.startswith(f"k = {choice.k}: ")
    assert "95%" in choice.rule
    for array in (choice.expected, choice.smoothed):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    "wrong",
    [[], [1.0, np.nan], [np.inf] * 12, np.ones((3, 4)), np.float64(3)],
    ids=["none", "nan", "inf", "2d", "0d"],
)
def test_what_is_no_curve_is_refused(wrong: Any) -> None:
    with pytest.raises(DataError, match="at least one value, each finite"):
        choose_k(wrong)


def test_a_spike_at_the_end_is_no_plateau() -> None:
    curve = np.full(50, 100.0)
    curve[-1] = 1000.0
    assert choose_k(curve).k == 10


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
