"""What `pubench bench` shows while it runs, and in the end."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from pubench.cli.render.terminal import bold, console, facts, print_json, table
from pubench.experiment.benchmark import Benched, BenchOrder, Watcher
from pubench.experiment.estimates import Estimate, Estimator, earlier_records, total_seconds
from pubench.experiment.folders import OutFolder
from pubench.experiment.planning import Job
from pubench.experiment.shipped import shipped_suites
from pubench.experiment.suite import read_suite
from pubench.experiment.tables import METRIC_NAMES, ResultTable, count_statuses
from pubench.records.record import Record
from pubench.types import Json, Status

_LAST = 8


def list_suites(*, as_json: bool) -> None:
    """Print the suites that come with pubench."""
    suites = [read_suite(path) for path in shipped_suites()]
    if as_json:
        print_json(
            {"suites": [{"name": suite.name, "title": suite.title, "note": suite.note} for suite in suites]}
        )
        return
    shown = table("suite", "what it is")
    for suite in suites:
        shown.add_row(suite.name, suite.title)
    console().print(shown)


def duration(seconds: float) -> str:
    """Return a time in words that fit its size: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_plan(order: BenchOrder, *, as_json: bool) -> None:
    """Print the jobs of a run that have no record yet, and how long they may take."""
    estimator = Estimator(earlier_records(order.out))
    due = order.due(OutFolder(order.out).known(order.plan.jobs))
    estimates = {job.spec.key: estimator.estimate(job) for job in due}
    total = total_seconds(list(estimates.values()), order.workers)
    if as_json:
        print_json(_plan_json(order, estimates, total))
        return
    out, limits = console(), order.limits
    out.print(bold(order.suite.title))
    if due:
        shown = table("data set", "theta_O", "folds", "configuration", "jobs", "time each")
        for row in _plan_rows(due, list(estimates.values())):
            shown.add_row(*row)
        out.print(shown)
    for notice in order.plan.notices:
        out.print(notice)
    if len(due) < len(order.plan.jobs):
        out.print(f"{len(order.plan.jobs) - len(due)} of {len(order.plan.jobs)} jobs have a record.")
    known = sum(estimate.from_records for estimate in estimates.values())
    basis = f"{known} by earlier records of the same method at a similar size, {len(due) - known} by a rough guess"
    out.print(f"{len(due)} jobs, about {duration(total)} with {order.workers} side by side ({basis}).")
    out.print(
        f"Each may take {duration(limits.seconds)} and {limits.memory_bytes / 2**30:.1f} GiB. They go to {order.out}."
    )


def _plan_rows(jobs: Sequence[Job], estimates: Sequence[Estimate]) -> Iterator[tuple[str, ...]]:
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for number, job in enumerate(jobs):
        theta_o = job.spec.view["theta_o"]
        shown = "observed" if theta_o is None else f"{theta_o:g}"
        label = str(job).partition("  ")[2]
        groups.setdefault((job.spec.dataset, shown, str(job.spec.folds), label), []).append(number)
    for traits, numbers in groups.items():
        first = jobs[numbers[0]]
        guess = estimates[numbers[0]]
        each = first.problem or f"{'' if guess.from_records else 'roughly '}{duration(guess.seconds)}"
        yield (*traits, str(len(numbers)), each)


def _plan_json(order: BenchOrder, estimates: Mapping[str, Estimate], total: float) -> dict[str, Json]:
    none = Estimate(0.0, from_records=True)
    return {
        "suite": order.suite.name,
        "out": str(order.out),
        "jobs": [
            {
                "key": job.spec.key,
                "spec": job.spec.to_json(),
                "problem": job.problem,
                "due": job.spec.key in estimates,
                "seconds": round(estimates.get(job.spec.key, none).seconds, 1),
                "from_records": estimates.get(job.spec.key, none).from_records,
            }
            for job in order.plan.jobs
        ],
        "seconds": round(total, 1),
        "notices": list(order.plan.notices),
    }


