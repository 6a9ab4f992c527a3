"""What `benchmarks/peers.py` measures: tables, the rows that each system gets, and a JSON file per result.

    PeerTable --draw--> PeerSample --(a system)--> scores --measured--> Result, in DIR/results/TABLE~SEED~FOLD~LABELLED~SYSTEM.json

For each fold two of three parts of the rows are to train on, stratified by the true labels. Of their positives a number is
labelled at random, at most half of them; all other rows are unlabeled, and at most `unlabeled` of them are kept. All
systems get the same rows and are measured by true labels on the rows of the other part.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score

from pubench import Feature, Table, auc, aul_pn_score
from pubench.api.registry import Registry
from pubench.data.sources import DatasetRequest, open_dataset
from pubench.data.splits import stratified_folds
from pubench.seeds import Seed
from pubench.types import BoolVector, FloatVector

#: A table from a file is known by the name of that file.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
OK, FAILED, TIMEOUT = "ok", "failed", "timeout"


@dataclass(frozen=True)
class Protocol:
    """What is equal for all systems and tables of a folder of results.

    Attributes:
        seconds: the budget of systems that have one; every system is ended after three times as many.
        threads: that a system may use.
        folds: number of parts of a table, of which one is held out at a time.
        labelled: numbers of rows to label, each a measurement of its own.
        unlabeled: number of unlabeled rows to train on, at most; None: all.
    """

    seconds: float
    threads: int
    folds: int = 3
    labelled: tuple[int, ...] = (30, 100)
    unlabeled: int | None = 25_000

    @property
    def patience(self) -> float:
        """Seconds after which a system is ended."""
        return 3 * self.seconds

    def keep(self, folder: Path) -> None:
        """Write it into a folder of results; raises `SystemExit` if the folder has results of another one."""
        mine = {name: value for name, value in asdict(self).items() if name != "labelled"}
        path = folder / "protocol.json"
        if path.exists():
            theirs = json.loads(path.read_text(encoding="utf-8"))
            if theirs != mine:
                raise SystemExit(
                    f"{folder} has results of {theirs}, not of {mine}; name another folder with --out."
                )
            return
        folder.mkdir(parents=True, exist_ok=True)
        _write(path, mine)


@dataclass(frozen=True, eq=False)
class PeerTable:
    """A table whose truth is known."""

    name: str
    X: Table
    y: BoolVector

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content, so that results of another table of this name are noticed."""
        digest = hashlib.sha256(np.ascontiguousarray(self.X.values).tobytes())
        digest.update(self.y.tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class PeerSample:
    """The rows of one fold: a system sees `train`, `s` and `test`; the hidden positives of `train` are not labelled."""

    train: Table
    s: BoolVector
    test: Table
    y_test: BoolVector
    hidden_positives: BoolVector

    @property
    def counts(self) -> dict[str, int]:
        """How many rows there are of which kind."""
        return {
            "train": self.train.n_rows,
            "labelled": int(self.s.sum()),
            "hidden": int(self.hidden_positives.sum()),
            "test": self.test.n_rows,
            "test_positives": int(self.y_test.sum()),
        }


@dataclass(frozen=True)
class Cell:
    """One measurement: a system on one fold of a table with a number of labelled rows."""

    table: str
    seed: int
    fold: int
    labelled: int
    system: str

    def path(self, folder: Path) -> Path:
        """Return the file of its result."""
        name = "~".join(str(value) for value in asdict(self).values())
        return folder / "results" / f"{name}.json"


@dataclass(frozen=True)
class Result:
    """What came of a measurement.

    Attributes:
        cell: what was measured.
        status: "ok", "failed" or "timeout".
        reason: why there are no metrics; empty with "ok".
        seconds: of the whole process, from its start.
        seconds_of_system: of training and scoring alone; None if it did not come to an end.
        metrics: by true labels: `auc`, `ap` (average precision) and `aul`; empty without scores.
        placements: the share of negatives below each positive test row, ties half; their mean is the AUC.
        counts: rows, labelled and hidden positives to train on; rows and positives to test on.
        table: the fingerprint of the table.
        version: of the system's package.
    """

    cell: Cell
    status: str
    reason: str = ""
    seconds: float = 0.0
    seconds_of_system: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    placements: tuple[float, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    table: str = ""
    version: str = ""

    def write(self, folder: Path) -> None:
        """Write it into a folder of results, whole or not at all."""
        path = self.cell.path(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "Result":
        """Return the result in a file."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        cell, placements = Cell(**content.pop("cell")), tuple(content.pop("placements"))
        return cls(cell=cell, placements=placements, **content)


def read_results(folder: Path) -> list[Result]:
    """Return all results in a folder, in the order of their file names."""
    return [Result.read(path) for path in sorted((folder / "results").glob("*.json"))]


def read_table(name: str, registry: Registry) -> PeerTable:
    """Return a registered data set whose truth is known, or the arrays X and y of an .npz file.

    Raises:
        SystemExit: the file has no such arrays, or the truth is not known.
    """
    path = Path(name)
    if path.suffix == ".npz":
        return _read_arrays(path)
    dataset = open_dataset(DatasetRequest(name), registry).dataset
    if dataset.truth is None:
        raise SystemExit(f"The truth of {name} is not known, so nothing can be measured on it.")
    return PeerTable(name, dataset.X, dataset.truth.y)


def table_name(name: str) -> str:
    """Return what a table is called in results: the name of a data set, or that of a file without its suffix.

    Raises:
        SystemExit: the name of the file cannot be part of the name of another one.
    """
    called = Path(name).stem if name.endswith(".npz") else name
    if not _NAME.fullmatch(called):
        raise SystemExit(f"{name!r} cannot name a table; use letters, digits, - _ and .")
    return called


def _read_arrays(path: Path) -> PeerTable:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            X, y = np.asarray(arrays["X"], dtype=np.float64), np.asarray(arrays["y"])
    except (OSError, KeyError, ValueError) as error:
        raise SystemExit(f"{path} is no .npz file with numeric arrays X and y: {error}.") from error
    if X.ndim != 2 or y.shape != X.shape[:1] or not np.isin(y, (0, 1)).all():
        raise SystemExit(f"{path} needs a matrix X and a y of 0 and 1 for each of its rows.")
    return PeerTable(table_name(path.name), Table(X, _columns(X.shape[1])), y == 1)


def _columns(count: int) -> tuple[Feature, ...]:
    return tuple(Feature(f"x{column}") for column in range(count))


def levels(table: PeerTable, protocol: Protocol) -> tuple[int, ...]:
    """Return the numbers of labelled rows to measure: one for which there are too few positives replaces all above it."""
    positives = int(table.y.sum()) * (protocol.folds - 1) // protocol.folds
    wanted = sorted(set(protocol.labelled))
    enough = [count for count in wanted if count <= positives // 2]
    return tuple(wanted[: len(enough) + 1])


def draw(table: PeerTable, seed: int, fold: int, labelled: int, protocol: Protocol) -> PeerSample:
    """Return the rows of one fold, `labelled` of them labelled, or half of the positives where these are fewer.

    With the same seed more labelled rows include fewer ones. Raises `DataError` if there are fewer positives than folds.
    """
    root = Seed(seed).child("peers")
    split = stratified_folds(table.y, protocol.folds, root)[fold]
    y = table.y[split.train]
    positives = root.child("labelled", fold).generator().permutation(np.flatnonzero(y))
    s = np.zeros(len(y), dtype=np.bool_)
    s[positives[: max(1, min(labelled, len(positives) // 2))]] = True
    rows = np.arange(len(y))
    others = np.flatnonzero(~s)
    if protocol.unlabeled is not None and len(others) > protocol.unlabeled:
        order = root.child("unlabeled", fold).generator().permutation(len(y))
        kept = order[~s[order]][: protocol.unlabeled]
        rows = np.sort(np.concatenate([np.flatnonzero(s), kept]))
    train, test = table.X.take(split.train[rows]), table.X.take(split.test)
    return PeerSample(train, s[rows], test, table.y[split.test], (y & ~s)[rows])


def cells(
    table: PeerTable, seeds: Sequence[int], systems: Sequence[str], protocol: Protocol
) -> Iterator[Cell]:
    """Yield all measurements on a table, those on equal rows together."""
    for seed in seeds:
        for fold in range(protocol.folds):
            for labelled in levels(table, protocol):
                for system in systems:
                    yield Cell(table.name, seed, fold, labelled, system)


def is_due(cell: Cell, folder: Path, fingerprint: str, retry: Sequence[str]) -> bool:
    """Return whether a measurement has no result yet, or one with a status that is to be repeated.

    Raises:
        SystemExit: there is a result of another table of this name.
    """
    path = cell.path(folder)
    if not path.exists():
        return True
    result = Result.read(path)
    if result.table != fingerprint:
        raise SystemExit(
            f"{path} is about another table called {cell.table}; name another folder with --out."
        )
    return result.status in retry


def write_task(folder: Path, sample: PeerSample, cell: Cell, protocol: Protocol) -> None:
    """Write what a system may see into an empty folder: labels and features, never the truth."""
    task = {
        "system": cell.system,
        "seconds": protocol.seconds,
        "threads": protocol.threads,
        "seed": cell.seed,
        "categories": {
            str(column): list(feature.categories)
            for column, feature in enumerate(sample.train.features)
            if feature.kind == "categorical"
        },
    }
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    np.savez(folder / "train.npz", X=sample.train.values, s=sample.s.astype(np.uint8))
    np.savez(folder / "test.npz", X=sample.test.values)


def measured(result: Result, folder: Path, sample: PeerSample) -> Result:
    """Return the result with the metrics of the scores that a system left in its folder."""
    try:
        answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        scores = np.load(folder / "scores.npy", allow_pickle=False)
    except (OSError, ValueError) as error:
        return replace(result, status=FAILED, reason=f"it left no scores: {error}")
    if scores.shape != sample.y_test.shape or not np.isfinite(scores).all():
        return replace(result, status=FAILED, reason="its scores are not a finite number for each row")
    return replace(
        result,
        seconds_of_system=round(float(answer["seconds"]), 3),
        version=str(answer["version"]),
        metrics=metrics(sample.y_test, scores),
        placements=tuple(np.round(placements(sample.y_test, scores), 6).tolist()),
    )


def metrics(y: BoolVector, scores: FloatVector) -> dict[str, float]:
    """Return what a result states, by true labels."""
    return {
        "auc": float(auc(y, scores)),
        "ap": float(average_precision_score(y, scores)),
        "aul": float(aul_pn_score(y, scores)),
    }


def placements(y: BoolVector, scores: npt.NDArray[np.floating[Any]]) -> FloatVector:
    """Return the share of negatives that score below each positive, ties half, in the order of the rows."""
    negatives = np.sort(scores[~y])
    below, up_to = (np.searchsorted(negatives, scores[y], side=side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(negatives)), dtype=np.float64)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    whole = path.with_suffix(f".{os.getpid()}.part")
    whole.write_text(json.dumps(content), encoding="utf-8")
    whole.replace(path)
