"""How well boosted trees rank on tables with structure, at their defaults and in larger configurations.

Each table is reduced to `--rows` rows at most, a third of which is held out. Half of the positives among the others are
labelled, about as many as `--labelled` says, if the table has them. A method is fitted with each learner, and evaluated
by AUC with true labels on the rows held out. `faint` is the opposite: one labelled row in a thousand and a weak linear
signal, the set of tests/plugins/test_learner_defaults.py. The tables are files of
ADBench in the folder `adbench` of PUBENCH_DATA. Seconds are CPU time of
one thread to fit, the mean over tables.
"""

import argparse
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, cast

# Before any learner is imported: one thread each, and no spinning.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt

from pubench import Learner, Method, Parts, PUData, Resources, Seed, Similarity, Table, auc
from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry

ONE = Resources(n_threads=1)
TABLES = (
    "pendigits",
    "satimage-2",
    "optdigits",
    "mammography",
    "vowels",
    "fault",
    "magic.gamma",
    "celeba",
    "campaign",
)
MORE_TABLES = ("cover", "InternetAds", "skin", "SpamBase", "yeast", "faint")
METHODS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "naive": ("naive", {}),
    "soft": ("probtagging", {"members": 1, "tags": "soft"}),
}
#: Configurations for tables with structure: many trees that are limited by their number of leaves, and hardly any penalty.
STRONG: dict[str, Mapping[str, Any]] = {
    "lightgbm-deep": {
        "name": "lightgbm",
        "trees": 200,
        "learning_rate": 0.05,
        "depth": 16,
        "leaves": 63,
        "l2": 0.1,
        "min_hessian": 0.001,
        "features": 0.5,
        "rows": 0.5,
    },
    "lightgbm-middle": {
        "name": "lightgbm",
        "trees": 100,
        "learning_rate": 0.1,
        "depth": 16,
        "leaves": 15,
        "l2": 1.0,
        "min_hessian": 0.01,
        "random_cuts": False,
        "features": 0.8,
        "rows": 0.8,
    },
    "xgboost-deep": {
        "name": "xgboost",
        "trees": 200,
        "learning_rate": 0.05,
        "depth": 16,
        "leaves": 63,
        "l2": 0.1,
        "min_hessian": 0.001,
        "features": 0.3,
        "rows": 0.8,
        "boost_from_average": False,
    },
    "catboost-deep": {
        "name": "catboost",
        "trees": 200,
        "learning_rate": 0.05,
        "depth": 6,
        "l2": 1.0,
        "rows": 0.8,
    },
}
DEFAULTS: dict[str, Mapping[str, Any]] = {
    name: {"name": name} for name in ("lightgbm", "xgboost", "catboost", "forest", "logistic")
}
#: What derived defaults and early stopping are compared with.
COMPARED: dict[str, Mapping[str, Any]] = {
    "logistic-fixed": {"name": "logistic", "c": 0.01},
    "lightgbm-long": {"name": "lightgbm", "trees": 100},
    "lightgbm-stop": {"name": "lightgbm", "trees": 500, "stop_share": 0.2},
}
CONFIGURATIONS = {**DEFAULTS, **STRONG, **COMPARED}


@dataclass(frozen=True)
class Case:
    """Rows to train on, rows to judge by, and who is positive among them."""

    train: PUData
    test: Table
    truth: npt.NDArray[np.bool_]


