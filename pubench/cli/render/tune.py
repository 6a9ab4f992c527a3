"""What `pubench tune` shows while it runs, and in the end."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pubench.cli.render.terminal import bold, console, facts, table
from pubench.metrics.inference import AULInterval
from pubench.saving.configuration import Configuration
from pubench.tuner.orders import Tuned, TuneOrder
from pubench.tuning.outcome import TUNED
from pubench.tuning.run import Found, Watcher
from pubench.tuning.selection import Gain
from pubench.tuning.study import Observer, Trial
from pubench.types import Json, Status

#: Said of the first trial: it is the slowest one.
_FIRST = "; it prepares what all others share, and compiles code if it is the first on this machine"


class View:
    """The state of a run as it is shown; told by the run, drawn by a terminal or line by line."""

    def __init__(self, order: TuneOrder, say: Callable[[str], None]) -> None:
        self._order = order
        self._say = say
        self._started = time.monotonic()
        self._current = "reading the data"
        self._share = 0.0
        self._phase = ""
        self._last: list[Trial] = []
        self._begun = False
        self.best: Trial | None = None
        self.done = self.early = self.failed = 0

    def begin(self, number: int, configuration: Configuration) -> None:
        """Note that a trial begins, and say so of the first, which may take a minute."""
        self._current, self._share = f"trial {number}: {configuration}", 0.0
        if not self._begun:
            self._begun = True
            self._current += _FIRST
            self._say(f"{self._elapsed()}  trial {number:3}  begins{_FIRST}")

    def progress(self, number: int, share: float) -> None:  # noqa: ARG002 - the observer's signature
        """Note how far it is."""
        self._share = share

    def end(self, trial: Trial) -> None:
        """Note how it ended, and say so."""
        self.done += trial.status is Status.OK and not trial.stopped_early
        self.early += trial.status is Status.OK and trial.stopped_early
        self.failed += trial.status is not Status.OK
        if trial.is_complete and (self.best is None or (trial.value or 0) > (self.best.value or 0)):
            self.best = trial
        self._last = [*self._last[-5:], trial]
        self._say(f"{self._elapsed()}  trial {trial.number:3}  {_value(trial):14}  {trial.configuration}")

    def phase(self, name: str, share: float) -> None:
        """Note what is done after the search."""
        if name != self._phase:
            self._phase = name
            self._say(f"{self._elapsed()}  {name}")
        self._current, self._share = name, share

    def __rich__(self) -> RenderableType:
        """Draw it."""
        grid = facts()
        grid.add_row("best so far", Text(self._best(), style="green" if self.best else ""))
        grid.add_row(
            "trials", f"{self.done} done, {self.early} stopped early, {self.failed} failed{self._wanted()}"
        )
        grid.add_row("time", f"{self._elapsed()}{self._left()}")
        grid.add_row("now", self._current)
        grid.add_row("", ProgressBar(total=1.0, completed=self._share, width=40))
        last = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for trial in self._last:
            last.add_row(f"{trial.number}", _value(trial), str(trial.configuration), style="dim")
        return Group(grid, last)

    def _best(self) -> str:
        if self.best is None:
            return "none yet"
        reach = 1.96 * self.best.stderr
        return f"{self.best.value:.4f} ± {reach:.4f}  trial {self.best.number}: {self.best.configuration}"

    def _wanted(self) -> str:
        return "" if self._order.trials is None else f" of {self._order.trials}"

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._started)
        return f"{seconds // 60}:{seconds % 60:02}"

    def _left(self) -> str:
        if self._order.seconds is None:
            return ""
        left = max(0, int(self._order.seconds - (time.monotonic() - self._started)))
        return f", {left // 60}:{left % 60:02} left at most"


def _value(trial: Trial) -> str:
    if trial.value is None:
        return str(trial.status)
    return f"{trial.value:.4f}{' (early)' if trial.stopped_early else ''}"


@contextmanager
def watching(order: TuneOrder, *, quiet: bool) -> Iterator[tuple[Watcher, threading.Event]]:
    """Show a run on stderr: live in a terminal, line by line elsewhere; the first Ctrl-C sets the event."""
    out = console(stderr=True)
    live = out.is_terminal and not quiet
    say = _silent if live or quiet else _lines(out)
    view = View(order, say)
    watcher = Watcher(Observer(view.begin, view.progress, view.end), view.phase)
    with _interruptible(say if not live else _silent) as stop:
        if not live:
            yield watcher, stop
            return
        with Live(view, console=out, refresh_per_second=4, transient=True):
            yield watcher, stop


def _silent(line: str) -> None:
    """Say nothing."""


def _lines(out: Console) -> Callable[[str], None]:
    return lambda line: out.print(line, soft_wrap=True)


@contextmanager
def _interruptible(say: Callable[[str], None]) -> Iterator[threading.Event]:
    """Let the first interrupt end the search gracefully; the second one is as usual."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal's signature
        signal.signal(signal.SIGINT, before)
        say("The search ends; the models are trained with what there is. Ctrl-C again to stop at once.")
        stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def tuned_card(tuned: Tuned) -> None:
    """Print what came of a run: models on the holdout, the verdict, and where everything is."""
    out, found = console(), tuned.found
    shown = table("model", "AUL_PU", "95% interval", "tuned minus this", "p", "setting")
    for name, one in found.outcome.contenders.items():
        comparison = found.outcome.comparisons.get(name)
        shown.add_row(
            name,
            f"{one.interval.estimate:.4f}",
            f"{one.interval.low:.4f} - {one.interval.high:.4f}",
            "" if comparison is None else f"{comparison.difference:+.4f}",
            "" if comparison is None else f"{comparison.p_value:.2g}",
            str(one.configuration),
        )
    out.print(bold(f"{tuned.dataset}: {found.outcome.n_labelled:,} labelled rows that the search never saw"))
    out.print(shown)
    out.print(found.outcome.verdict)
    if note := found.outcome.contenders[TUNED].interval.note:
        out.print(note, style="yellow")
    if found.caution.sentence:
        out.print(found.caution.sentence)
    out.print(found.blending.sentence)
    if found.blending.is_taken:
        out.print(_parts(found))
    optimistic = "" if found.is_default else ", which is optimistic: it was chosen for it"
    out.print(f"It had {found.inner_value:.4f} in the search{optimistic}.", style="dim")
    where = facts()
    where.add_row("model", f"pubench predict {tuned.out} FILE --out scores.parquet")
    where.add_row("setting", f"{tuned.out / 'best.toml'}, for pubench fit --config")
    where.add_row("report", f"{tuned.out / 'report.html'}")
    where.add_row("trials", f"{tuned.out / 'trials.csv'}")
    out.print(where)


