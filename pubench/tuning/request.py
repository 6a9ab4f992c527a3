"""What a person asks of `pubench tune`, and within it what a search needs; a job of a suite makes a search alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pubench.api.plugin import Kind
from pubench.crossfit.folds import FoldPlan
from pubench.tuning.whom_to_call import CallRequest

if TYPE_CHECKING:
    from pubench.data.sources import DatasetRequest  # which also knows truth; a search never sees one


#: The limits of a search for which a person named none.
DEFAULT_TRIALS = 50
DEFAULT_SECONDS = 600.0


@dataclass(frozen=True)
class SearchRequest:
    """A search over rows that are in memory; the same request in the same folder continues where it was.

    Attributes:
        trials: number of trials, those of earlier runs included; None: as many as the time allows.
        seconds: time limit for everything; None: no limit.
        plan: how configurations are compared.
        holdout: share of the rows that the search never sees.
        racing: stop bad trials early.
        workers: number of processes that judge trials side by side.
        memory_bytes: memory limit of each worker; None: no limit.
        seed: decides everything that is drawn.
        storage: address of a database that machines share; None: a journal in the run's folder.
        ensemble: the tuned model may be a blend of trials; otherwise it is the best trial.
        refit: train the model that is shipped on all rows, the holdout included.
        baselines: names of methods that the tuned model is compared with, at their defaults and at their best trials.
    """

    trials: int | None = None
    seconds: float | None = None
    plan: FoldPlan = field(default_factory=FoldPlan)
    holdout: float = 0.25
    racing: bool = True
    workers: int = 1
    memory_bytes: int | None = None
    seed: int = 0
    storage: str | None = None
    ensemble: bool = True
    refit: bool = True
    baselines: tuple[str, ...] = ()

    def limited(self, trials: int | None, seconds: float | None) -> Self:
        """Return the request with these limits; with neither of them, with the default limits."""
        if trials is None and seconds is None:
            trials, seconds = DEFAULT_TRIALS, DEFAULT_SECONDS
        return replace(self, trials=trials, seconds=seconds)


@dataclass(frozen=True)
class TuneRequest:
    """A whole `pubench tune`.

    Attributes:
        dataset: the data set; its seed is that of the search.
        search: how it is searched.
        out: the run's folder; None: a new one among the runs.
        names: plugins to search among, by kind; none of a kind: all that suit the size of the data.
        baselines: which methods the tuned model is compared with: `all` that a search tries by default, those of the
            `paper`, `none`, or names; they become the baselines of `search`.
        space: a TOML file that narrows the search space; None: none.
        theta_o: the share of positives to label, where only truth is known.
        device: "auto", "cpu" or "cuda".
        n_threads: number of threads; None: one per core.
        plugin_files: single-file plugins, which workers load too.
        resume: the run must exist already.
        calls: what the person asks about the call list.
        command: what the person typed, for the report.
    """

    dataset: "DatasetRequest"
    search: SearchRequest = field(default_factory=SearchRequest)
    out: Path | None = None
    names: Mapping[Kind, Sequence[str]] = field(default_factory=dict)
    baselines: tuple[str, ...] = ("all",)
    space: Path | None = None
    theta_o: float | None = None
    device: str = "auto"
    n_threads: int | None = None
    plugin_files: tuple[Path, ...] = ()
    resume: bool = False
    calls: CallRequest = field(default_factory=CallRequest)
    command: tuple[str, ...] = ()