def structured(name: str, labelled: int, options: argparse.Namespace) -> Iterator[Case]:
    """Yield a draw from the table of this name for each seed."""
    (path,) = Path(os.environ["PUBENCH_DATA"], "adbench").glob(f"*_{name}.npz")
    with np.load(path) as arrays:
        values, y = arrays["X"].astype(np.float32), arrays["y"].ravel() == 1
    for seed in range(options.seeds):
        generator = np.random.default_rng([seed, labelled, len(y)])
        positive = generator.permutation(np.flatnonzero(y))[: 3 * labelled]
        negative = generator.permutation(np.flatnonzero(~y))[: options.rows - len(positive)]
        kept, rest = -(-len(positive) // 3), -(-len(negative) // 3)
        test = np.concatenate([positive[:kept], negative[:rest]])
        hidden = positive[kept:]
        train = generator.permutation(np.concatenate([hidden, negative[rest:]]))
        s = np.isin(train, hidden[: len(hidden) // 2])
        yield Case(PUData(Table.from_array(values[train]), s), Table.from_array(values[test]), y[test])


def faint() -> Case:
    """Return a weak linear signal: ten of fifteen features add up to the log-odds."""
    generator = np.random.default_rng(3)

    def draw(rows: int, positives: int) -> tuple[Table, npt.NDArray[np.bool_]]:
        values = generator.standard_normal((rows, 15)).astype(np.float32)
        odds = np.exp(1.35 * values[:, :10] @ np.array([3, -3, 3, -3, 3, 2, -2, 1, -1, 1]) / np.sqrt(56))
        target = np.zeros(rows, dtype=bool)
        target[generator.choice(rows, positives, replace=False, p=odds / odds.sum())] = True
        return Table.from_array(values), target

    X, y = draw(100_000, 200)
    s = np.zeros(len(y), dtype=bool)
    s[generator.choice(np.flatnonzero(y), 100, replace=False)] = True
    return Case(PUData(X, s), *draw(30_000, 1500))


def cases(options: argparse.Namespace) -> dict[str, list[Case]]:
    """Return the draws of every table: under "TABLE/LABELLED", one list per number of labelled rows."""
    found: dict[str, list[Case]] = {}
    for name in options.tables:
        for labelled in options.labelled:
            draws = [faint()] if name == "faint" else list(structured(name, labelled, options))
            # A table with few positives has the same number for any larger request.
            found.setdefault(f"{name}/{int(draws[0].train.s.sum())}", draws)
    return found


def fitted(method: str, params: Mapping[str, Any], case: Case, registry: Registry) -> tuple[float, float]:
    """Return the AUC of a method with a learner, and the seconds that it took to fit."""
    kind, own = METHODS[method]
    learner = cast(
        "Learner",
        registry.find(params["name"], Kind.LEARNER).plugin(
            **{name: value for name, value in params.items() if name != "name"}
        ),
    )
    chosen = cast("Method", registry.find(kind, Kind.METHOD).plugin(**own))
    similarity = cast("Similarity", registry.find("knn", Kind.SIMILARITY).plugin())
    parts = Parts(learner=learner, similarity=similarity if Kind.SIMILARITY in chosen.uses else None)
    parts = parts.suited_to(case.train)
    start = process_time()
    model = chosen.fit(case.train, parts, Seed(0), ONE)
    seconds = process_time() - start
    return auc(case.truth, model.score(case.test, ONE).values), seconds


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", choices=(*TABLES, *MORE_TABLES), default=list(TABLES))
    names = tuple(CONFIGURATIONS)
    parser.add_argument("--learners", nargs="+", choices=names, default=list(names), help="configurations")
    parser.add_argument("--methods", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    parser.add_argument("--rows", type=int, default=8000, help="at most, of a table")
    parser.add_argument("--labelled", type=int, nargs="+", default=[30, 100], help="rows, at most")
    parser.add_argument("--seeds", type=int, default=2, help="draws from each table")
    return parser.parse_args()


def main() -> None:
    """Print, for each method, one line per configuration, one column per table."""
    options = arguments()
    registry = load_registry()
    sets = cases(options)
    for method in options.methods:
        parts = (name.split("/") for name in sets)
        head = "".join(f"{f'{table[:9]}/{labelled}':>14}" for table, labelled in parts)
        print(f"{method:<18}{head}{'mean':>8}{'seconds':>9}", flush=True)
        for name in options.learners:
            params = CONFIGURATIONS[name]
            found = [[fitted(method, params, case, registry) for case in draws] for draws in sets.values()]
            areas = [float(np.mean([area for area, _ in several])) for several in found]
            seconds = np.mean([second for several in found for _, second in several])
            line = f"{name:<18}" + "".join(f"{area:>14.3f}" for area in areas)
            print(f"{line}{np.mean(areas):>8.3f}{seconds:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
