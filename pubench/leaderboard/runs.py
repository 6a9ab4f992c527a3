"""From records to the runs of a board: its contenders, data sets and tasks, and which run belongs to which."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from pubench.leaderboard.display_names import (
    BoardEntry,
    canonical,
    entries_of,
    short_digest,
    task_label,
    unique_ids,
)
from pubench.record.record import Record
from pubench.types import FloatVector, Json, Status


@dataclass(frozen=True)
class BoardDataset:
    """A data set: a name and its rows. The same name with other rows is another data set.

    Attributes:
        id: unique, and usable as a file name and in URLs.
        name: as the records state it.
        label: the name, with part of the hash if its rows are not the usual ones of that name.
        hash: of its rows and labels, at the largest number of rows; None if every run failed before computing it.
        stand_in: it is synthetic and replaces data that is not public.
        rows, features: number of each; None where unknown.
    """

    id: str
    name: str
    label: str
    hash: str | None
    stand_in: bool
    rows: int | None
    features: int | None

    @property
    def shown(self) -> str:
        """The label on pages and in files, where a stand-in is always marked as one."""
        return f"{self.label} (synthetic stand-in)" if self.stand_in else self.label


@dataclass(frozen=True)
class BoardTask:
    """A view of a data set; methods are ranked within a task.

    Attributes:
        id: unique, and usable in URLs.
        dataset: number of the data set.
        theta_o: share of the positives that is labelled; None where labels are as observed.
        rows: number of rows that are drawn; None: all.
        label: data set and view as shown on pages.
    """

    id: str
    dataset: int
    theta_o: float | None
    rows: int | None
    label: str


class Unit(NamedTuple):
    """A fold of a split: for every method, the same seed and fold mean the same training and test rows."""

    seed: int
    folds: int
    fold: int


@dataclass(frozen=True, eq=False)
class Run:
    """One record, assigned to its contender and task.

    Attributes:
        key: of the record.
        record: without placements.
        placements: shape (n_labelled,), of the labelled test rows in row order; empty if there are none.
        entry, task: numbers of the contender and the task.
    """

    key: str
    record: Record
    placements: FloatVector
    entry: int
    task: int

    @property
    def unit(self) -> Unit:
        """The fold that the run was evaluated on."""
        return Unit(self.record.spec.seed, self.record.spec.folds, self.record.spec.fold)

    @property
    def fit_seconds(self) -> float | None:
        """Time until there was a model: of the search, if there was one, and the fit."""
        seconds = self.record.seconds
        return seconds["fit"] + seconds.get("search", 0.0) if "fit" in seconds else None

    @property
    def predict_seconds(self) -> float | None:
        """Time to score the test rows."""
        return self.record.seconds.get("predict")

    @property
    def ok(self) -> bool:
        """Whether the run succeeded."""
        return self.record.status is Status.OK


@dataclass(frozen=True, eq=False)
class BoardRuns:
    """Records with their contenders, data sets and tasks, which refer to each other by number.

    Attributes:
        entries: the contenders, ordered by label.
        datasets: ordered by label.
        tasks: ordered by data set, then theta_O.
        runs: ordered by record key.
    """

    entries: tuple[BoardEntry, ...]
    datasets: tuple[BoardDataset, ...]
    tasks: tuple[BoardTask, ...]
    runs: tuple[Run, ...]

    @cached_property
    def runs_by_task(self) -> tuple[tuple[Run, ...], ...]:
        """The runs of each task."""
        by_task: list[list[Run]] = [[] for _ in self.tasks]
        for run in self.runs:
            by_task[run.task].append(run)
        return tuple(tuple(runs) for runs in by_task)

    @cached_property
    def runs_by_entry(self) -> tuple[tuple[Run, ...], ...]:
        """The runs of each contender, ordered by task and fold."""
        by_entry: list[list[Run]] = [[] for _ in self.entries]
        for run in sorted(self.runs, key=lambda run: (run.task, run.unit)):
            by_entry[run.entry].append(run)
        return tuple(tuple(runs) for runs in by_entry)


def collect_runs(records: Iterable[Record]) -> BoardRuns:
    """Return all records as the runs of a board; the order of the records does not matter."""
    keyed = sorted(((record.spec.key, record) for record in records), key=itemgetter(0))
    ordered = [record for _, record in keyed]
    entries, entry_of = entries_of([record.spec for record in ordered])
    datasets, dataset_of = _datasets(ordered)
    tasks, task_of = _tasks(ordered, datasets, dataset_of)
    runs = tuple(
        Run(key, replace(record, placements=()), np.asarray(record.placements, dtype=np.float64), entry, task)
        for (key, record), entry, task in zip(keyed, entry_of, task_of, strict=True)
    )
    return BoardRuns(entries, datasets, tasks, runs)


def _datasets(records: Sequence[Record]) -> tuple[tuple[BoardDataset, ...], list[int]]:
    """Return the data sets, and for each record the number of its data set."""
    usual = usual_hashes(records)
    key_of = [(record.spec.dataset, _unusual_hash(record, usual)) for record in records]
    groups: dict[tuple[str, str | None], list[Record]] = defaultdict(list)
    for key, record in zip(key_of, records, strict=True):
        groups[key].append(record)
    keys = sorted(groups, key=lambda key: (key[0].lower(), key[0], key[1] or ""))
    ids = unique_ids([(name, f"{name} {other}") for name, other in keys])
    datasets = tuple(_dataset(id_, key, groups[key]) for id_, key in zip(ids, keys, strict=True))
    number = {key: i for i, key in enumerate(keys)}
    return datasets, [number[key] for key in key_of]


def usual_hashes(records: Iterable[Record]) -> Mapping[tuple[str, Json], str]:
    """Return the most frequent hash in the records of each data set and number of rows, by `rows_key`."""
    hashes: dict[tuple[str, Json], Counter[str]] = defaultdict(Counter)
    for record in records:
        if record.data is not None:
            hashes[rows_key(record)][record.data.hash] += 1
    return {key: min(counts, key=lambda hash_: (-counts[hash_], hash_)) for key, counts in hashes.items()}


def rows_key(record: Record) -> tuple[str, Json]:
    """Return data set and number of rows, which together determine the hash of the data."""
    return record.spec.dataset, record.spec.view["rows"]


def _unusual_hash(record: Record, usual: Mapping[tuple[str, Json], str]) -> str | None:
    """Return the hash of a record's data if it is not the usual one; a run that failed early states no hash."""
    if record.data is None or record.data.hash == usual[rows_key(record)]:
        return None
    return record.data.hash


