"""The paper's tables, filled: means over folds with standard errors, beside the values in the paper."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, stdev

from pubench.bench.plan import BenchJob, label_of
from pubench.bench.suite import Suite
from pubench.configuration.configuration import KINDS
from pubench.record.record import DataFacts, Record
from pubench.types import Json, Status

METRIC_NAMES: Mapping[str, str] = {"auc": "AUC", "aul": "AUL", "aul_pu": "AUL_PU"}


@dataclass(frozen=True)
class Mean:
    """A mean over folds and seeds.

    Attributes:
        value: the mean.
        stderr: the standard deviation divided by the root of the number of values; None for a single value. Folds
            share training rows, so it is a little too small.
    """

    value: float
    stderr: float | None

    def __str__(self) -> str:
        return f"{self.value:.4f}" + ("" if self.stderr is None else f" ± {self.stderr:.4f}")


@dataclass(frozen=True)
class TableLine:
    """One configuration on one view of a data set.

    Attributes:
        label: its method, and the other plugins and parameters that distinguish it from other lines.
        method: its method.
        means: metric -> mean over the runs that succeeded; without metrics that no run has.
        paper: metric -> the value in the paper.
        done, planned: number of runs that succeeded, and of all runs.
        failures: status -> first reason, of the runs that failed; without runs that have not started.
        fit_seconds: the median.
    """

    label: str
    method: str
    means: Mapping[str, Mean]
    paper: Mapping[str, float]
    done: int
    planned: int
    failures: Mapping[str, str]
    fit_seconds: float | None

    @property
    def state(self) -> str:
        """Empty if all runs succeeded; otherwise how many did not, and why."""
        missing = self.planned - self.done
        if not missing:
            return ""
        ends = ", ".join(f"{status}: {reason}" for status, reason in self.failures.items())
        return f"{missing} of {self.planned} {ends or 'not run'}"


@dataclass(frozen=True)
class PaperTable:
    """All configurations on one view of a data set."""

    dataset: str
    theta_o: float | None
    title: str
    metrics: tuple[str, ...]
    lines: tuple[TableLine, ...]

    @property
    def heads(self) -> list[str]:
        """The heads of the columns; each metric that the paper has values of is followed by a column for them."""
        named = (
            (METRIC_NAMES[metric], *(["paper"] if self._is_in_paper(metric) else []))
            for metric in self.metrics
        )
        return ["method", *(head for heads in named for head in heads), "fit, s", "failed"]

    def cells(self, line: TableLine) -> list[str]:
        """Return the texts of a line's cells."""
        cells = [line.label]
        for metric in self.metrics:
            cells.append(str(line.means[metric]) if metric in line.means else "-")
            if self._is_in_paper(metric):
                cells.append(f"{line.paper[metric]:.4f}" if metric in line.paper else "")
        seconds = "-" if line.fit_seconds is None else f"{line.fit_seconds:.1f}"
        return [*cells, seconds, line.state]

    def _is_in_paper(self, metric: str) -> bool:
        return any(metric in line.paper for line in self.lines)


def fill_tables(suite: Suite, jobs: Sequence[BenchJob], records: Mapping[str, Record]) -> list[PaperTable]:
    """Return a table per view of a data set, in the order of the plan."""
    groups: dict[str, list[BenchJob]] = {}
    for job in jobs:
        groups.setdefault(_view(job), []).append(job)
    return [_table(suite, group, records) for group in groups.values()]


def _view(job: BenchJob) -> str:
    spec = job.spec
    return repr((spec.dataset, sorted(spec.view.items(), key=str), sorted(spec.tuning.items()), spec.folds))


def _table(suite: Suite, jobs: Sequence[BenchJob], records: Mapping[str, Record]) -> PaperTable:
    spec = jobs[0].spec
    theta_o = spec.view["theta_o"]
    groups: dict[str, list[BenchJob]] = {}
    for job in jobs:
        groups.setdefault(repr(job.spec.configuration), []).append(job)
    configurations = [group[0].spec.configuration for group in groups.values()]
    shared = _shared(configurations)
    labels = _labels(configurations, shared)
    known = [records[job.spec.key] for job in jobs if job.spec.key in records]
    return PaperTable(
        dataset=spec.dataset,
        theta_o=float(theta_o) if isinstance(theta_o, int | float) else None,
        title=_title(jobs[0], next((record.data for record in known if record.data), None), shared),
        metrics=tuple(m for m in suite.metrics if any(m in r.metrics for r in known) or not known),
        lines=tuple(
            _line(label, group, records, suite.paper.get(spec.dataset, {}).get(group[0].spec.method, {}))
            for label, group in zip(labels, groups.values(), strict=True)
        ),
    )


