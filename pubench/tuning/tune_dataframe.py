"""`pubench.tune`: a whole tuning run on a DataFrame, for scripts and notebooks."""

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.crossfit.folds import FoldPlan
from pubench.data.sources import DatasetRequest, DatasetResult
from pubench.data.table_file import frame_table
from pubench.data.user_file import FileSpec, read_table
from pubench.metrics.prior_corrected import Prior
from pubench.system.cache import machine_cache
from pubench.tuning.command import tune_dataset
from pubench.tuning.request import SearchRequest, TuneRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.trial import Trial, TuneCallbacks
from pubench.tuning.whom_to_call import CallRequest
from pubench.types import Resources

if TYPE_CHECKING:
    import pandas as pd

_LOG = logging.getLogger("pubench")


def tune(  # noqa: PLR0913 - the options of the command
    frame: "pd.DataFrame",
    *,
    label: str,
    positive: str | None = None,
    drop: Sequence[str] = (),
    id: str | None = None,  # noqa: A002 - the command's name for it
    trials: int | None = None,
    timeout: float | None = None,
    method: Sequence[str] = (),
    similarity: Sequence[str] = (),
    learner: Sequence[str] = (),
    baselines: Sequence[str] = ("all",),
    folds: int = 5,
    holdout: float = 0.25,
    workers: int = 1,
    seed: int = 0,
    device: str = "auto",
    name: str = "frame",
    out: Path | str | None = None,
    plugins: Sequence[Path | str] = (),
    prior: Prior | None = None,
    top: Sequence[int] = (),
    gain: float | None = None,
    cost: float | None = None,
) -> TuneResult:
    """Find the best model for a DataFrame, as `pubench tune` does for a file; no negative labels are needed.

    The run's folder holds the same files as that of the command. The same call with the same `out` continues a run that was
    interrupted. Each trial is logged at level INFO by the logger `pubench`.

    Args:
        frame: a row per person or thing; numbers, flags, texts, categories and dates become features, NaN is missing.
        label: the column that tells labelled positives from unlabeled rows.
        positive: the label of positives as text; None where it is clear, as for 1 and 0.
        drop: columns to leave out.
        id: a column that names rows and is no feature.
        trials: number of trials; with neither `trials` nor `timeout`, 50 trials in at most 10 minutes.
        timeout: time limit for everything, in seconds.
        method: names of methods to search among; none: all that are searched by default.
        similarity: the same of similarities.
        learner: the same of learners.
        baselines: which methods stand on the leaderboard beside the model: `all`, those of the `paper`, `none`, or names.
        folds: number of folds that trials are judged on; fewer where there are fewer labelled rows.
        holdout: share of the rows that the search never sees, for the final evaluation.
        workers: number of trials in parallel, each in a process of its own.
        seed: decides everything that is drawn.
        device: "auto", "cpu" or "cuda".
        name: what the data set is called in messages, the report and the record.
        out: the run's folder; None: a new one among the runs, see `TuneResult.out`.
        plugins: single-file plugins.
        prior: the share of positives among all rows, or a range (low, central, high), for numbers of positives; None: an estimate,
            where there is one.
        top: numbers of rows that `call_table` shows beside the usual depths.
        gain: what a positive brings, for `profit`; with `cost`.
        cost: what each call costs.

    Returns:
        What was found; `leaderboard()`, `predict(frame)` and `report()` are the next steps.

    Raises:
        InputError: a column, a plugin or a value is not what it has to be; nothing is written then.
        JobFailedError: no trial succeeded.
    """
    columns = DatasetRequest(name, label, positive, tuple(drop), id, seed=seed)
    request = TuneRequest(
        dataset=columns,
        search=SearchRequest(plan=FoldPlan(folds=folds), holdout=holdout, workers=workers, seed=seed).limited(
            trials, timeout
        ),
        out=None if out is None else Path(out),
        names={Kind.METHOD: method, Kind.SIMILARITY: similarity, Kind.LEARNER: learner},
        baselines=tuple(baselines),
        device=device,
        plugin_files=tuple(map(Path, plugins)),
        calls=CallRequest(prior, tuple(top), gain, cost),
        command=(f"pubench.tune({name}, label={label!r}, ...)",),
    )
    return tune_dataset(
        request,
        open_frame(frame, columns),
        load_registry(request.plugin_files),
        Resources(keep=machine_cache(_LOG.warning)),
        TuneCallbacks(trial_ended=_log_trial, phase=_log_phase),
        threading.Event(),
    )


def open_frame(frame: "pd.DataFrame", request: DatasetRequest) -> DatasetResult:
    """Return a DataFrame as a data set, as if it had been read from a Parquet file."""
    spec = FileSpec(Path(request.name), request.label, request.positive, request.drop, request.id)
    contents = read_table(frame_table(frame, request.name), spec)
    return DatasetResult(request.name, contents.dataset, None, "memory", contents.ids, contents.notices)


def _log_trial(trial: Trial) -> None:
    value = trial.reason if trial.value is None else f"{trial.value:.4f}"
    _LOG.info("trial %d: %s  %s", trial.number, value, trial.configuration)


def _log_phase(phase: str, share: float) -> None:
    _LOG.info("%s: %.0f%%", phase, 100 * share)
