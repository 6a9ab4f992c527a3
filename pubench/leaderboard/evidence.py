"""What the records speak of: contenders, data sets, tasks, and the runs that tie them together."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from pubench.leaderboard.labels import Entry, canonical, entries_of, short_digest, task_label, unique_ids
from pubench.records.record import Record
from pubench.types import FloatVector, Json, Status


@dataclass(frozen=True)
class Dataset:
    """Rows under a name; the same name with other rows is another data set.

    Attributes:
        id: fit for a file's name and an address; no two are alike.
        name: what it is called.
        label: the name, and part of the hash where its rows are not those that the name usually stands for.
        hash: of its rows and labels, at the largest number of rows; None where no run came so far as to say.
        stand_in: it is synthetic and stands for other data.
        rows, features: None where unknown.
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
        """What it is called on pages and in files: a stand-in is called one everywhere."""
        return f"{self.label} (synthetic stand-in)" if self.stand_in else self.label


@dataclass(frozen=True)
class Task:
    """A data set seen in one way; methods are ranked within a task.

    Attributes:
        id: no two are alike.
        dataset: number of the data set.
        theta_o: share of the positives that is labelled; None where labels were observed.
        rows: how many are drawn; None: all.
        label: what is seen, in words.
    """

    id: str
    dataset: int
    theta_o: float | None
    rows: int | None
    label: str


class Unit(NamedTuple):
    """A split that methods have in common: the same seed and fold is the same training and test rows."""

    seed: int
    folds: int
    fold: int


@dataclass(frozen=True, eq=False)
class Run:
    """One record with its place.

    Attributes:
        key: of the record.
        record: without placements.
        placements: shape (n_labelled,), of the labelled test rows in row order; empty where there are none.
        entry, task: numbers.
    """

    key: str
    record: Record
    placements: FloatVector
    entry: int
    task: int

    @property
    def unit(self) -> Unit:
        """The split."""
        return Unit(self.record.spec.seed, self.record.spec.folds, self.record.spec.fold)

    @property
    def fit_seconds(self) -> float | None:
        """How long it took until there was a model: the search, where there was one, and the fit."""
        seconds = self.record.seconds
        return seconds["fit"] + seconds.get("search", 0.0) if "fit" in seconds else None

    @property
    def predict_seconds(self) -> float | None:
        """How long it took to score the test rows."""
        return self.record.seconds.get("predict")

    @property
    def ok(self) -> bool:
        """Whether it went well."""
        return self.record.status is Status.OK


@dataclass(frozen=True, eq=False)
class Evidence:
    """All records, put in order.

    Attributes:
        entries: the contenders, by label.
        datasets: by label.
        tasks: by data set, then theta_O.
        runs: by record key.
    """

    entries: tuple[Entry, ...]
    datasets: tuple[Dataset, ...]
    tasks: tuple[Task, ...]
    runs: tuple[Run, ...]

    @cached_property
    def runs_by_task(self) -> tuple[tuple[Run, ...], ...]:
        """The runs of each task."""
        found: list[list[Run]] = [[] for _ in self.tasks]
        for run in self.runs:
            found[run.task].append(run)
        return tuple(tuple(runs) for runs in found)

    @cached_property
    def runs_by_entry(self) -> tuple[tuple[Run, ...], ...]:
        """The runs of each contender, by task and split."""
        found: list[list[Run]] = [[] for _ in self.entries]
        for run in sorted(self.runs, key=lambda run: (run.task, run.unit)):
            found[run.entry].append(run)
        return tuple(tuple(runs) for runs in found)


