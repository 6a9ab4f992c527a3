"""Many configurations on the development tables: what `portfolio.py` and `choice_rules.py` choose from, and are judged by.

    python benchmarks/trial_library.py --out LIBRARY
    python benchmarks/trial_library.py --out LIBRARY --table mammography --labelled 30

For each table of the suite `development` and each number of labelled rows, every configuration of `CONFIGURATIONS` is judged
as a trial of `pubench tune` is: out-of-fold scores of the training rows, from PU labels alone. Then it is trained on all
training rows, and scores rows that were held out; true labels of these are kept for judging what was chosen. Configurations
are drafts, as in a search. One file is written per configuration, so the same command resumes an interrupted run.

Seconds are those of the processor, one thread, for a whole trial; what trials share is computed before.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from json import dumps
from pathlib import Path
from time import process_time
from typing import Any, Self

# Before any learner is imported: one thread each, and no spinning.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score

from peer_protocol import PeerTable, Protocol, draw, levels, read_table
from pubench import PUData, Resources, Seed, auc
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.bench.suite_file import find_suite
from pubench.configuration.configuration import Configuration
from pubench.crossfit.cross_fit import cross_fit
from pubench.crossfit.fold_cache import FoldCache
from pubench.crossfit.folds import FoldPlan, InnerFold, inner_folds
from pubench.errors import PubenchError, one_line
from pubench.metrics.quantiles import TOWARDS_TOP, Quantiles
from pubench.metrics.ranks import share_below
from pubench.tuning.ensemble_selection import RankedFold, mean_value
from pubench.tuning.model_choice import OutOfFoldScores
from pubench.tuning.portfolio import Params, plugin_params
from pubench.tuning.space import SearchSpace
from pubench.types import BoolVector, FloatVector, IndexVector

_ONE = Resources(n_threads=1)
#: Rows held out are judged on at most this number of negatives.
_MAX_TEST_NEGATIVES = 10_000

_learner = partial(plugin_params, Kind.LEARNER)
_method = partial(plugin_params, Kind.METHOD)
_similarity = partial(plugin_params, Kind.SIMILARITY)
_DEEP: Params = {"trees": 200, "learning_rate": 0.05, "depth": 16, "leaves": 63, "min_hessian": 0.001}
_LEARNERS: Mapping[str, Params] = {
    "lightgbm": _learner("lightgbm"),
    "lightgbm-deep": _learner("lightgbm", l2=0.1, features=0.5, rows=0.5, **_DEEP),
    "lightgbm-best": _learner(
        "lightgbm", trees=100, learning_rate=0.1, depth=16, leaves=15, l2=1.0, min_hessian=0.01, random_cuts=False, features=0.8,
        rows=0.8,
    ),
    "xgboost": _learner("xgboost"),
    "xgboost-deep": _learner("xgboost", l2=0.1, features=0.3, rows=0.8, boost_from_average=False, **_DEEP),
    "catboost": _learner("catboost"),
    "catboost-deep": _learner("catboost", trees=200, learning_rate=0.05, depth=6, l2=1.0, rows=0.8),
    "catboost-deeper": _learner("catboost", trees=400, learning_rate=0.05, depth=8, l2=3.0, rows=0.8),
    "extra-1": _learner("forest", leaf_rows=1),
    "extra-3": _learner("forest", leaf_rows=3),
    "extra-10": _learner("forest", leaf_rows=10),
    "extra-30": _learner("forest", leaf_rows=30),
    "extra-100": _learner("forest", leaf_rows=100),
    "extra-third": _learner("forest", leaf_rows=2, features="third"),
    "entropy": _learner("forest", leaf_rows=1, cuts="best", criterion="entropy", bootstrap=True),
    "best-5": _learner("forest", leaf_rows=5, cuts="best", bootstrap=True),
    "logistic": _learner("logistic"),
    "logistic-free": _learner("logistic", c=1.0),
    "mlp": _learner("mlp"),
    "mlp-held": _learner("mlp", weight_decay=300.0),
}  # fmt: skip
_KNN = _similarity("knn")
_METHODS: Mapping[str, Params] = {
    "naive": _method("naive"),
    "knn-drawn": {**_method("probtagging"), **_KNN},
    "knn-soft": {**_method("probtagging", tags="soft"), **_KNN},
    "knn-sampled": {**_method("probtagging", negatives="sampled", ratio=20.0), **_KNN},
    "knn-quantile": {**_method("probtagging", scaling="quantile"), **_KNN},
    "kernel": {**_method("probtagging"), **_similarity("kernel")},
    "isolation": {**_method("probtagging"), **_similarity("isolation")},
    "bagging": _method("bagging", ratio=5.0),
    "elkan-weighted": _method("elkan-weighted"),
    "liu": _method("liu"),
}
_PAIRS: Mapping[str, Sequence[str]] = {
    "naive": tuple(_LEARNERS),
    "knn-drawn": (
        "lightgbm", "lightgbm-deep", "xgboost", "catboost-deep", "extra-1", "extra-3", "extra-10", "entropy", "logistic", "mlp",
    ),
    "knn-soft": ("lightgbm", "lightgbm-deep", "catboost-deep", "extra-3"),
    "knn-sampled": ("lightgbm", "catboost-deep", "extra-1", "logistic"),
    "knn-quantile": ("lightgbm", "extra-3"),
    "kernel": ("lightgbm", "extra-3"),
    "isolation": ("lightgbm", "extra-3"),
    "bagging": ("lightgbm", "catboost-deep", "extra-1"),
    "elkan-weighted": ("lightgbm", "extra-3"),
    "liu": ("lightgbm", "extra-3"),
}  # fmt: skip
#: Name -> the parameters that differ from the defaults.
CONFIGURATIONS: Mapping[str, Params] = {
    **{
        f"{method} {learner}": {**_METHODS[method], **_LEARNERS[learner]}
        for method, learners in _PAIRS.items()
        for learner in learners
    },
    "pu-trees": _method("pu-trees"),
    "pu-trees-unbiased": _method("pu-trees", risk="upu", min_leaf=3),
    "pu-auc": _method("pu-auc"),
}


@dataclass(frozen=True)
class LibraryCell:
    """A table with a number of labelled rows."""

    table: str
    labelled: int

    def folder(self, library: Path) -> Path:
        """Return where its files are."""
        return library / f"{self.table}~{self.labelled}"


@dataclass(frozen=True, eq=False)
class JudgedCell:
    """What is known of a cell, read from its files.

    Attributes:
        cell: which one.
        s: labels of the training rows.
        folds: of the training rows.
        y_test: true labels of the rows held out.
        held_out: name -> out-of-fold scores, in the order of the folds' test rows.
        test: name -> scores of the rows held out.
        seconds: name -> of a trial.
    """

    cell: LibraryCell
    s: BoolVector
    folds: tuple[InnerFold, ...]
    y_test: BoolVector
    held_out: Mapping[str, FloatVector]
    test: Mapping[str, FloatVector]
    seconds: Mapping[str, float]

    @classmethod
    def read(cls, cell: LibraryCell, library: Path) -> Self:
        """Read all configurations that were judged."""
        folder = cell.folder(library)
        with np.load(folder / "rows.npz", allow_pickle=False) as rows:
            s, y_test = rows["s"], rows["y_test"]
        found: dict[str, Mapping[str, npt.NDArray[Any]]] = {}
        for name in CONFIGURATIONS:
            path = folder / _file_name(name)
            if path.exists():
                with np.load(path, allow_pickle=False) as arrays:
                    found[name] = dict(arrays)
        return cls(
            cell,
            s,
            _folds(s),
            y_test,
            {name: arrays["held_out"].astype(np.float64) for name, arrays in found.items()},
            {name: arrays["test"].astype(np.float64) for name, arrays in found.items()},
            {name: float(arrays["seconds"]) for name, arrays in found.items()},
        )

    def ranked(self, names: Sequence[str]) -> list[RankedFold]:
        """Return the ranks that these configurations give the rows of each fold."""
        scores = OutOfFoldScores(Path(), self.folds, self.s)
        return scores.ranked([self.held_out[name] for name in names])

    @property
    def names(self) -> list[str]:
        """The configurations that were judged."""
        return [name for name in CONFIGURATIONS if name in self.test]

    @cached_property
    def auc(self) -> dict[str, float]:
        """The AUC of each configuration by true labels."""
        return {name: float(auc(self.y_test, self.test[name])) for name in self.names}

    @cached_property
    def value(self) -> dict[str, float]:
        """AUL_PU of each configuration out of fold, which a search knows."""
        return {name: mean_value(self.ranked([name]), (1,)) for name in self.names}

    def blended(self, weights: Mapping[str, float]) -> float:
        """Return the AUC by true labels of a blend, as `FittedBlend` scores it."""
        return float(auc(self.y_test, self._blend(weights)))

    def blended_precision(self, weights: Mapping[str, float]) -> float:
        """Return the average precision by true labels of the same blend."""
        return float(average_precision_score(self.y_test, self._blend(weights)))

    def _blend(self, weights: Mapping[str, float]) -> FloatVector:
        log_odds = [
            Quantiles.of(self.held_out[name], TOWARDS_TOP).log_odds(self.test[name], 0.5 / len(self.s))
            for name in weights
        ]
        return np.array(list(weights.values())) @ np.array(log_odds)

    def ranks(self, name: str) -> FloatVector:
        """Return the ranks of the rows held out among the out-of-fold scores of a configuration."""
        return share_below(self.held_out[name], self.test[name])


def library_cells(tables: Sequence[PeerTable], protocol: Protocol) -> list[LibraryCell]:
    """Return the cells of these tables."""
    return [LibraryCell(table.name, labelled) for table in tables for labelled in levels(table, protocol)]


def read_library(library: Path) -> list[JudgedCell]:
    """Return all cells of a library."""
    parts = (path.parent.name.split("~") for path in sorted(library.glob("*~*/rows.npz")))
    return [JudgedCell.read(LibraryCell(table, int(labelled)), library) for table, labelled in parts]


def _folds(s: BoolVector) -> tuple[InnerFold, ...]:
    return inner_folds(s, FoldPlan(), Seed(0).child("study"))


def _file_name(name: str) -> str:
    """Return a name that other parameters do not have: what is judged anew has another file."""
    digits = sha256(dumps(CONFIGURATIONS[name], sort_keys=True).encode()).hexdigest()[:8]
    return f"{name.replace(' ', '+')}~{digits}.npz"


class CellJudge:
    """Judges configurations on one cell.

    Args:
        cell: which one.
        table: its table.
        library: the folder of all cells.
        protocol: how rows are drawn.
    """

    def __init__(self, cell: LibraryCell, table: PeerTable, library: Path, protocol: Protocol) -> None:
        sample = draw(table, 0, 0, cell.labelled, protocol)
        kept = _test_rows(sample.y_test)
        self._X_test = sample.test.take(kept)
        self._data, self._seed = PUData(sample.train, sample.s), Seed(0).child("study")
        folds = _folds(sample.s)
        self._inner = FoldCache(self._data, folds, self._seed)
        self._whole = FoldCache(self._data, folds, self._seed, for_all=True)
        self._folder = cell.folder(library)
        self._folder.mkdir(parents=True, exist_ok=True)
        np.savez(self._folder / "rows.npz", s=sample.s, y_test=sample.y_test[kept])

    def judge(self, name: str, configuration: Configuration) -> None:
        """Write the file of a configuration, unless there is one."""
        path = self._folder / _file_name(name)
        if path.exists():
            return
        method, parts = configuration.method, configuration.parts
        held_out, seconds = [], 0.0
        start = process_time()
        for result in cross_fit(method, parts, self._inner, self._seed, _ONE):
            held_out.append(result.scores)
            start, seconds = process_time(), process_time() - start
        fitted = method.fit(self._data, self._whole.parts(0, parts), self._seed, _ONE)
        scores = fitted.score(self._X_test, _ONE).values
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.savez(
                file,
                held_out=np.concatenate(held_out).astype(np.float32),
                test=scores.astype(np.float32),
                seconds=len(held_out) * seconds,
            )
        part.replace(path)


def _test_rows(y: BoolVector) -> IndexVector:
    """Return all positives, and at most so many negatives as are needed to judge by."""
    negatives = np.flatnonzero(~y)
    kept = negatives[:: -(-len(negatives) // _MAX_TEST_NEGATIVES)]
    return np.sort(np.concatenate([np.flatnonzero(y), kept]))


def judge_cell(cell: LibraryCell, library: Path, protocol: Protocol) -> list[str]:
    """Judge all configurations on a cell, and return a line per failure."""
    registry = load_registry()
    kinds = (Kind.METHOD, Kind.SIMILARITY, Kind.LEARNER)
    space = SearchSpace(registry, {kind: registry.names(kind) for kind in kinds})
    judge = CellJudge(cell, read_table(cell.table, registry), library, protocol)
    failures = []
    for name, given in CONFIGURATIONS.items():
        complete = space.complete(given)
        if complete is None:
            raise SystemExit(f"{name} is no configuration of the search: {given}")
        try:
            judge.judge(name, space.configuration(complete, draft=True))
        except PubenchError as error:
            failures.append(f"{cell.table} {cell.labelled} {name}: {one_line(str(error))}")
    return failures


def main() -> None:
    """Fill a library, and print what is done."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the library")
    parser.add_argument("--table", action="append", help="instead of those of the suite; may be repeated")
    parser.add_argument("--labelled", type=int, nargs="+", default=[30, 100], help="numbers of labelled rows")
    parser.add_argument("--unlabeled", type=int, default=8000, help="rows to train on, at most")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    registry = load_registry()
    names = options.table or find_suite("development").jobs[0].datasets
    protocol = Protocol(60.0, 1, labelled=tuple(options.labelled), unlabeled=options.unlabeled)
    cells = library_cells([read_table(name, registry) for name in names], protocol)
    with ProcessPoolExecutor(options.processes) as pool:
        work = partial(judge_cell, library=options.out, protocol=protocol)
        for cell, failures in zip(cells, pool.map(work, cells), strict=True):
            print("\n".join([f"{cell.table} {cell.labelled}: judged", *failures]), flush=True)


if __name__ == "__main__":
    main()
