"""Whole runs of `pubench tune` on simulated tables: does the interval hold what is true, and what is found where nothing is?

    python benchmarks/honest_runs.py --repetitions 400 --processes 2

Positives are shifted along two of six features, and half of them are labelled. Each run searches, blends, and judges its model
on its holdout; the twin then scores 20,000 new rows whose truth is known, which gives the AUL that its interval claims to
hold. On tables without a signal the labels are drawn at random from all rows: every method is as good as chance, so a
conclusion that calls the model better or worse than the best baseline, or a leaderboard with a difference beyond doubt, is false.

A line has the share of runs whose 95% interval holds the true AUL, with the interval of that share; the mean of estimate minus truth;
and the share of runs whose conclusion calls the model better or worse than the best baseline, and that find any difference.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import pubench
from pubench import Resources, Table, aul_pn_score
from pubench.tuning.conclusion import MAX_P_VALUE, Outcome
from pubench.types import BoolVector, FloatVector

#: Name -> how far positives are shifted, in standard deviations; 0: there is nothing to find.
SIGNALS = {"signal": 1.2, "nothing": 0.0}
_FRESH = 20_000


@dataclass(frozen=True)
class Job:
    """One run."""

    seed: int
    shift: float
    rows: int
    positive_share: float
    trials: int
    baselines: str


@dataclass(frozen=True)
class Run:
    """What came of it."""

    holds: bool
    error: float
    says_better: bool
    finds_any: bool


def table(job: Job, rows: int, generator: np.random.Generator) -> tuple[FloatVector, BoolVector]:
    """Return features, and which rows are positive."""
    y = generator.random(rows) < job.positive_share
    X = generator.normal(size=(rows, 6))
    X[:, 0] += job.shift * y
    X[:, 1] += job.shift * y * generator.choice([-1, 1], rows)
    return X, y


def run(job: Job) -> Run:
    """Tune on one table, and compare with what is true."""
    generator = np.random.default_rng(job.seed)
    X, y = table(job, job.rows, generator)
    s = y & (generator.random(job.rows) < 0.5)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(s=s.astype(int))
    fresh, truth = table(job, _FRESH, generator)
    with TemporaryDirectory() as folder:
        result = pubench.tune(
            frame,
            label="s",
            trials=job.trials,
            seed=job.seed,
            baselines=job.baselines.split(","),
            out=Path(folder) / "run",
        )
        new = Table(fresh, result.data.X.features)
        scores = result.tuned.fitted.score(new, Resources()).values  # noqa: PD011 - no DataFrame
    true = aul_pn_score(truth, scores)
    interval = result.tuned.interval
    p_values = [row.p_value for row in result.standings if row.p_value is not None]
    return Run(
        interval.low <= true <= interval.high,
        interval.estimate - true,
        result.conclusion.outcome in (Outcome.BETTER, Outcome.WORSE),
        bool(p_values) and min(p_values) <= MAX_P_VALUE,
    )


def _share(found: list[bool]) -> str:
    interval = binomtest(sum(found), len(found)).proportion_ci(method="wilson")
    return f"{mean(found):.3f} ({interval.low:.3f} to {interval.high:.3f})"


def main() -> None:
    """Print a line per kind of table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--positive-share", type=float, default=0.1)
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument(
        "--baselines", default="naive,bagging,elkan-weighted,pu-auc", help="separated by commas"
    )
    parser.add_argument("--signal", choices=tuple(SIGNALS), action="append")
    options = parser.parse_args()
    print(f"{'':<10}{'runs':>6}  {'interval holds':<25}{'error':>9}  {'better or worse':<25}any difference")
    for name in options.signal or SIGNALS:
        jobs = [
            Job(seed, SIGNALS[name], options.rows, options.positive_share, options.trials, options.baselines)
            for seed in range(options.repetitions)
        ]
        with ProcessPoolExecutor(options.processes) as pool:
            runs = list(pool.map(run, jobs))
        print(
            f"{name:<10}{len(runs):>6}  {_share([one.holds for one in runs]):<25}{mean(one.error for one in runs):>+9.4f}  "
            f"{_share([one.says_better for one in runs]):<25}{_share([one.finds_any for one in runs])}",
            flush=True,
        )


if __name__ == "__main__":
    main()
