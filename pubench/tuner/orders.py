"""What a person asks of `pubench tune`, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pubench.data.sources import Wanted
from pubench.plugin_api import Kind
from pubench.tuning.inner import Plan
from pubench.tuning.run import Found
from pubench.types import PUData


@dataclass(frozen=True)
class TuneOrder:
    """What a person asked for.

    Attributes:
        wanted: the data set.
        out: the folder; None: a new one among the runs.
        names: plugins to search among, by kind; none for a kind: all that there are.
        space: a TOML file that narrows the search; None: none.
        trials, seconds: the budget.
        plan: how configurations are compared.
        holdout: share of rows that the search never sees.
        seed: decides everything.
        theta_o: the share of positives to label, where only truth is known.
        device: "auto", "cpu" or "cuda".
        n_threads: None: one per core.
        workers: processes.
        memory_bytes: of each worker.
        storage: a database that machines share.
        racing: stop bad trials early.
        ensemble: the final model may be a blend of trials.
        plugin_files: single-file plugins that workers load too.
        resume: the run must be there.
        command: what the person typed, for the report.
    """

    wanted: Wanted
    out: Path | None = None
    names: Mapping[Kind, Sequence[str]] = field(default_factory=dict)
    space: Path | None = None
    trials: int | None = None
    seconds: float | None = None
    plan: Plan = field(default_factory=Plan)
    holdout: float = 0.25
    seed: int = 0
    theta_o: float | None = None
    device: str = "auto"
    n_threads: int | None = None
    workers: int = 1
    memory_bytes: int | None = None
    storage: str | None = None
    racing: bool = True
    ensemble: bool = True
    plugin_files: tuple[Path, ...] = ()
    resume: bool = False
    command: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Tuned:
    """What came of it.

    Attributes:
        out: the folder.
        dataset: what the data set is called.
        data: what the search, and the holdout, could see.
        found: trials, models and figures.
        notices: what is worth knowing, a sentence each.
    """

    out: Path
    dataset: str
    data: PUData
    found: Found
    notices: tuple[str, ...]
