"""The error of the estimators of c and of the class prior on simulated rows labelled at random (SCAR).

Rows are normal in six features; positives are shifted by `apart` standard deviations. A learner scores them out of fold, and
each line has the estimates from its scores: c, the probability that a positive is labelled, by e1, e2 and e3 of Elkan and
Noto; the share of positives among all rows by best bin estimation and by e1, with 95% intervals.
"""

import argparse
import os
from typing import cast

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import numpy.typing as npt

from pubench import (
    Parts,
    PriorEstimate,
    PUData,
    Resources,
    Seed,
    Table,
    best_bin_prior,
    elkan_prior,
    labelling_chance,
)
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import load_registry
from pubench.priors.elkan import Estimator
from pubench_plugins.methods.out_of_fold import out_of_fold

TWO = Resources(n_threads=2)
ESTIMATORS: tuple[Estimator, ...] = ("e1", "e2", "e3")
#: Rows, share of positives, share of these that is labelled, how far they are apart.
SETS = (
    (10_000, 0.3, 0.5, 5.0),
    (10_000, 0.3, 0.2, 5.0),
    (20_000, 0.05, 0.5, 5.0),
    (50_000, 0.005, 0.5, 6.0),
    (10_000, 0.3, 0.5, 2.0),
    (20_000, 0.05, 0.5, 2.0),
    (50_000, 0.005, 0.5, 2.5),
)


def draw(
    rows: int, prior: float, chance: float, apart: float, seed: int
) -> tuple[PUData, npt.NDArray[np.bool_]]:
    """Return PU data and who is positive in it."""
    generator = np.random.default_rng(seed)
    y = generator.random(rows) < prior
    X = generator.standard_normal((rows, 6))
    X[y, :2] += apart / np.sqrt(2)
    return PUData(Table.from_array(X), y & (generator.random(rows) < chance)), y


def shown(estimate: PriorEstimate) -> str:
    """Return an estimate and its interval."""
    return f"{estimate.prior:.4f} ({estimate.low:.4f} to {estimate.high:.4f})"


def main() -> None:
    """Print one line per set and learner."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--learners", nargs="+", default=["lightgbm", "logistic"], help="which learners")
    parser.add_argument("--seed", type=int, default=7, help="of the rows")
    options = parser.parse_args()
    registry = load_registry()
    print(
        f"{'rows':>7}{'apart':>6} {'learner':<9}{'c':>6}{'e1':>6}{'e2':>6}{'e3':>6}{'prior':>8}  best bin, elkan"
    )
    for rows, prior, chance, apart in SETS:
        data, y = draw(rows, prior, chance, apart, options.seed)
        for name in options.learners:
            learner = cast("Learner", registry.find(name, Kind.LEARNER).plugin())
            g = out_of_fold(Parts(learner=learner).trainer(data.X, TWO), data, 5, Seed(0), TWO)
            labelling = [labelling_chance(data.s, g, way) for way in ESTIMATORS]
            chances = "".join(f"{c:>6.3f}" for c in (data.n_labelled / y.sum(), *labelling))
            estimates = ", ".join(
                shown(estimate(data.s, g, Seed(0))) for estimate in (best_bin_prior, elkan_prior)
            )
            print(f"{rows:>7}{apart:>6} {name:<9}{chances}{y.mean():>8.4f}  {estimates}", flush=True)


if __name__ == "__main__":
    main()
