"""Simulated records, and the ranking of records, for the tests of the leaderboard."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pubench.leaderboard.ranking import RankedTask, rank_tasks
from pubench.leaderboard.runs import BoardRuns, collect_runs
from pubench.leaderboard.task_results import results_of
from pubench.record.record import DataFacts, Record, RunSpec
from pubench.types import Status

Simulate: TypeAlias = Callable[..., list[Record]]
#: Five methods with their qualities.
FIVE = {"a": 1.2, "b": 1.0, "c": 0.9, "d": 0.3, "e": 0.0}


def facts(dataset: str, **changes: Any) -> DataFacts:
    values = {"rows": 9000, "features": 12, "train_rows": 6000, "train_labelled": 80, "test_rows": 3000}
    return DataFacts(hash=f"{abs(hash_of(dataset)):032x}", **{**values, "test_labelled": 40, **changes})


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode()[:16], "big")


def simulated(
    methods: Mapping[str, float],
    datasets: Sequence[str] = ("alpha", "beta", "gamma", "delta"),
    *,
    thetas: Sequence[float | None] = (0.5,),
    folds: int = 3,
    seeds: Sequence[int] = (1,),
    labelled: int = 40,
    noise: float = 0.3,
    failing: Callable[[str, str, int], bool] = lambda method, dataset, fold: False,  # noqa: ARG005
    truth: bool = True,
    learner: str = "lightgbm",
    tuned: Sequence[str] = (),
    stand_ins: Sequence[str] = (),
) -> list[Record]:
    """Return a record per method, data set, theta_O, seed and fold.

    A method of quality q places a labelled row of difficulty h at expit(q - h + noise); difficulties are shared.
    """
    made = []
    for dataset in datasets:
        for theta in thetas:
            for seed in seeds:
                for fold in range(folds):
                    rows = np.random.default_rng(
                        [hash_of(dataset) % 2**31, int((theta or 0) * 100), seed, fold]
                    )
                    difficulty = rows.normal(size=labelled)
                    for number, (method, quality) in enumerate(methods.items()):
                        spec = RunSpec(
                            dataset,
                            {"theta_o": theta, "rows": None},
                            method,
                            {"method": {"name": method}, "learner": {"name": learner, "trees": 60}},
                            fold,
                            folds,
                            seed,
                            {"trials": 30} if method in tuned else {},
                        )
                        data = facts(dataset, stand_in=dataset in stand_ins)
                        if failing(method, dataset, fold):
                            made.append(Record(spec, Status.TIMEOUT, "It took longer than 60 s.", data))
                            continue
                        own = noise * rows.normal(size=labelled)
                        placements = 1 / (1 + np.exp(-(quality - difficulty + own)))
                        made.append(_ok(spec, data, placements, number, truth=truth))
    return made


def _ok(spec: RunSpec, data: DataFacts, placements: Any, number: int, *, truth: bool) -> Record:
    aul = float(placements.mean())
    metrics = {"aul_pu": aul, "aul_pu_stderr": float(placements.std() / np.sqrt(len(placements)))}
    if truth:
        metrics["auc"] = min(1.0, aul + 0.004)
    return Record(
        spec,
        Status.OK,
        data=data,
        metrics=metrics,
        placements=tuple(placements.tolist()),
        seconds={"fit": 1.5 * (number + 1), "predict": 0.25},
        peak_memory_bytes=10**9,
        chosen={"k": 18},
        origins={"method": "pubench 0.1.0"},
        environment={"versions": {"numpy": "2.3.1", "python": "3.11.7"}, "hardware": {"cores": 2}},
    )


def rank_records(records: list[Record]) -> tuple[BoardRuns, tuple[RankedTask, ...]]:
    """Return the runs and the ranked tasks of records."""
    board_runs = collect_runs(records)
    return board_runs, rank_tasks(board_runs, results_of(board_runs))


def results_frame(records: list[Record]) -> pd.DataFrame:
    """Return one row per record with method, data set, theta_O and AUL_PU."""
    return pd.DataFrame(
        {
            "method": one.spec.method,
            "dataset": one.spec.dataset,
            "theta": one.spec.view["theta_o"],
            "aul": one.metrics.get("aul_pu", np.nan),
        }
        for one in records
    )


def method_names(board_runs: BoardRuns) -> list[str]:
    """Return the method of each contender."""
    return [entry.method for entry in board_runs.entries]
