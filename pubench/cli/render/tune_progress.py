"""What `tune` shows while it runs: live in a terminal, else line by line."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pubench.cli.render.terminal import console, facts, ignore_line, line_printer
from pubench.configuration.configuration import Configuration
from pubench.tuning.request import SearchRequest
from pubench.tuning.trial import Trial, TuneCallbacks
from pubench.types import Status

#: Shown for the first trial, which is the slowest.
_FIRST = "; it prepares what all others share, and compiles code if it is the first on this machine"


class TuneView:
    """The state of a run for display: updated by the callbacks, shown live in a terminal or printed line by line."""

    def __init__(self, request: SearchRequest, print_line: Callable[[str], None]) -> None:
        self._request = request
        self._print_line = print_line
        self._started = time.monotonic()
        self._current = "reading the data"
        self._share = 0.0
        self._phase = ""
        self._last: list[Trial] = []
        self._search_until: float | None = None
        self._of_method: dict[str, float] = {}
        self._begun = False
        self.best: Trial | None = None
        self.done = self.early = self.failed = 0

    def begin(self, number: int, configuration: Configuration) -> None:
        """Update when a trial begins; print a line for the first, which may take a minute."""
        self._current, self._share = f"trial {number}: {configuration}", 0.0
        if not self._begun:
            self._begun = True
            self._current += _FIRST
            self._print_line(f"{self._elapsed()}  trial {number:3}  begins{_FIRST}")

    def progress(self, number: int, share: float) -> None:  # noqa: ARG002 - the callback's signature
        """Update the progress of the running trial."""
        self._share = share

    def end(self, trial: Trial) -> None:
        """Update when a trial ends, and print a line."""
        self.done += trial.status is Status.OK and not trial.stopped_early
        self.early += trial.status is Status.OK and trial.stopped_early
        self.failed += trial.status is not Status.OK
        self._judge(trial)
        self._last = [*self._last[-5:], trial]
        self._print_line(
            f"{self._elapsed()}  trial {trial.number:3}  {shown_value(trial):14}  {trial.configuration}"
        )

    def _judge(self, trial: Trial) -> None:
        if not trial.is_complete or trial.value is None:
            return
        method = trial.configuration.method.name
        self._of_method[method] = max(trial.value, self._of_method.get(method, 0.0))
        if self.best is None or trial.value > (self.best.value or 0):
            self.best = trial

    def resume(self, trials: Sequence[Trial]) -> None:
        """Update with the trials of an earlier run, and say so."""
        for trial in trials:
            self._judge(trial)
        self.done += sum(trial.is_complete for trial in trials)
        best = "" if self.best is None else f"; the best so far: {self._best()}"
        self._print_line(f"{self._elapsed()}  continues after {len(trials)} trials of an earlier run{best}")

    def plan(self, search_until: float) -> None:
        """Update when it is known when the search ends."""
        self._search_until = None if search_until == float("inf") else search_until

    def stop(self) -> None:
        """Say what is kept when a person ends the search."""
        kept = f"{self.done} judged trials are kept" if self.done else "the trials so far are kept"
        self._current = (
            f"the search ends: {kept}, and the models are trained with them, without baselines. Ctrl-C again stops at once; "
            "the same command continues later."
        )
        self._print_line(f"{self._elapsed()}  {self._current}")

    def phase(self, name: str, share: float) -> None:
        """Update the phase after the search, and print a line when it changes."""
        if name != self._phase:
            self._phase = name
            self._print_line(f"{self._elapsed()}  {name}")
        self._current, self._share = name, share

    def __rich__(self) -> RenderableType:
        """Return what the terminal shows."""
        grid = facts()
        grid.add_row("best so far", Text(self._best(), style="green" if self.best else ""))
        grid.add_row(
            "trials", f"{self.done} done, {self.early} stopped early, {self.failed} failed{self._of_trials()}"
        )
        if self._of_method:
            grid.add_row("methods", self._methods())
        grid.add_row("time", f"{self._elapsed()}{self._left()}")
        grid.add_row("now", self._current)
        grid.add_row("", ProgressBar(total=1.0, completed=self._share, width=40))
        last = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for trial in self._last:
            last.add_row(f"{trial.number}", shown_value(trial), str(trial.configuration), style="dim")
        return Group(grid, last)

    def _best(self) -> str:
        if self.best is None:
            return "none yet"
        half_width = 1.96 * self.best.stderr
        return (
            f"{self.best.value:.4f} ± {half_width:.4f}  trial {self.best.number}: {self.best.configuration}"
        )

    def _of_trials(self) -> str:
        return "" if self._request.trials is None else f" of {self._request.trials}"

    def _elapsed(self) -> str:
        return _clock(time.monotonic() - self._started)

    def _methods(self) -> str:
        """Return the best value of each method so far, the best method first."""
        best_first = sorted(self._of_method.items(), key=lambda item: -item[1])
        return ", ".join(f"{name} {value:.4f}" for name, value in best_first)

    def _left(self) -> str:
        if self._request.seconds is None:
            return ""
        now = time.monotonic()
        all_left = _clock(self._request.seconds - (now - self._started))
        if self._search_until is None or now >= self._search_until:
            return f", at most {all_left} left"
        return f", left: {_clock(self._search_until - now)} for the search, {all_left} in all, baselines and final models included"


def _clock(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02}"


def shown_value(trial: Trial) -> str:
    """Return the value of a trial, or how it ended."""
    if trial.value is None:
        return str(trial.status)
    return f"{trial.value:.4f}{' (early)' if trial.stopped_early else ''}"


@contextmanager
def show_progress(request: SearchRequest, *, quiet: bool) -> Iterator[tuple[TuneCallbacks, threading.Event]]:
    """Show a run on stderr, live in a terminal, else line by line; the first Ctrl-C sets the event."""
    out = console(stderr=True)
    live = out.is_terminal and not quiet
    print_line = ignore_line if live or quiet else line_printer(out)
    view = TuneView(request, print_line)
    callbacks = TuneCallbacks(view.begin, view.progress, view.end, view.phase, view.resume, view.plan)
    with _interruptible(view.stop) as stop:
        if not live:
            yield callbacks, stop
            return
        with Live(view, console=out, refresh_per_second=4, transient=True):
            yield callbacks, stop


@contextmanager
def _interruptible(say: Callable[[], None]) -> Iterator[threading.Event]:
    """Let the first Ctrl-C end the search gracefully; the second one interrupts as usual."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal's signature
        signal.signal(signal.SIGINT, before)
        say()
        stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
