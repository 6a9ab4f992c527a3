"""Simulates SCAR: how often intervals cover the true AUL, and how often a comparison finds a difference that does not exist.

Scores are Gaussian, positives shifted by d, so that the true values are known: AUC = Phi(d / sqrt 2) and
AUL = prior/2 + (1 - prior) AUC. The labelled rows are drawn at random from the positives. The second model is equally
good and correlated with the first.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.stats import norm

from pubench.metrics.comparison import compare_aul
from pubench.metrics.intervals import aul_pu_interval
from pubench.metrics.prior_corrected import aul_from_auc
from pubench.types import BoolVector, FloatVector


@dataclass(frozen=True)
class Setting:
    """One line of the table, or a part of its repetitions: those from `first` on."""

    auc: float
    labelled: int
    repetitions: int
    rows: int
    prior: float
    correlation: float
    resamples: int
    seed: int
    first: int = 0


def simulate(setting: Setting, generator: np.random.Generator) -> tuple[BoolVector, FloatVector, FloatVector]:
    """Return observed labels and the scores of two equally good models."""
    y = generator.random(setting.rows) < setting.prior
    s = np.zeros(setting.rows, dtype=np.bool_)
    s[generator.choice(np.flatnonzero(y), setting.labelled, replace=False)] = True
    shared, own = generator.standard_normal((2, setting.rows))
    shift = np.sqrt(2) * norm.ppf(setting.auc) * y
    other = setting.correlation * shared + np.sqrt(1 - setting.correlation**2) * own
    return s, shift + shared, shift + other


def errors(setting: Setting) -> tuple[int, int, int]:
    """Count intervals that miss the truth, by placement and by bootstrap, and false claims of a difference."""
    truth = aul_from_auc(setting.auc, setting.prior)
    missed = boot_missed = claimed = 0
    for repetition in range(setting.first, setting.first + setting.repetitions):
        s, a, b = simulate(setting, np.random.default_rng([setting.seed, repetition, setting.labelled]))
        interval = aul_pu_interval(s, a)
        boot = aul_pu_interval(
            s, a, method="bootstrap", n_resamples=setting.resamples, random_state=repetition
        )
        missed += not interval.low <= truth <= interval.high
        boot_missed += not boot.low <= truth <= boot.high
        claimed += compare_aul(s, a, b).p_value < 0.05
    return missed, boot_missed, claimed


def in_parallel(setting: Setting, pool: ProcessPoolExecutor, jobs: int) -> FloatVector:
    """Share the repetitions among processes; returns the three error rates in percent."""
    share = -(-setting.repetitions // jobs)
    parts = [replace(setting, repetitions=share, first=share * job) for job in range(jobs)]
    counts = np.array(list(pool.map(errors, parts)), dtype=np.float64)
    return np.asarray(counts.sum(axis=0) * 100 / (share * jobs))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=2000, help="simulated tables per line")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of a table")
    parser.add_argument("--prior", type=float, default=0.05, help="share of positives")
    parser.add_argument("--correlation", type=float, default=0.8, help="of the two models' noise")
    parser.add_argument("--resamples", type=int, default=1000, help="of each bootstrap")
    parser.add_argument(
        "--labelled", type=int, nargs="+", default=[20, 50, 100, 300], help="labelled positives"
    )
    parser.add_argument(
        "--auc", type=float, nargs="+", default=[0.65, 0.86, 0.97], help="true AUC of both models"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the simulation")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    return parser.parse_args()


def main() -> None:
    """Print the table, line by line."""
    options = arguments()
    error = 100 * np.sqrt(0.05 * 0.95 / options.repetitions)
    print(
        f"{options.rows} rows, {options.prior:.0%} positive, {options.repetitions} repetitions "
        f"(Monte-Carlo standard error {error:.2f} points), nominal 95% and 5%\n"
    )
    print("  AUC  labelled  coverage placement  coverage bootstrap  type-I compare_aul")
    shared = {
        name: getattr(options, name) for name in ("repetitions", "rows", "prior", "correlation", "resamples")
    }
    with ProcessPoolExecutor(options.jobs) as pool:
        for auc, labelled in product(options.auc, options.labelled):
            setting = Setting(auc=auc, labelled=labelled, seed=options.seed, **shared)
            missed, boot_missed, claimed = in_parallel(setting, pool, options.jobs)
            figures = f"{100 - missed:17.1f}%  {100 - boot_missed:17.1f}%  {claimed:17.1f}%"
            print(f"  {auc:.2f}  {labelled:8d}  {figures}", flush=True)


if __name__ == "__main__":
    main()
