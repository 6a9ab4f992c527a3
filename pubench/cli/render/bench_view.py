"""What `bench` prints: suites, plans, the state of a run, and its result."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from pubench.bench.paper_tables import METRIC_NAMES, PaperTable, count_statuses
from pubench.bench.plan import BenchJob
from pubench.bench.runner import BenchCallbacks, BenchFolder, BenchRequest, BenchResult
from pubench.bench.suite_file import read_suite, shipped_suites
from pubench.bench.time_estimates import Estimate, Estimator, earlier_records, total_seconds
from pubench.cli.render.terminal import (
    bold,
    console,
    facts,
    ignore_line,
    line_printer,
    print_json,
    table,
)
from pubench.record.record import Record
from pubench.types import Json, Status

#: Number of finished jobs shown while a run goes on.
_LAST = 8


def print_suites(*, as_json: bool) -> None:
    """Print the suites that come with pubench."""
    suites = [read_suite(path) for path in shipped_suites()]
    if as_json:
        print_json(
            {"suites": [{"name": suite.name, "title": suite.title, "note": suite.note} for suite in suites]}
        )
        return
    shown = table("suite", "title")
    for suite in suites:
        shown.add_row(suite.name, suite.title)
    console().print(shown)


def duration(seconds: float) -> str:
    """Return a time in a fitting unit: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def print_plan(request: BenchRequest, *, as_json: bool) -> None:
    """Print the jobs of a run that have no record yet, and their estimated time."""
    estimator = Estimator(earlier_records(request.out))
    due = request.due(BenchFolder(request.out).read_records(request.plan.jobs))
    estimates = {job.spec.key: estimator.estimate(job) for job in due}
    total = total_seconds(list(estimates.values()), request.workers)
    if as_json:
        print_json(_plan_json(request, estimates, total))
        return
    out, limits = console(), request.limits
    out.print(bold(request.suite.title))
    if due:
        shown = table("data set", "theta_O", "folds", "configuration", "jobs", "time each")
        for row in _plan_rows(due, list(estimates.values())):
            shown.add_row(*row)
        out.print(shown)
    for notice in request.plan.notices:
        out.print(notice)
    if len(due) < len(request.plan.jobs):
        out.print(f"{len(request.plan.jobs) - len(due)} of {len(request.plan.jobs)} jobs have a record.")
    known = sum(estimate.from_records for estimate in estimates.values())
    basis = f"{known} from earlier records of the same method at a similar size, {len(due) - known} rough estimates"
    out.print(f"{len(due)} jobs, about {duration(total)} with {request.workers} in parallel ({basis}).")
    out.print(
        f"Limits of each: {duration(limits.seconds)}, {limits.memory_bytes / 2**30:.1f} GiB. Records go to {request.out}."
    )


def _plan_rows(jobs: Sequence[BenchJob], estimates: Sequence[Estimate]) -> Iterator[tuple[str, ...]]:
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for number, job in enumerate(jobs):
        theta_o = job.spec.view["theta_o"]
        shown = "observed" if theta_o is None else f"{theta_o:g}"
        label = str(job).partition("  ")[2]
        groups.setdefault((job.spec.dataset, shown, str(job.spec.folds), label), []).append(number)
    for traits, numbers in groups.items():
        first = jobs[numbers[0]]
        estimate = estimates[numbers[0]]
        roughly = "" if estimate.from_records else "roughly "
        seconds = first.problem or f"{roughly}{duration(estimate.seconds)}"
        yield (*traits, str(len(numbers)), seconds)


def _plan_json(request: BenchRequest, estimates: Mapping[str, Estimate], total: float) -> dict[str, Json]:
    none = Estimate(0.0, from_records=True)
    return {
        "suite": request.suite.name,
        "out": str(request.out),
        "jobs": [
            {
                "key": job.spec.key,
                "spec": job.spec.to_json(),
                "problem": job.problem,
                "due": job.spec.key in estimates,
                "seconds": round(estimates.get(job.spec.key, none).seconds, 1),
                "from_records": estimates.get(job.spec.key, none).from_records,
            }
            for job in request.plan.jobs
        ],
        "seconds": round(total, 1),
        "notices": list(request.plan.notices),
    }