def _dataset(id_: str, key: tuple[str, str | None], records: Sequence[Record]) -> BoardDataset:
    name, other = key
    label = name if other is None else f"{name} (other rows, {other[:6]})"
    facts = [record.data for record in records if record.data is not None]
    largest = max(facts, key=lambda data: (data.rows, data.hash), default=None)
    stand_in = any(data.stand_in for data in facts)
    if largest is None:
        return BoardDataset(id_, name, label, None, stand_in, None, None)
    return BoardDataset(id_, name, label, largest.hash, stand_in, largest.rows, largest.features)


def _tasks(
    records: Sequence[Record], datasets: Sequence[BoardDataset], dataset_of: Sequence[int]
) -> tuple[tuple[BoardTask, ...], list[int]]:
    """Return the tasks, and for each record the number of its task."""
    key_of = [
        (dataset, canonical(record.spec.view)) for dataset, record in zip(dataset_of, records, strict=True)
    ]
    views = {key: record.spec.view for key, record in zip(key_of, records, strict=True)}
    keys = sorted(views, key=lambda key: (key[0], *_view_order(views[key]), key[1]))
    tasks = tuple(_task(datasets[key[0]], key, views[key]) for key in keys)
    number = {key: i for i, key in enumerate(keys)}
    return tasks, [number[key] for key in key_of]


def _view_order(view: Mapping[str, Json]) -> tuple[Hashable, ...]:
    theta, rows = view["theta_o"], view["rows"]
    return (theta is None, theta or 0.0, rows is None, rows or 0)


def _task(dataset: BoardDataset, key: tuple[int, str], view: Mapping[str, Any]) -> BoardTask:
    id_ = f"{dataset.id}-{short_digest(key[1])}"
    return BoardTask(id_, key[0], view["theta_o"], view["rows"], task_label(dataset.shown, view))
