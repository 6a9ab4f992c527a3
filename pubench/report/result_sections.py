"""How good the model is, and what it uses.

The header of the page with the conclusion, the leaderboard and lift curves; the neighbours that its similarity counts, and its
features.
"""

from collections.abc import Sequence

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element, join
from pubench.html.parts import (
    AUL,
    Section,
    bars,
    bullets,
    card_cell,
    figure,
    largest,
    legend,
    paragraph,
    stacked,
)
from pubench.html.svg import Scale
from pubench.neighbors.k_choice import REACHED, SMALLEST_K
from pubench.report.charts import expected_positives, lift_chart, whisker, whisker_axis, whisker_scale
from pubench.report.values import Report
from pubench.tuning.final_models import DEFAULT, TUNED
from pubench.tuning.standings import LeaderboardRow, Role

#: Numbers of series, which set colours; other contenders have none.
_SERIES = {Role.DEFAULT: 2, Role.BASELINE: 3, Role.ORACLE: 4}
_MAX_FEATURES = 15


def display_name(contender: str) -> str:
    """Return the name of a final model as shown on the page."""
    return {TUNED: "Tuned", DEFAULT: "Default"}.get(contender, contender)


def shown_name(standing: LeaderboardRow) -> str:
    """Return the name of a contender as shown on the page."""
    role, method = standing.entrant.role, standing.entrant.method
    if standing.is_model:
        return "The model" if role is Role.TUNED else f"The model ({role})"
    names = {Role.DEFAULT: "Default", Role.ORACLE: "Oracle", Role.TUNED: f"{method}, tuned"}
    return names.get(role, method)


def page_header(report: Report) -> Markup:
    """Return the header of the page: data set, day, AUL_PU of the model and the conclusion."""
    subject, day = report.subject, report.provenance.day
    stand_in = element("span", "synthetic stand-in", class_="tag") if subject.stand_in else None
    date = element("time", f"{day.day} {day:%B %Y}", datetime=day.isoformat())
    return element(
        "header",
        paragraph("pubench tune · ", date, class_="kicker"),
        element("h1", subject.name, " " if stand_in else None, stand_in),
        paragraph(subject.title, class_="subtitle") if subject.title else None,
        element("div", _conclusion(report), _number_card(report), class_="hero"),
    )


def _number_card(report: Report) -> Markup:
    interval = report.result.tuned.interval
    bounds = numbers.area_interval(interval.low, interval.high)
    labelled, rows = numbers.count(interval.n_labelled), numbers.count(len(report.s))
    return element(
        "div",
        element("div", AUL, " on the holdout", class_="label"),
        element("div", numbers.area(interval.estimate), class_="headline"),
        element("div", f"{100 * interval.confidence:g}% interval {bounds}", class_="interval"),
        element("div", f"{labelled} labelled positives among {rows} rows", class_="label"),
        class_="number-card",
    )


def _conclusion(report: Report) -> Markup:
    result = report.result
    note = result.tuned.interval.note
    return element(
        "div",
        paragraph(result.conclusion.finding, class_="verdict"),
        paragraph(result.conclusion.advice) if result.conclusion.advice else None,
        paragraph(note, class_="muted") if note else None,
    )


def leaderboard_section(report: Report) -> Section:
    """Return the table of all contenders on the holdout, and below it those without scores."""
    standings, inner = report.result.standings, report.result.choice.value
    judged = [standing for standing in standings if standing.interval is not None]
    scale = whisker_scale([one.interval for one in judged if one.interval is not None], inner)
    series = _series(standings)
    head = ("Contender", AUL, "95% interval", "Model minus this", "p", "Fit")
    rows = [
        element("tr", _cells(standing, scale, series.get(number, 0), inner))
        for number, standing in enumerate(standings)
        if standing.interval is not None
    ]
    axis = [
        element("td"),
        element("td"),
        element("td", whisker_axis(scale)),
        *(element("td") for _ in range(3)),
    ]
    body = element(
        "table",
        element("caption", "All contenders on the holdout, by rank", class_="visually-hidden"),
        element("thead", element("tr", (element("th", title, scope="col") for title in head))),
        element("tbody", *rows, element("tr", *axis, class_="axis-row", aria_hidden="true")),
        class_="cards contenders",
    )
    return Section("leaderboard", "Leaderboard", join(body, _explanation(report, inner), _remarks(standings)))


def _series(standings: Sequence[LeaderboardRow]) -> dict[int, int]:
    """Return the numbers of the series by position: of the model, and of the best of each role that has a colour."""
    series: dict[int, int] = {}
    for number, standing in enumerate(standings):
        wanted = 1 if standing.is_model else _SERIES.get(standing.entrant.role)
        if standing.interval is not None and wanted is not None and wanted not in series.values():
            series[number] = wanted
    return series