def gather(records: Iterable[Record]) -> Evidence:
    """Return the records as evidence; nothing is left out, and their order does not matter."""
    keyed = sorted(((record.spec.key, record) for record in records), key=itemgetter(0))
    ordered = [record for _, record in keyed]
    entries, entry_of = entries_of([record.spec for record in ordered])
    datasets, dataset_of = _datasets(ordered)
    tasks, task_of = _tasks(ordered, datasets, dataset_of)
    runs = tuple(
        Run(key, replace(record, placements=()), np.asarray(record.placements, dtype=np.float64), entry, task)
        for (key, record), entry, task in zip(keyed, entry_of, task_of, strict=True)
    )
    return Evidence(entries, datasets, tasks, runs)


def _datasets(records: Sequence[Record]) -> tuple[tuple[Dataset, ...], list[int]]:
    """Return the data sets, and the number of each record's own."""
    usual = usual_hashes(records)
    key_of = [(one.spec.dataset, _other_hash(one, usual)) for one in records]
    groups: dict[tuple[str, str | None], list[Record]] = defaultdict(list)
    for key, record in zip(key_of, records, strict=True):
        groups[key].append(record)
    keys = sorted(groups, key=lambda key: (key[0].lower(), key[0], key[1] or ""))
    ids = unique_ids([(name, f"{name} {other}") for name, other in keys])
    made = tuple(_dataset(id_, key, groups[key]) for id_, key in zip(ids, keys, strict=True))
    number = {key: i for i, key in enumerate(keys)}
    return made, [number[key] for key in key_of]


def usual_hashes(records: Iterable[Record]) -> Mapping[tuple[str, Json], str]:
    """Return the hash that most records of a data set at a number of rows state: fewer rows have another hash."""
    seen: dict[tuple[str, Json], Counter[str]] = defaultdict(Counter)
    for record in records:
        if record.data is not None:
            seen[rows_key(record)][record.data.hash] += 1
    return {key: min(counts, key=lambda hash_: (-counts[hash_], hash_)) for key, counts in seen.items()}


def rows_key(record: Record) -> tuple[str, Json]:
    """Return what has one hash: a data set at a number of rows."""
    return record.spec.dataset, record.spec.view["rows"]


def _other_hash(record: Record, usual: Mapping[tuple[str, Json], str]) -> str | None:
    """Return the hash of a record's data where it is not the usual one; a run that failed early states none."""
    if record.data is None or record.data.hash == usual[rows_key(record)]:
        return None
    return record.data.hash


def _dataset(id_: str, key: tuple[str, str | None], records: Sequence[Record]) -> Dataset:
    name, other = key
    label = name if other is None else f"{name} (other rows, {other[:6]})"
    facts = [record.data for record in records if record.data is not None]
    largest = max(facts, key=lambda one: (one.rows, one.hash), default=None)
    stand_in = any(one.stand_in for one in facts)
    if largest is None:
        return Dataset(id_, name, label, None, stand_in, None, None)
    return Dataset(id_, name, label, largest.hash, stand_in, largest.rows, largest.features)


def _tasks(
    records: Sequence[Record], datasets: Sequence[Dataset], dataset_of: Sequence[int]
) -> tuple[tuple[Task, ...], list[int]]:
    """Return the tasks, and the number of each record's own."""
    key_of = [(number, canonical(one.spec.view)) for number, one in zip(dataset_of, records, strict=True)]
    views = {key: record.spec.view for key, record in zip(key_of, records, strict=True)}
    keys = sorted(views, key=lambda key: (key[0], *_view_order(views[key]), key[1]))
    tasks = tuple(_task(datasets[key[0]], key, views[key]) for key in keys)
    number = {key: i for i, key in enumerate(keys)}
    return tasks, [number[key] for key in key_of]


def _view_order(view: Mapping[str, Json]) -> tuple[Hashable, ...]:
    theta, rows = view["theta_o"], view["rows"]
    return (theta is None, theta or 0.0, rows is None, rows or 0)


def _task(dataset: Dataset, key: tuple[int, str], view: Mapping[str, Any]) -> Task:
    id_ = f"{dataset.id}-{short_digest(key[1])}"
    return Task(id_, key[0], view["theta_o"], view["rows"], task_label(dataset.shown, view))
