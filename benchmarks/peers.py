"""Other systems beside pubench, on the same rows and with the same seconds, judged by true labels afterwards.

    python benchmarks/peers.py --out DIR --seconds 60 --env autogluon=/path/to/its/python
    python benchmarks/peers.py --out DIR --table mammography --table mine.npz --system tune --system flaml
    python benchmarks/peers.py --out DIR --report

Tables, folds and seeds are those of the suite `development`; --table names others, as data sets or as .npz files with arrays
X and y (1: positive). `tune` is the command line, `default` is ProbTaggingClassifier as it comes; to all others an
unlabeled row is a negative, or what they make of PU labels. Each system runs in a process of its own: `tune`, `default`,
`lightgbm` and `catboost` with this Python, unless --env says otherwise, any other one with that of --env, or in an
environment that is made with pip below --envs when its name is given with --system. `peer_protocol.py` describes the rows,
`peer_systems.py` how each system is called.

Each measurement is one file, so the same command resumes an interrupted run. A failure is a result, with its reason;
a system that takes three times its seconds is ended. --retry repeats failures. `peer_report.py` explains the report.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from peer_protocol import (
    FAILED,
    OK,
    TIMEOUT,
    Cell,
    PeerTable,
    Protocol,
    Result,
    cells,
    draw,
    is_due,
    measured,
    read_results,
    read_table,
    table_name,
    write_task,
)
from peer_report import METRICS, report
from peer_systems import SYSTEMS
from pubench.api.registry import load_registry
from pubench.bench.suite_file import find_suite
from pubench.errors import PubenchError, one_line
from pubench.system.machine import cores
from pubench.system.paths import cache_folder

#: Systems that this Python has anyway.
HERE = ("tune", "default", "lightgbm", "catboost")
#: What pip installs for the others.
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "autogluon": ("autogluon.tabular[lightgbm,catboost,xgboost]",),
    "flaml": ("flaml[automl,catboost]",),
    "pulearn": ("pulearn",),
    "pu-toolbox": ("pu-toolbox[torch]",),
}
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def parse() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument(
        "--report", action="store_true", help="print what the results say, and measure nothing"
    )
    parser.add_argument("--metric", choices=METRICS, default="auc", help="of the report")
    parser.add_argument("--suite", default="development", help="which names tables, folds and seeds")
    parser.add_argument("--table", action="append", help="a data set or an .npz file; may be repeated")
    parser.add_argument("--system", action="append", choices=tuple(SYSTEMS), help="may be repeated")
    parser.add_argument("--env", action="append", default=[], metavar="SYSTEM=PYTHON", help="may be repeated")
    parser.add_argument("--envs", type=Path, default=cache_folder() / "peers", help="folder of environments")
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of a system that has one")
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--labelled", type=int, nargs="+", default=[30, 100], help="numbers of labelled rows")
    parser.add_argument("--unlabeled", type=int, default=25_000, help="rows to train on, at most; 0: all")
    parser.add_argument("--fold", type=int, action="append", help="only this fold; may be repeated")
    parser.add_argument("--seed", type=int, action="append", help="instead of the suite's; may be repeated")
    parser.add_argument("--retry", choices=(FAILED, TIMEOUT), action="append", default=[])
    return parser.parse_args()


class EnvironmentFailedError(Exception):
    """The environment of a system could not be made."""


class Environments:
    """The Python of each system."""

    def __init__(self, given: Mapping[str, str], folder: Path) -> None:
        self._given = given
        self._folder = folder
        self._found: dict[str, str | EnvironmentFailedError] = {}

    def python(self, system: str) -> str:
        """Return it, made with pip where there is none; raises `EnvironmentFailedError`."""
        if system not in self._found:
            self._found[system] = self._find(system)
        found = self._found[system]
        if isinstance(found, EnvironmentFailedError):
            raise found
        return found

    def _find(self, system: str) -> "str | EnvironmentFailedError":
        if system in self._given:
            return self._given[system]
        if system in HERE:
            return sys.executable
        folder = self._folder / system
        python, complete = folder / "bin" / "python", folder / "complete"
        if not complete.exists():
            print(f"An environment for {system} is made in {folder}.", flush=True)
            try:
                venv.create(folder, with_pip=True, clear=True)
                subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[system]], check=True)
                complete.touch()
            except (OSError, subprocess.CalledProcessError) as error:
                return EnvironmentFailedError(f"its environment cannot be made: {error}")
        return str(python)

    def variables(self, system: str, threads: int) -> dict[str, str]:
        """Return the environment variables of its process: this Python's packages are not on another one's path."""
        kept = dict(os.environ)
        if system not in HERE or system in self._given:
            kept.pop("PYTHONPATH", None)
        return {**kept, "PYTHONSAFEPATH": "1", **dict.fromkeys(_THREADS, str(threads))}


@dataclass(frozen=True)
class Outcome:
    """How a process ended: its seconds, its exit code or None where it was ended, and the end of its output."""

    seconds: float
    code: int | None
    end: str


def run(command: list[str], variables: Mapping[str, str], folder: Path, patience: float) -> Outcome:
    """Run a program with its own process group, and end it and whatever it started after `patience` seconds."""
    log = folder / "log"
    start = time.perf_counter()
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    return Outcome(
        round(time.perf_counter() - start, 3), code, one_line(last).replace(str(folder), ".")[:300]
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, what it started, and what these left behind in its group."""
    family: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process.pid)
        family = [parent, *parent.children(recursive=True)]
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    psutil.wait_procs(family, timeout=5)
    process.wait()