def _cells(standing: LeaderboardRow, scale: Scale, series: int, inner: float) -> list[Markup]:
    interval, compared = standing.interval, standing.comparison
    if interval is None:
        return []
    difference: Child = numbers.NO_VALUE
    if compared is not None:
        difference = stacked(
            numbers.difference(compared.difference), numbers.difference_interval(compared.low, compared.high)
        )
    p_value = numbers.NO_VALUE if standing.p_value is None else numbers.p_value(standing.p_value)
    seconds = standing.entrant.seconds
    rank = "" if standing.rank is None else f"{standing.rank}. "
    chart = whisker(interval, scale, series, inner if standing.is_model else None)
    return [
        element(
            "th",
            _titled(f"{rank}{shown_name(standing)}", standing),
            scope="row",
            class_="model" if standing.is_model else None,
        ),
        card_cell(
            "AUL_PU",
            stacked(numbers.area(interval.estimate), numbers.area_interval(interval.low, interval.high)),
        ),
        element("td", chart, class_="picture"),
        card_cell("Model minus this", difference),
        card_cell("p", p_value),
        card_cell("Fit", numbers.NO_VALUE if seconds is None else numbers.seconds(seconds)),
    ]


def _titled(name: str, standing: LeaderboardRow) -> Markup:
    """Return a name with the plugins below it, unless they are the name itself."""
    if standing.short_label == standing.entrant.method and not standing.is_model:
        return element("span", name)
    return stacked(name, standing.short_label)


def _remarks(standings: Sequence[LeaderboardRow]) -> Markup | None:
    """Return why contenders have no scores, or what else should be known of them."""
    sentences = [
        f"{shown_name(one)} ({one.entrant.role}, {one.entrant.status}): {one.entrant.reason}"
        for one in standings
        if one.entrant.reason
    ]
    return join(element("h3", "Not judged, or cut short"), bullets(sentences)) if sentences else None


def _explanation(report: Report, inner: float) -> Markup:
    result = report.result
    trials = numbers.count(sum(trial.value is not None for trial in result.trials))
    what = "a blend chosen from" if result.choice.is_blend else "the best of"
    has_oracle = any(standing.entrant.role is Role.ORACLE for standing in result.standings)
    oracle = " The oracle was given every true label: it shows what can be reached." if has_oracle else ""
    tested = sum(standing.p_value is not None for standing in result.standings)
    return join(
        paragraph(
            AUL,
            " is the probability that a labelled positive is ranked above a row drawn at random: 0.5 is guessing, and it is no "
            "probability that a row is positive. All were trained on the rows of the search and judged on the holdout, which no "
            "trial saw. A difference above 0 favours the model; p-values are corrected for "
            f"{numbers.counted(tested, 'comparison')}.{oracle}",
            class_="aside",
        ),
        paragraph(
            element("span", class_="swatch hollow"),
            f"Score of the search: {numbers.area(inner)}. ",
            element("strong", "It is optimistic"),
            f": it belongs to {what} {trials} trials, on the rows that selected it.",
            class_="aside",
        ),
    )


def lift_section(report: Report) -> Section:
    """Return the lift curves of the model, and of the best contender of each role that has a colour."""
    standings = report.result.standings
    shown = {
        series: (shown_name(standings[number]), scores)
        for number, series in sorted(_series(standings).items(), key=lambda item: item[1])
        if (scores := standings[number].entrant.scores) is not None
    }
    entries = [(f"line series-{number}", name) for number, (name, _) in shown.items()]
    body = join(
        paragraph(
            "The curve gives the share of all labelled positives that is among the rows with the highest scores.",
        ),
        legend([*entries, ("line reference", "Random order")]),
        figure(
            lambda width: lift_chart(report.s, shown, width),
            f"Holdout, {numbers.count(int(report.s.sum()))} labelled of {numbers.count(len(report.s))} rows; bands are 95% "
            "intervals, pointwise at each share.",
        ),
    )
    return Section("lift", "Lift curves", body)


def neighbours_section(report: Report) -> Section | None:
    """Return E_k and the chosen k; None where no similarity counts neighbours."""
    curve = report.neighbours
    if curve is None:
        return None
    rule = (
        f"k = {curve.k} was set by the search; the rule would choose k = {curve.choice.k}."
        if curve.is_given
        else curve.choice.rule
    )
    body = join(
        paragraph(
            "E_k is the number of hidden positives that the k nearest neighbours of the unlabeled rows suggest. "
            f"{display_name(curve.contender)} model: {rule}"
        ),
        legend(
            [
                ("dot done", "E_k"),
                ("line smooth", "Median of five"),
                ("plateau", f"{REACHED:.0%} to 100% of its maximum from k = {SMALLEST_K} on"),
                ("line cut", "k in use"),
            ]
        ),
        figure(
            lambda width: expected_positives(curve, width),
            "Expected positives by number of neighbours, on the rows of the search.",
        ),
    )
    return Section("neighbours", "Neighbours", body)


def features_section(report: Report) -> Section | None:
    """Return the features that matter most to the tuned model; None where that is unknown."""
    if not report.features:
        return None
    leading = largest(report.features, _MAX_FEATURES)
    rest = len(report.features) - len(leading)
    remaining = 1 - sum(share for _, share in leading)
    note = (
        f" The other {numbers.count(rest)} share {numbers.percent(max(0.0, remaining))}." if rest > 0 else ""
    )
    body = join(
        paragraph(
            f"Importance of each feature for the tuned model's score, as its learner measures it; the sum is 100%.{note} "
            "It shows what the model uses, not what causes a positive."
        ),
        bars(leading),
    )
    return Section("features", "Features", body)