class View:
    """The state of a run as it is shown; told by the run, drawn by a terminal or line by line."""

    def __init__(self, order: BenchOrder, say: Callable[[str], None]) -> None:
        self._order, self._say = order, say
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._running: dict[str, tuple[Job, float]] = {}
        self._last: list[tuple[Job, Record]] = []
        self._counts: Counter[str] = Counter()
        self._due = self._known = 0
        self._phase = ""

    def planned(self, due: int, known: int) -> None:
        """Note how many jobs there are."""
        self._due, self._known = due, known
        self._say(f"{due} jobs to run, {known} have a record; they go to {self._order.out}")

    def begun(self, job: Job) -> None:
        """Note that a job begins."""
        with self._lock:
            self._running[job.spec.key] = (job, time.monotonic())

    def ended(self, job: Job, record: Record) -> None:
        """Note how it ended, and say so."""
        with self._lock:
            self._running.pop(job.spec.key, None)
            self._counts[record.status.value] += 1
            self._last = [*self._last[-_LAST + 1 :], (job, record)]
        done = sum(self._counts.values())
        self._say(f"{self._elapsed()}  {done}/{self._due}  {job}  {_outcome(record)}")

    def phase(self, name: str) -> None:
        """Note what is done after the jobs."""
        self._phase = name
        self._say(f"{self._elapsed()}  {name}")

    def __rich__(self) -> RenderableType:
        """Draw it."""
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
        for job, since in running[: self._order.workers]:
            shown.add_row(str(job), f"{time.monotonic() - since:.0f} s", "running")
        return Group(grid, shown, Text(self._phase))

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._started)
        return f"{seconds // 60}:{seconds % 60:02}"

    def _left(self, done: int) -> str:
        if not 3 <= done < self._due:
            return ""
        each = (time.monotonic() - self._started) / done
        return f", about {duration(each * (self._due - done))} left"


def _outcome(record: Record) -> str:
    if record.status is Status.OK:
        figures = (
            f"{METRIC_NAMES[name]} {record.metrics[name]:.4f}"
            for name in METRIC_NAMES
            if name in record.metrics
        )
        return "  ".join([*figures, f"{record.seconds.get('total', 0):.1f} s"])
    return f"{record.status.value}: {record.reason}"


def _colored(record: Record) -> Text:
    good = record.status is Status.OK
    return Text(_outcome(record) if good else record.status.value, style="green" if good else "yellow")


@contextmanager
def watching(order: BenchOrder, *, quiet: bool) -> Iterator[Watcher]:
    """Show a run on stderr: live in a terminal, line by line elsewhere."""
    out = console(stderr=True)
    live = out.is_terminal and not quiet
    view = View(order, _silent if live or quiet else _lines(out))
    watcher = Watcher(view.planned, view.begun, view.ended, view.phase)
    if not live:
        yield watcher
        return
    with Live(view, console=out, refresh_per_second=4, transient=True):
        yield watcher


def _silent(line: str) -> None:
    """Say nothing."""


def _lines(out: Console) -> Callable[[str], None]:
    return lambda line: out.print(line, soft_wrap=True)


def benched_card(benched: Benched) -> None:
    """Print the tables, and where everything is."""
    out = console()
    suite = benched.order.suite
    for found in benched.tables:
        out.print(bold(found.title))
        out.print(_table(found))
        out.print()
    if suite.note:
        out.print(suite.note, style="dim")
    counts = count_statuses(benched.order.plan.jobs, benched.records)
    out.print(f"{', '.join(f'{count} {name}' for name, count in counts.items())}; {benched.ran} ran now.")
    where = facts()
    where.add_row("records", str(benched.order.out / "records"))
    for path in benched.files:
        where.add_row(path.suffix[1:], str(path))
    out.print(where)


def _table(found: ResultTable) -> RenderableType:
    shown = table(*found.heads)
    for line in found.lines:
        shown.add_row(*found.cells(line))
    return shown


def benched_json(benched: Benched) -> dict[str, Json]:
    """Return the same as a JSON object."""
    return {
        "suite": benched.order.suite.name,
        "out": str(benched.order.out),
        "jobs": len(benched.order.plan.jobs),
        "ran": benched.ran,
        "ended": dict(count_statuses(benched.order.plan.jobs, benched.records)),
        "tables": [
            {
                "title": found.title,
                "dataset": found.dataset,
                "theta_o": found.theta_o,
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
                    for line in found.lines
                ],
            }
            for found in benched.tables
        ],
        "files": [str(path) for path in benched.files],
        "notices": list(benched.notices),
    }
