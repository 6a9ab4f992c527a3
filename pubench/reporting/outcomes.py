"""The sections that say how good the tuned model is."""

from pubench.reporting import figures
from pubench.reporting.lifts import lift_panels, whisker, whisker_axis, whisker_scale
from pubench.reporting.markup import Child, Markup, element, join
from pubench.reporting.parts import AUL, Section, legend, panels, paragraph, stacked
from pubench.reporting.report import Report
from pubench.tuning.outcome import DEFAULT, TUNED, Contender

_CALLED = {TUNED: "Tuned", DEFAULT: "Default", "naive": "Naive", "bagging": "Bagging"}


def called(contender: str) -> str:
    """Return what a contender is called on the page."""
    return _CALLED.get(contender, contender)


def verdict(report: Report) -> Markup:
    """Return the head of the page: data set, day, verdict and the one number."""
    subject, interval = report.subject, report.found.outcome.contenders[TUNED].interval
    stand_in = element("span", "synthetic stand-in", class_="tag") if subject.stand_in else None
    day = report.provenance.day
    number = element(
        "div",
        element("div", AUL, " on the holdout", class_="label"),
        element("div", figures.area(interval.estimate), class_="headline"),
        element(
            "div",
            f"{100 * interval.confidence:g}% interval {figures.span(interval.low, interval.high)}",
            class_="interval",
        ),
        element(
            "div",
            f"{figures.count(interval.n_labelled)} labelled positives among {figures.count(len(report.s))} rows",
            class_="label",
        ),
        class_="number-card",
    )
    return element(
        "header",
        paragraph(
            "pubench tune · ",
            element("time", f"{day.day} {day:%B %Y}", datetime=day.isoformat()),
            class_="kicker",
        ),
        element("h1", subject.name, " " if stand_in else None, stand_in),
        paragraph(subject.title, class_="subtitle") if subject.title else None,
        element(
            "div",
            number,
            element(
                "div",
                paragraph(report.found.outcome.verdict, class_="verdict"),
                paragraph(report.found.caution.sentence) if report.found.caution.sentence else None,
                paragraph(report.found.blending.sentence),
                paragraph(
                    AUL,
                    " is the chance that a labelled positive is ranked above a row drawn at random: 0.5 is guessing, and no "
                    "negatives are needed to measure it.",
                    class_="muted",
                ),
                paragraph(interval.note, class_="muted") if interval.note else None,
            ),
            class_="hero",
        ),
    )


def comparison(report: Report) -> Section:
    """Return the contenders beside each other."""
    contenders = report.found.outcome.contenders
    inner = report.found.inner_value
    scale = whisker_scale({name: one.interval for name, one in contenders.items()}, inner)
    head = (
        "Model",
        AUL,
        f"{100 * contenders[TUNED].interval.confidence:g}% interval",
        "Tuned minus this",
        "p",
        "Fit",
    )
    rows = [
        element(
            "tr", _cells(report, name, one, whisker(one.interval, scale, i, inner if name == TUNED else None))
        )
        for i, (name, one) in enumerate(contenders.items(), 1)
    ]
    axis = [
        element("td"),
        element("td"),
        element("td", whisker_axis(scale)),
        *(element("td") for _ in range(3)),
    ]
    body = element(
        "table",
        element("caption", "Tuned model and controls on the holdout", class_="unseen"),
        element("thead", element("tr", (element("th", title, scope="col") for title in head))),
        element("tbody", *rows, element("tr", *axis, class_="axis-row", aria_hidden="true")),
        class_="contenders",
    )
    return Section("comparison", "Comparison", join(body, _optimism(report, inner)))


def _cells(report: Report, name: str, one: Contender, picture: Markup) -> list[Markup]:
    compared = report.found.outcome.comparisons.get(name)
    difference: Child = figures.NOTHING
    if compared is not None:
        difference = stacked(
            figures.change(compared.difference), figures.change_span(compared.low, compared.high)
        )
    elif name != TUNED:
        difference = element("span", "same configuration", class_="below")
    # On a phone each row is a block of its own, and every value brings its column's title along.
    return [
        element("th", stacked(called(name), str(one.configuration)), scope="row"),
        _cell(
            "AUL_PU",
            stacked(figures.area(one.interval.estimate), figures.span(one.interval.low, one.interval.high)),
        ),
        element("td", picture, class_="picture"),
        _cell("Tuned minus this", difference),
        _cell("p", figures.chance(compared.p_value) if compared is not None else figures.NOTHING),
        _cell("Fit", figures.seconds(one.seconds)),
    ]


def _cell(title: str, content: Child) -> Markup:
    nothing = " nothing" if content == figures.NOTHING else ""
    return element("td", element("span", content), class_=f"number{nothing}", data_title=title)


def _optimism(report: Report, inner: float) -> Markup:
    found = report.found
    full = None if found.blending.is_taken else found.full.get(found.best.number)
    again = f" ({figures.area(full)} when judged again in full)" if full is not None else ""
    trials = figures.count(sum(trial.value is not None for trial in found.trials))
    if found.is_default:
        return paragraph(
            element("span", class_="swatch hollow"),
            f"Score of the default in the search: {figures.area(inner)}{again}, beside {trials} trials in all. The figures in "
            "the table come from rows that no trial saw.",
            class_="aside",
        )
    what = "a blend chosen from" if found.blending.is_taken else "the best of"
    return paragraph(
        element("span", class_="swatch hollow"),
        f"Score of the search: {figures.area(inner)}{again}. ",
        element("strong", "It is optimistic"),
        f": it belongs to {what} {trials} trials, on rows that chose it. The figures in the table come from rows that no "
        "trial saw; a difference above 0 speaks for the tuned model.",
        class_="aside",
    )


def lift(report: Report) -> Section:
    """Return the lift curves."""
    contenders = report.found.outcome.contenders
    shown = {
        number: (called(name), one.scores)
        for number, (name, one) in enumerate(contenders.items(), 1)
        if name == TUNED or one is not contenders[TUNED]
    }
    entries = [(f"line series-{number}", name) for number, (name, _) in shown.items()]
    note = (
        ""
        if len(shown) == len(contenders)
        else " Contenders of the tuned configuration lie on its curve and are left out."
    )
    body = join(
        paragraph(
            "Read it as: of all labelled positives, so many stand among the rows with the highest scores. ",
            "The second picture stretches the top of the list, which is what gets looked at first.",
        ),
        legend([*entries, ("line reference", "Random order")]),
        panels(
            lift_panels(report.s, shown),
            f"Holdout, {figures.count(int(report.s.sum()))} labelled of {figures.count(len(report.s))} rows; bands are 95% "
            f"intervals at each share on its own.{note}",
        ),
    )
    return Section("lift", "Lift curves", body)
