"""Whom to call: what the best unlabeled rows hold, where to stop, and whether probabilities are right."""

import shlex

from pubench.decision.call_list import CallRow
from pubench.decision.hidden_positives import Hidden, HiddenPositives
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
from pubench.report.call_charts import profit_chart, reliability_chart
from pubench.report.values import Report

#: Length of the list in the command, as long as there are that many rows.
_USUAL_LENGTH = 1000
_STOP = "Where to stop"


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
