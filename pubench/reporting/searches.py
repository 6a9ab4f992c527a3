"""Pictures of a search: its trials, its parameters, and the choice of k."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from pubench.neighbors.selection import REACHED
from pubench.reporting import figures
from pubench.reporting.markup import Markup, element
from pubench.reporting.report import Neighbours
from pubench.reporting.scales import around
from pubench.reporting.svg import Axis, Frame, Point, cross, dot, line
from pubench.tuning.study import Trial

_SLICE_HEIGHT = 220
#: Values that span more than this many times themselves are drawn on a logarithmic axis.
_WIDE_RANGE = 20
_LONGEST_NAME = 11


def history(trials: Sequence[Trial], chosen: Container[int], best: Trial, width: int) -> Markup:
    """Return the trials by number: values, the best so far, and below the axis those that failed.

    Args:
        trials: all of them.
        chosen: the numbers of those that the tuned model is made of.
        best: the best one alone.
        width: of the picture.
    """
    judged = [trial for trial in trials if trial.value is not None]
    low, high = _seen(judged)
    numbers = [trial.number for trial in trials]
    across = Axis(
        min(numbers) - 0.5, max(numbers) + 0.5, "Trial", "{:.0f}".format, ticks=_numbers(numbers, width)
    )
    frame = Frame(width, 280, across, Axis(low, high, "AUL_PU within the search", "{:.3f}".format))
    return frame.draw(
        f"{len(trials)} trials; the best one is number {best.number} with {figures.area(best.value or 0)}",
        line(frame.place(_best_so_far(judged)), "best-so-far", "Best so far"),
        [_mark(frame, trial, is_chosen=trial.number in chosen) for trial in trials],
    )


def _seen(judged: Sequence[Trial]) -> tuple[float, float]:
    """Return the range of values that is drawn: a few very bad trials must not press all others into one line."""
    values = np.array([trial.value for trial in judged], dtype=np.float64)
    top = float(values.max())
    floor = top - 4 * (top - float(np.quantile(values, 0.25)))
    return around([max(floor, float(values.min())) if floor < top else float(values.min()), top])


def _numbers(numbers: Sequence[int], width: int) -> tuple[float, ...]:
    step = max(1, round((max(numbers) - min(numbers) + 1) / max(3, width // 70)))
    step = next((m for m in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if m >= step), step)
    return tuple(float(n) for n in range(min(numbers), max(numbers) + 1) if n % step == 0)


def _best_so_far(judged: Sequence[Trial]) -> list[Point]:
    """Return a staircase over the trials that saw all folds: what was stopped early is only estimated."""
    points: list[Point] = []
    best = -np.inf
    for trial in (trial for trial in judged if trial.is_complete):
        points.append((trial.number, best if points else float(trial.value or 0)))
        best = max(best, float(trial.value or 0))
        points.append((trial.number, best))
    return [*points, (judged[-1].number, best)] if points else []


def _mark(frame: Frame, trial: Trial, *, is_chosen: bool) -> Markup:
    name = f"Trial {trial.number}: {trial.configuration}"
    if trial.value is None:
        return cross(
            (frame.x(trial.number), frame.y.start), "failed", f"{name}, {trial.status}: {trial.reason}"
        )
    place = (frame.x(trial.number), frame.y(trial.value))
    told = f"{name}, {figures.area(trial.value)}, {figures.seconds(trial.seconds)}"
    if trial.stopped_early:
        return dot(place, "stopped", f"{told}, stopped early", 3.5)
    if is_chosen:
        return dot(place, "chosen", f"{told}, chosen", 6)
    return dot(place, "done", told, 3.5)


def slice_of(trials: Sequence[Trial], name: str, chosen: Container[int], width: int) -> Markup | None:
    """Return the value of trials against one parameter, where at least two of them have it; else None."""
    having = [trial for trial in trials if trial.value is not None and name in trial.params]
    if len(having) < 2:
        return None
    across, places = _parameter_axis([trial.params[name] for trial in having], name.rpartition(".")[2])
    upright = Axis(*_seen(having), "AUL_PU", "{:.3f}".format)
    frame = Frame(width, _SLICE_HEIGHT, across, upright, left=46, right=22)
    marks = []
    for trial, place in zip(having, places, strict=True):
        kind = "chosen" if trial.number in chosen else "stopped" if trial.stopped_early else "done"
        told = (
            f"Trial {trial.number}: {figures.setting(trial.params[name])}, {figures.area(trial.value or 0)}"
        )
        size = 5.5 if kind == "chosen" else 3.5
        marks.append((kind, dot((frame.x(place), frame.y(trial.value or 0)), kind, told, size)))
    last = sorted(marks, key=lambda mark: mark[0] == "chosen")  # chosen ones on top
    return frame.draw(f"AUL_PU of trials against {name}", [mark for _, mark in last])


def _parameter_axis(values: Sequence[Any], title: str) -> tuple[Axis, list[float]]:
    """Return an axis for a parameter's values and where each stands on it."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        numbers = [float(value) for value in values]
        if min(numbers) > 0 and max(numbers) / min(numbers) > _WIDE_RANGE:
            return Axis(min(numbers) / 1.2, max(numbers) * 1.2, f"{title}, logarithmic", log=True), numbers
        return Axis(*around(numbers), title), numbers
    words = sorted({figures.setting(value) for value in values})
    axis = Axis(
        -0.5,
        len(words) - 0.5,
        title,
        lambda place: _short(words[round(place)]),
        ticks=tuple(float(i) for i in range(len(words))),
    )
    return axis, [float(words.index(figures.setting(value))) for value in values]


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST_NAME else f"{word[: _LONGEST_NAME - 1]}…"


def expected_positives(neighbours: Neighbours, width: int) -> Markup:
    """Return E_k over k, the range that counts as its plateau, and k."""
    choice, k = neighbours.choice, neighbours.k
    ks = range(1, len(choice.expected) + 1)
    most = max(float(choice.expected.max()), 1e-9)
    across = Axis(0.0, len(choice.expected) + 1.0, "Neighbours k", "{:.0f}".format)
    frame = Frame(width, 280, across, Axis(0.0, 1.12 * most, "Expected positives among unlabeled rows, E_k"))
    raw, smooth = (
        frame.place(zip(ks, values.tolist(), strict=True)) for values in (choice.expected, choice.smoothed)
    )
    top, bottom = frame.y(choice.level), frame.y(REACHED * choice.level)
    plateau = element(
        "rect",
        class_="plateau",
        x=frame.x.start,
        y=top,
        width=frame.x.end - frame.x.start,
        height=max(1.0, bottom - top),
    )
    chosen = [(frame.x(k), frame.y.start), (frame.x(k), frame.y.end)]
    beside = {"x": frame.x(k) + 6, "y": frame.y.start - 8}
    return frame.draw(
        f"E_k for k from 1 to {len(choice.expected)}, with k = {k}",
        plateau,
        line(smooth, "smooth", "Median of five"),
        line(chosen, "chosen-k", f"k = {k}"),
        [
            dot(place, "done", f"k = {n}: {value:.1f}", 2.5)
            for n, place, value in zip(ks, raw, choice.expected, strict=True)
        ],
        element("text", f"k = {k}", class_="callout", attributes=beside),
    )


def ranked(shares: Mapping[str, float], most: int) -> list[tuple[str, float]]:
    """Return the largest shares, largest first; of equal ones the first named."""
    return sorted(shares.items(), key=lambda item: -item[1])[:most]
