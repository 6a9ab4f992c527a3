"""How the search went: its trials, the blend made of them, and which parameters mattered."""

from collections import Counter
from collections.abc import Sequence

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element, join
from pubench.html.parts import AUL, Section, bars, facts, figure, largest, legend, paragraph, stacked, table
from pubench.html.svg import NARROW
from pubench.report.charts import parameter_chart, trial_history
from pubench.report.values import Report
from pubench.tuning.result import TuneResult
from pubench.tuning.trial import Trial

_BEST_TRIALS = 10
_CHARTED_PARAMETERS = 3
_MAX_PARAMETERS = 12


def search_section(report: Report) -> Section:
    """Return the counts, the history, the failures and the best of the trials."""
    result = report.result
    failed = [trial for trial in result.trials if trial.value is None]
    stopped = [trial for trial in result.trials if trial.value is not None and trial.stopped_early]
    done = len(result.trials) - len(failed) - len(stopped)
    counts = {"Done": done, "Stopped early": len(stopped), "Failed": len(failed)}
    marks = [
        ("dot chosen", "Chosen"),
        ("dot done", "Done"),
        ("dot stopped", "Stopped early, value estimated"),
    ]
    marks += [("cross failed", "Failed")] if failed else []
    body = join(
        paragraph(result.choice.sentence),
        facts({name: numbers.count(count) for name, count in counts.items()}),
        legend([*marks, ("line best-so-far", "Best so far")]),
        figure(
            lambda width: trial_history(result.trials, result.weights, result.best, width),
            "Trials in the order in which they started. Far worse ones are drawn at the lower edge; hover over one for details.",
        ),
        _failures(failed),
        _blend(result) if result.choice.is_blend else None,
        _best(result),
    )
    return Section("search", "How it was found", body)


def _failures(failed: Sequence[Trial]) -> Markup | None:
    if not failed:
        return None
    reasons = Counter(f"{trial.status}: {trial.reason}" for trial in failed).most_common()
    items = (
        element("li", f"{numbers.count(count)} trials: {reason}" if count > 1 else reason)
        for reason, count in reasons
    )
    return join(element("h3", "Why trials failed"), element("ul", items, class_="notices"))


def _blend(result: TuneResult) -> Markup:
    """Return the parts of the blend with their weights."""
    total = sum(result.weights.values())
    trials = {trial.number: trial for trial in result.trials}
    rows = [
        (numbers.percent(weight / total), *_cells(trials[number], chosen=False))
        for number, weight in result.weights.items()
    ]
    title = f"The blend of {len(rows)} trials"
    head = ("Weight", "Trial", AUL, "Time", "Configuration")
    text = "Each trial's scores are replaced by their ranks among the training rows; the blend is the weighted mean of the log-odds of these ranks."
    return join(element("h3", title), paragraph(text), table(head, rows, title, number_columns=(0, 2, 3)))


def _best(result: TuneResult) -> Markup:
    complete = sorted(
        (trial for trial in result.trials if trial.is_complete),
        key=lambda trial: (-(trial.value or 0.0), trial.number),
    )[:_BEST_TRIALS]
    rows = [_cells(trial, chosen=trial.number in result.weights) for trial in complete]
    title = "The best trial" if len(rows) == 1 else f"The {len(rows)} best trials"
    head = ("Trial", AUL, "Time", "Configuration")
    return join(element("h3", title), table(head, rows, title, number_columns=(1, 2)))


def _cells(trial: Trial, *, chosen: bool) -> tuple[Child, ...]:
    return (
        stacked(str(trial.number), "chosen") if chosen else str(trial.number),
        numbers.area(trial.value or 0.0),
        numbers.seconds(trial.seconds),
        stacked(str(trial.configuration), _settings(trial)),
    )


def _settings(trial: Trial) -> str:
    """Return the parameters that were searched; the plugins are part of the configuration's own text."""
    chosen = {name.rpartition(".")[2]: value for name, value in trial.params.items() if "." in name}
    return ", ".join(f"{name} {numbers.parameter(value)}" for name, value in chosen.items())


def parameters_section(report: Report) -> Section | None:
    """Return which parameters mattered; None where that is unknown."""
    if not report.parameters:
        return None
    leading = largest(report.parameters, _MAX_PARAMETERS)
    body = join(
        paragraph(
            "Share of each parameter in what distinguishes the best tenth of the trials (PED-ANOVA of Optuna)."
        ),
        bars(leading),
        figure(
            lambda width: _parameter_charts(
                report, [name for name, _ in leading[:_CHARTED_PARAMETERS]], width
            ),
            AUL,
            " of the trials against the most important parameters; chosen trials that have the parameter are marked.",
        ),
    )
    return Section("parameters", "Parameters", body)


def _parameter_charts(report: Report, names: Sequence[str], width: int) -> Markup:
    """Return a chart for each parameter, in a row or, on narrow screens, below each other."""
    chart_width = width if width == NARROW else width // _CHARTED_PARAMETERS - 12
    result = report.result
    charts = (parameter_chart(result.trials, name, result.weights, chart_width) for name in names)
    return element("div", *charts, class_="slices")
