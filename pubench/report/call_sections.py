"""Whom to call: what the best unlabeled rows hold, where to stop, and whether probabilities are right; with their charts."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pubench.decision.calibration import ReliabilityBin
from pubench.decision.call_list import CallRow
from pubench.decision.hidden_positives import Hidden, HiddenPositives
from pubench.decision.profit import ProfitCurve
from pubench.decision.recall import Range
from pubench.html import numbers
from pubench.html.markup import Markup, element, join
from pubench.html.parts import (
    Section,
    bullets,
    card_cell,
    figure,
    legend,
    listing,
    paragraph,
    stacked,
    unbroken,
)
from pubench.html.svg import Axis, ChartFrame, Point, band, dot, line, padded_range
from pubench.report.values import Report
from pubench.types import FloatVector, IndexVector

#: Length of the list in the command, as long as there are that many rows.
_USUAL_LENGTH = 1000
_STOP = "Where to stop"
_HEIGHT = 300


def calls_section(report: Report) -> Section:
    """Return the call table, what of it rests on the prior, the profit over depth, and the reliability of probabilities."""
    calls = report.result.call_table
    body = join(
        paragraph(
            f"What the best of all {numbers.count(calls.n_unlabeled)} unlabeled rows hold, measured by where the model's twin "
            f"ranks the {numbers.counted(calls.n_labelled, 'labelled positive')} of the holdout. Ranges are "
            f"{calls.confidence:.0%} intervals."
        ),
        _table(report),
        bullets(calls.notes),
        _what_it_rests_on(calls.hidden),
        element("h3", "Write the list"),
        listing(_command(report)),
        _profit(report),
        _reliability(report),
    )
    return Section("calls", "Whom to call", body)


def _table(report: Report) -> Markup:
    calls = report.result.call_table
    titles = ["Best rows", "Lift", "Of all hidden positives"]
    if isinstance(calls.hidden, HiddenPositives):
        titles += ["Positives among them", "Precision"]
    head = (
        element("th", title, scope="col", class_="number" if title != titles[0] else None) for title in titles
    )
    return element(
        "table",
        element("caption", "What the best unlabeled rows hold", class_="visually-hidden"),
        element("thead", element("tr", head)),
        element("tbody", (element("tr", _cells(row, titles)) for row in calls.rows)),
        class_="cards calls",
    )


def _cells(row: CallRow, titles: list[str]) -> list[Markup]:
    name = stacked(numbers.counted(row.rows, "row"), f"{numbers.percent(row.share)} of the unlabeled")
    values = [_ranged(row.lift, numbers.decimal), _ranged(row.found, numbers.percent)]
    if row.positives is not None and row.precision is not None:
        values += [_ranged(row.positives, numbers.whole), _ranged(row.precision, numbers.percent)]
    cells = (card_cell(title, value) for title, value in zip(titles[1:], values, strict=True))
    return [element("th", name, scope="row"), *cells]


def _ranged(value: Range, form: numbers.Form) -> Markup:
    return stacked(form(value.estimate), numbers.between(value.low, value.high, form))


def _what_it_rests_on(hidden: Hidden) -> Markup:
    """Return in plain words which columns need the number of hidden positives, and what changes with it."""
    known = (
        "Lift is how many times as many positives are among these rows as among as many drawn at random. Lift and the share of "
        "all hidden positives need no prior; like all figures here, they assume that the labelled positives are a random sample "
        "of all."
    )
    if isinstance(hidden, HiddenPositives):
        first = join(
            element("strong", "Hidden positives: "),
            f"{hidden.in_words}. Positives and precision rest on this number and are in proportion to it: if half as many are "
            "hidden, half as many are found. Their ranges hold for just these rows, chance included.",
        )
    else:
        first = join(
            element("strong", "How many positives that makes is not known. "),
            f"{hidden.reason} The same command with ",
            element("code", "--prior P"),
            ", the share of positives among all rows, and the ",
            element("code", "--out"),
            " of this run shows it without a new trial.",
        )
    return join(paragraph(first, class_="aside"), paragraph(known, class_="aside"))


def _command(report: Report) -> str:
    rows = min(_USUAL_LENGTH, report.result.call_table.n_unlabeled)
    rows = report.result.calls.top[0] if report.result.calls.top else rows
    run, file = (shlex.quote(text) for text in (str(report.result.out), report.subject.file or "FILE"))
    return f"pubench predict {run} {file} --unlabeled-only --top {rows} --out calls.csv"


def _profit(report: Report) -> Markup | None:
    profit, sentence = report.result.profit, report.result.stop_sentence
    if profit is None:
        return join(element("h3", _STOP), paragraph(sentence)) if sentence else None
    return unbroken(
        element("h3", _STOP),
        paragraph(sentence),
        legend(
            [
                ("line series-1", "Expected profit, with its range"),
                ("line cut", "Best cut"),
                ("plateau", "Cannot be told from the best"),
            ]
        ),
        figure(
            lambda width: profit_chart(profit, width),
            "Profit by number of calls. At the best cut it is a little too high, because the cut was selected for it.",
        ),
    )


def _reliability(report: Report) -> Markup | None:
    bins = report.reliability
    if not bins:
        return None
    return unbroken(
        element("h3", "Are the probabilities right?"),
        paragraph(
            "They were calibrated on the rows of the search. Here the rows of the holdout are grouped by probability, with about "
            "equal numbers of labelled positives in each group. Dots near the dashed line are right, above it too low, below it "
            "too high. A wrong prior moves both axes alike and cannot be seen."
        ),
        figure(
            lambda width: reliability_chart(bins, width),
            f"{numbers.counted(len(bins), 'group')} of the holdout; whiskers are 95% intervals.",
        ),
    )


def profit_chart(profit: ProfitCurve, width: int) -> Markup:
    """Return the profit by number of calls: its range, the best cut, and the cuts that cannot be told from it.

    Calls beyond twice the best cut, and well beyond what might be as good, are left out: all they do is cost.
    """
    end = _deepest(profit)
    rows = np.append(profit.rows[profit.rows < end], end)
    low, middle, high = (
        np.interp(rows, profit.rows, values) for values in (profit.low, profit.profit, profit.high)
    )
    y_axis = Axis(*padded_range([0.0, float(low.min()), float(high.max())]), "Profit", "{:,.10g}".format)
    frame = ChartFrame(
        width,
        _HEIGHT,
        Axis(0.0, float(end), "Rows called, best first", numbers.whole),
        y_axis,
        left=72,
        right=24,
    )
    first, last = frame.x(profit.first), frame.x(profit.last)
    alike = element(
        "rect",
        class_="plateau",
        x=first,
        y=frame.y.end,
        width=max(1.0, last - first),
        height=frame.y.start - frame.y.end,
    )
    best = frame.x(profit.best)
    return frame.draw(
        profit.sentence,
        alike,
        line(
            [(frame.x.start, frame.y(0)), (frame.x.end, frame.y(0))], "reference", "Neither profit nor loss"
        ),
        band(_positions(frame, rows, low), _positions(frame, rows, high), "series-1"),
        line(_positions(frame, rows, middle), "series-1"),
        line([(best, frame.y.start), (best, frame.y.end)], "cut", f"The best cut: {profit.best:,} rows"),
    )


def _positions(frame: ChartFrame, rows: IndexVector, values: FloatVector) -> list[Point]:
    return frame.positions(zip(rows.tolist(), values.tolist(), strict=True))


def _deepest(profit: ProfitCurve) -> int:
    n_unlabeled = int(profit.rows[-1])
    wanted = max(2 * profit.best, round(1.3 * profit.last), n_unlabeled // 100, 1)
    return min(wanted, n_unlabeled)


def reliability_chart(bins: Sequence[ReliabilityBin], width: int) -> Markup:
    """Return for groups of rows the mean probability and the share of positives that labelled rows imply, at most 1."""
    shown = [replace(one, observed=Range(*(min(share, 1.0) for share in one.observed))) for one in bins]
    most = min(1.0, 1.05 * max(max(one.predicted, one.observed.high) for one in shown))
    x_axis, y_axis = (
        Axis(0.0, most, title, numbers.short_percent)
        for title in ("Mean probability of a group", "Share of positives that its labelled rows imply")
    )
    frame = ChartFrame(width, _HEIGHT, x_axis, y_axis, right=24)
    return frame.draw(
        "Reliability: " + "; ".join(_in_words(one) for one in shown),
        line(frame.positions([(0.0, 0.0), (most, most)]), "reference", "Probabilities that are right"),
        (_group(frame, one) for one in shown),
    )


def _group(frame: ChartFrame, one: ReliabilityBin) -> Markup:
    """Return the dot of a group with whiskers."""
    low, middle, high = frame.positions(
        (one.predicted, share) for share in (one.observed.low, one.observed.estimate, one.observed.high)
    )
    return join(line([low, high], "whisker series-1"), dot(middle, "mark series-1", _in_words(one), 5))


def _in_words(one: ReliabilityBin) -> str:
    share = numbers.between(one.observed.low, one.observed.high, numbers.percent)
    return (
        f"{numbers.counted(one.rows, 'row')} with {numbers.percent(one.predicted)}, observed "
        f"{numbers.percent(one.observed.estimate)} ({share})"
    )