def measure(cell: Cell, table: PeerTable, protocol: Protocol, environments: Environments) -> Result:
    """Return the result of one measurement, whatever happens in it."""
    result = Result(cell, FAILED, table=table.fingerprint)
    try:
        sample = draw(table, cell.seed, cell.fold, cell.labelled, protocol)
        result = replace(result, counts=sample.counts)
        python = environments.python(cell.system)
        with TemporaryDirectory(prefix="peers-") as name:
            folder = Path(name)
            write_task(folder, sample, cell, protocol)
            command = [python, str(Path(__file__).with_name("peer_systems.py")), str(folder)]
            variables = environments.variables(cell.system, protocol.threads)
            outcome = run(command, variables, folder, protocol.patience)
            result = replace(result, seconds=outcome.seconds)
            if outcome.code is None:
                reason = f"it was ended after {protocol.patience:g} s"
                return replace(result, status=TIMEOUT, reason=reason)
            if outcome.code != 0:
                return replace(result, reason=f"{outcome.end} (exit code {outcome.code})")
            return measured(replace(result, status=OK), folder, sample)
    except (PubenchError, EnvironmentFailedError, OSError) as error:
        return replace(result, reason=one_line(str(error)))


def chosen_tables(options: argparse.Namespace) -> tuple[list[str], int, tuple[int, ...]]:
    """Return the names of the tables, the number of folds and the seeds."""
    suite = find_suite(options.suite)
    named = [name for block in suite.jobs for name in block.datasets]
    names = list(dict.fromkeys(options.table or named))
    called = [table_name(name) for name in names]
    for name in called:
        if called.count(name) > 1:
            raise SystemExit(f"Two tables are called {name}.")
    seeds = dict.fromkeys(seed for block in suite.jobs for seed in block.seeds)
    return names, suite.jobs[0].folds, tuple(options.seed or seeds)


def tables(names: list[str]) -> Iterator[PeerTable]:
    """Yield the tables, and say which cannot be read."""
    registry = load_registry()
    for name in names:
        try:
            yield read_table(name, registry)
        except PubenchError as error:
            print(f"{name} is left out: {one_line(str(error))}", flush=True)


def main() -> None:
    """Print a line per measurement, or the report."""
    options = parse()
    if options.report:
        print(report(read_results(options.out), options.metric), end="")
        return
    given = dict(pair.partition("=")[::2] for pair in options.env)
    for system in given:
        if system not in SYSTEMS:
            raise SystemExit(f"--env {system}=... names no system; there are {', '.join(SYSTEMS)}.")
    systems = options.system or [name for name in SYSTEMS if name in HERE or name in given]
    names, folds, seeds = chosen_tables(options)
    protocol = Protocol(
        options.seconds, options.threads, folds, tuple(options.labelled), options.unlabeled or None
    )
    protocol.keep(options.out)
    environments = Environments(given, options.envs)
    for table in tables(names):
        for cell in cells(table, seeds, systems, protocol):
            if options.fold and cell.fold not in options.fold:
                continue
            if is_due(cell, options.out, table.fingerprint, options.retry):
                result = measure(cell, table, protocol, environments)
                result.write(options.out)
                print(line(result), flush=True)


def line(result: Result) -> str:
    """Return one line on a result."""
    cell = result.cell
    what = f"{cell.table} seed {cell.seed} fold {cell.fold} labelled {cell.labelled} {cell.system}"
    found = "  ".join(f"{name} {value:.4f}" for name, value in result.metrics.items())
    return f"{what}: {found or f'{result.status}: {result.reason}'}  {result.seconds:.1f} s"


if __name__ == "__main__":
    main()