def _parts(found: Found) -> Table:
    """Return what a blend is made of."""
    shown = table("weight", "trial", "AUL_PU in the search", "setting")
    trials = {trial.number: trial for trial in found.trials}
    for number, weight in found.weights.items():
        trial = trials[number]
        shown.add_row(str(weight), str(number), _value(trial), str(trial.configuration))
    return shown


def tuned_json(tuned: Tuned) -> dict[str, Json]:
    """Return the same as a JSON object."""
    found = tuned.found
    return {
        "dataset": tuned.dataset,
        "out": str(tuned.out),
        "models": {
            name: {"setting": one.configuration.to_json(), "seconds": one.seconds, **_interval(one.interval)}
            for name, one in found.outcome.contenders.items()
        },
        "comparisons": {
            name: {"difference": c.difference, "low": c.low, "high": c.high, "p_value": c.p_value}
            for name, c in found.outcome.comparisons.items()
        },
        "verdict": found.outcome.verdict,
        "best_trial": found.best.number,
        "inner_aul_pu": found.inner_value,
        "default": {
            "kept": found.caution.keeps_default,
            "why": found.caution.sentence,
            **_gain(found.caution.gain),
        },
        "blend": {
            "taken": found.blending.is_taken,
            "why": found.blending.sentence,
            "weights": {str(number): weight for number, weight in found.blending.weights.items()},
            **_gain(found.blending.gain),
        },
        "trials": len(found.trials),
        "stopped_early": sum(trial.stopped_early for trial in found.trials),
        "failed": sum(trial.status is not Status.OK for trial in found.trials),
        "timeline": dict(found.timeline),
        "notices": list(tuned.notices),
    }


def _gain(gain: Gain | None) -> dict[str, Json]:
    return {
        "held_out_difference": None if gain is None else gain.difference,
        "stderr": None if gain is None else gain.stderr,
    }


def _interval(interval: AULInterval) -> dict[str, Json]:
    return {
        "aul_pu": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "n_labelled": interval.n_labelled,
    }