def _title(job: BenchJob, data: DataFacts | None, shared: Mapping[str, str]) -> str:
    spec = job.spec
    view = [f"{key} {value}" for key, value in spec.view.items() if key not in {"theta_o", "rows"}]
    parts = [
        spec.dataset,
        f"{data.rows:,} x {data.features}" if data else "",
        "synthetic stand-in" if data and data.stand_in else "",
        "observed labels" if spec.view["theta_o"] is None else f"theta_O {spec.view['theta_o']:g}",
        *view,
        f"{spec.folds} folds",
        *shared.values(),
        f"each tuned with {spec.tuning['trials']} trials" if spec.tuning else "",
    ]
    return ", ".join(part for part in parts if part)


def _shared(configurations: Sequence[Mapping[str, Json]]) -> dict[str, str]:
    """Return the similarity and the learner, where all configurations that use one use the same."""
    shared = {}
    for kind in KINDS[1:]:
        names = {_name(configuration[kind]) for configuration in configurations if kind in configuration}
        if len(names) == 1:
            shared[kind.value] = names.pop()
    return shared


def _labels(configurations: Sequence[Mapping[str, Json]], shared: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of each configuration's plugins, except shared ones, and the parameters that differ among equal names."""
    names = [label_of({kind: part for kind, part in c.items() if kind not in shared}) for c in configurations]
    flat = [
        {
            f"{kind}.{key}": value
            for kind, part in c.items()
            if isinstance(part, Mapping)
            for key, value in part.items()
        }
        for c in configurations
    ]
    for name, own in zip(names, flat, strict=True):
        same_name = [other for other, other_name in zip(flat, names, strict=True) if other_name == name]
        differing = [key for key in own if any(other.get(key) != own[key] for other in same_name)]
        yield name + (f" ({', '.join(f'{key}={own[key]}' for key in differing)})" if differing else "")


def _name(part: Json) -> str:
    return str(part["name"]) if isinstance(part, Mapping) else ""


def _line(
    label: str, jobs: Sequence[BenchJob], records: Mapping[str, Record], paper: Mapping[str, float]
) -> TableLine:
    known = [records[job.spec.key] for job in jobs if job.spec.key in records]
    good = [record for record in known if record.status is Status.OK]
    failures: dict[str, str] = {}
    for record in known:
        if record.status is not Status.OK:
            failures.setdefault(record.status.value, record.reason)
    fits = [record.seconds["fit"] for record in good if "fit" in record.seconds]
    metrics = {name for record in good for name in record.metrics}
    return TableLine(
        label=label,
        method=jobs[0].spec.method,
        means={name: _mean([r.metrics[name] for r in good if name in r.metrics]) for name in sorted(metrics)},
        paper=paper,
        done=len(good),
        planned=len(jobs),
        failures=failures,
        fit_seconds=median(fits) if fits else None,
    )


def _mean(values: Sequence[float]) -> Mean:
    return Mean(fmean(values), stdev(values) / sqrt(len(values)) if len(values) > 1 else None)


def count_statuses(jobs: Sequence[BenchJob], records: Mapping[str, Record]) -> dict[str, int]:
    """Return the number of jobs by status; jobs without a record are "not run"."""
    return dict(
        Counter(records[j.spec.key].status.value if j.spec.key in records else "not run" for j in jobs)
    )


def to_markdown(suite: Suite, tables: Sequence[PaperTable]) -> str:
    """Return the tables as Markdown."""
    lines = [f"# {suite.title}", ""]
    lines += [suite.note, ""] if suite.note else []
    for table in tables:
        lines += [f"## {table.title}", "", f"| {' | '.join(table.heads)} |", "|---" * len(table.heads) + "|"]
        lines += [f"| {' | '.join(table.cells(line))} |" for line in table.lines]
        lines += [""]
    return "\n".join(lines)