class BenchView:
    """The state of a run for display: updated by the callbacks, shown live in a terminal or printed line by line."""

    def __init__(self, request: BenchRequest, print_line: Callable[[str], None]) -> None:
        self._request, self._print_line = request, print_line
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._running: dict[str, tuple[BenchJob, float]] = {}
        self._last: list[tuple[BenchJob, Record]] = []
        self._counts: Counter[str] = Counter()
        self._due = self._known = 0
        self._phase = ""

    def planned(self, due: int, known: int) -> None:
        """Set the number of jobs to run and of those that have a record."""
        self._due, self._known = due, known
        self._print_line(f"{due} jobs to run, {known} have a record; records go to {self._request.out}")

    def started(self, job: BenchJob) -> None:
        """Update when a job starts."""
        with self._lock:
            self._running[job.spec.key] = (job, time.monotonic())

    def ended(self, job: BenchJob, record: Record) -> None:
        """Update when a job ends, and print a line."""
        with self._lock:
            self._running.pop(job.spec.key, None)
            self._counts[record.status.value] += 1
            self._last = [*self._last[-_LAST + 1 :], (job, record)]
        done = sum(self._counts.values())
        self._print_line(f"{self._elapsed()}  {done}/{self._due}  {job}  {_outcome(record)}")

    def phase(self, name: str) -> None:
        """Update the phase after the jobs, and print a line."""
        self._phase = name
        self._print_line(f"{self._elapsed()}  {name}")

    def __rich__(self) -> RenderableType:
        """Return what the terminal shows."""
        with self._lock:
            running, last, counts = list(self._running.values()), list(self._last), dict(self._counts)
        done = sum(counts.values())
        grid = facts()
        grid.add_row("jobs", f"{done} of {self._due} done{f', {self._known} before' if self._known else ''}")
        grid.add_row("ended", ", ".join(f"{count} {name}" for name, count in counts.items()) or "none yet")
        grid.add_row("time", f"{self._elapsed()}{self._left(done)}")
        grid.add_row("", ProgressBar(total=max(1, self._due), completed=done, width=40))
        shown = table("job", "", "")
        for job, record in last:
            shown.add_row(str(job), f"{record.seconds.get('total', 0):.1f} s", _colored(record), style="dim")
        for job, since in running[: self._request.workers]:
            shown.add_row(str(job), f"{time.monotonic() - since:.0f} s", "running")
        return Group(grid, shown, Text(self._phase))

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._started)
        return f"{seconds // 60}:{seconds % 60:02}"

    def _left(self, done: int) -> str:
        if not 3 <= done < self._due:
            return ""
        seconds_per_job = (time.monotonic() - self._started) / done
        return f", about {duration(seconds_per_job * (self._due - done))} left"


def _outcome(record: Record) -> str:
    if record.status is Status.OK:
        metrics = (
            f"{METRIC_NAMES[name]} {record.metrics[name]:.4f}"
            for name in METRIC_NAMES
            if name in record.metrics
        )
        return "  ".join([*metrics, f"{record.seconds.get('total', 0):.1f} s"])
    return f"{record.status.value}: {record.reason}"


def _colored(record: Record) -> Text:
    is_ok = record.status is Status.OK
    return Text(_outcome(record) if is_ok else record.status.value, style="green" if is_ok else "yellow")


@contextmanager
def show_progress(request: BenchRequest, *, quiet: bool) -> Iterator[BenchCallbacks]:
    """Show a run on stderr, live in a terminal, else line by line."""
    out = console(stderr=True)
    live = out.is_terminal and not quiet
    view = BenchView(request, ignore_line if live or quiet else line_printer(out))
    callbacks = BenchCallbacks(view.planned, view.started, view.ended, view.phase)
    if not live:
        yield callbacks
        return
    with Live(view, console=out, refresh_per_second=4, transient=True):
        yield callbacks


def print_result(result: BenchResult) -> None:
    """Print the tables, the number of jobs by status, and the files of the run."""
    out = console()
    suite = result.request.suite
    for paper_table in result.tables:
        out.print(bold(paper_table.title))
        out.print(_table(paper_table))
        out.print()
    if suite.note:
        out.print(suite.note, style="dim")
    counts = count_statuses(result.request.plan.jobs, result.records)
    out.print(f"{', '.join(f'{count} {name}' for name, count in counts.items())}; {result.ran} ran now.")
    where = facts()
    where.add_row("records", str(result.request.out / "records"))
    for path in result.files:
        where.add_row(path.suffix[1:], str(path))
    out.print(where)


def _table(paper_table: PaperTable) -> RenderableType:
    shown = table(*paper_table.heads)
    for line in paper_table.lines:
        shown.add_row(*paper_table.cells(line))
    return shown


def result_json(result: BenchResult) -> dict[str, Json]:
    """Return the result as a JSON object."""
    return {
        "suite": result.request.suite.name,
        "out": str(result.request.out),
        "jobs": len(result.request.plan.jobs),
        "ran": result.ran,
        "ended": dict(count_statuses(result.request.plan.jobs, result.records)),
        "tables": [
            {
                "title": paper_table.title,
                "dataset": paper_table.dataset,
                "theta_o": paper_table.theta_o,
                "lines": [
                    {
                        "method": line.method,
                        "label": line.label,
                        "done": line.done,
                        "planned": line.planned,
                        "failures": dict(line.failures),
                        "fit_seconds": line.fit_seconds,
                        "metrics": {
                            name: {"mean": m.value, "stderr": m.stderr} for name, m in line.means.items()
                        },
                        "paper": dict(line.paper),
                    }
                    for line in paper_table.lines
                ],
            }
            for paper_table in result.tables
        ],
        "files": [str(path) for path in result.files],
        "notices": list(result.notices),
    }
