"""The sections about the search: its trials, and which parameters mattered."""

from collections import Counter
from collections.abc import Sequence

from pubench.reporting import figures
from pubench.reporting.markup import Child, Markup, element, join
from pubench.reporting.parts import AUL, Section, bars, facts, figure, legend, paragraph, stacked, table
from pubench.reporting.report import Report
from pubench.reporting.searches import history, ranked, slice_of
from pubench.reporting.svg import NARROW
from pubench.tuning.run import Found
from pubench.tuning.study import Trial

_BEST_TRIALS = 10
_SLICES = 3
_MOST_PARAMETERS = 12


def search(report: Report) -> Section:
    """Return how the search went."""
    found = report.found
    failed = [trial for trial in found.trials if trial.value is None]
    stopped = [trial for trial in found.trials if trial.value is not None and trial.stopped_early]
    done = len(found.trials) - len(failed) - len(stopped)
    counts = {"Done": done, "Stopped early": len(stopped), "Failed": len(failed)}
    marks = [
        ("dot chosen", "Chosen"),
        ("dot done", "Done"),
        ("dot stopped", "Stopped early, value estimated"),
    ]
    marks += [("cross failed", "Failed")] if failed else []
    body = join(
        facts({name: figures.count(count) for name, count in counts.items()}),
        legend([*marks, ("line best-so-far", "Best so far")]),
        figure(
            lambda width: history(found.trials, found.weights, found.best, width),
            "Trials in the order in which they began. Far worse ones stand on the lower edge; point at one to read it.",
        ),
        _failures(failed),
        _blend(found) if found.blending.is_taken else None,
        _best(found),
    )
    return Section("search", "Search", body)


def _failures(failed: Sequence[Trial]) -> Markup | None:
    if not failed:
        return None
    reasons = Counter(f"{trial.status}: {trial.reason}" for trial in failed).most_common()
    items = (
        element("li", f"{figures.count(count)} trials: {reason}" if count > 1 else reason)
        for reason, count in reasons
    )
    return join(element("h3", "Why trials failed"), element("ul", items, class_="notices"))


def _blend(found: Found) -> Markup:
    """Return what the blend is made of."""
    total = sum(found.weights.values())
    trials = {trial.number: trial for trial in found.trials}
    rows = [
        (figures.percent(weight / total), *_cells(trials[number], chosen=False))
        for number, weight in found.weights.items()
    ]
    title = f"The blend of {len(rows)} trials"
    head = ("Weight", "Trial", AUL, "Time", "Configuration")
    told = "Each trial's scores count as ranks among the training rows, and the blend is the weighted mean of these ranks."
    return join(element("h3", title), paragraph(told), table(head, rows, title, numbers=(0, 2, 3)))


def _best(found: Found) -> Markup:
    complete = sorted(
        (trial for trial in found.trials if trial.is_complete),
        key=lambda trial: (-(trial.value or 0.0), trial.number),
    )[:_BEST_TRIALS]
    rows = [_cells(trial, chosen=trial.number in found.weights) for trial in complete]
    title = "The best trial" if len(rows) == 1 else f"The {len(rows)} best trials"
    head = ("Trial", AUL, "Time", "Configuration")
    return join(element("h3", title), table(head, rows, title, numbers=(1, 2)))


def _cells(trial: Trial, *, chosen: bool) -> tuple[Child, ...]:
    return (
        stacked(str(trial.number), "chosen") if chosen else str(trial.number),
        figures.area(trial.value or 0.0),
        figures.seconds(trial.seconds),
        stacked(str(trial.configuration), _settings(trial)),
    )


def _settings(trial: Trial) -> str:
    """Return the parameters that were searched; which plugins take part is said by the configuration."""
    chosen = {name.rpartition(".")[2]: value for name, value in trial.params.items() if "." in name}
    return ", ".join(f"{name} {figures.setting(value)}" for name, value in chosen.items())


def parameters(report: Report) -> Section | None:
    """Return which parameters mattered; None where nobody can say."""
    if not report.parameters:
        return None
    leading = ranked(report.parameters, _MOST_PARAMETERS)
    body = join(
        paragraph(
            "Share of each parameter in what sets the best tenth of the trials apart (PED-ANOVA, as Optuna has it)."
        ),
        bars(leading),
        figure(
            lambda width: _slices(report, [name for name, _ in leading[:_SLICES]], width),
            AUL,
            " of the trials against the most important parameters; chosen trials are marked where they have them.",
        ),
    )
    return Section("parameters", "Parameters", body)


def _slices(report: Report, names: Sequence[str], width: int) -> Markup:
    """Return a chart for each parameter: in a row, or below each other where there is no room for a row."""
    each = width if width == NARROW else width // _SLICES - 12
    found = report.found
    charts = (slice_of(found.trials, name, found.weights, each) for name in names)
    return element("div", *charts, class_="slices")
