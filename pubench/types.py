"""The values that flow through pubench, frozen, in the order in which they arise.

    Table, PUData -> Split -> Affinity -> Tags -> Scores

Arrays inside a value are read-only views: a stage can read what it is given and cannot change it. Whoever makes a
value must not change its arrays afterwards; they are not copied, because copying a table of a million rows is expensive.
The true labels are not here: see `pubench.truth`, which training and tuning cannot import.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench.errors import DataError

FloatVector: TypeAlias = npt.NDArray[np.float64]
BoolVector: TypeAlias = npt.NDArray[np.bool_]
IndexVector: TypeAlias = npt.NDArray[np.int64]
FloatMatrix: TypeAlias = npt.NDArray[np.float32 | np.float64]
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
FeatureKind: TypeAlias = Literal["numeric", "boolean", "categorical", "date"]
Device: TypeAlias = Literal["cpu", "cuda"]
#: Labelled positives are part of the population of the unlabeled rows, or were collected apart from it.
Sampling: TypeAlias = Literal["single-training-set", "case-control"]
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view of `array` that is not writeable; `array` itself stays as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def _freeze(value: object, name: str, array: npt.NDArray[Any]) -> None:
    object.__setattr__(value, name, read_only(array))


def _vector(values: npt.ArrayLike, dtype: type[np.generic], name: str) -> npt.NDArray[Any]:
    array = np.asarray(values, dtype=dtype)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional; it has shape {array.shape}.")
    return array


def as_labels(values: npt.ArrayLike, name: str) -> BoolVector:
    """Return labels as a read-only bool vector; anything but bool or exactly 0 and 1, such as -1, is refused."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional; it has shape {array.shape}.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise DataError(f"{name} holds values other than 0 and 1, or true and false.")
    return read_only(array.astype(np.bool_, copy=False))


@dataclass(frozen=True)
class Feature:
    """One column: its name, its kind and, for a categorical one, the text of each code.

    A categorical column holds codes 0, 1, ... into `categories`; a boolean one holds 0 and 1; a date holds days
    since 1970-01-01. NaN is missing in every kind.
    """

    name: str
    kind: FeatureKind = "numeric"
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to learn from or to score.

    Attributes:
        values: shape (n_rows, n_features), float32 or float64, C-contiguous, read-only; NaN is missing, never inf.
        features: what each column is; names are unique.
    """

    values: FloatMatrix
    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values)
        if values.ndim != 2 or values.dtype not in (np.float32, np.float64):
            raise DataError(
                f"A table holds a float32 or float64 matrix; got {values.dtype} with shape {values.shape}."
            )
        if len(self.features) != values.shape[1]:
            raise DataError(f"{values.shape[1]} columns but {len(self.features)} features are described.")
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"Two features are called '{twice}'; rename one.")
        if np.isinf(values).any():
            row, column = (int(i[0]) for i in np.nonzero(np.isinf(values)))
            raise DataError(f"Feature '{names[column]}' is infinite in row {row}; make it finite or missing.")
        _freeze(self, "values", values)

    @classmethod
    def from_array(cls, X: npt.ArrayLike) -> Self:
        """Wrap a numeric matrix; columns are called x0, x1, ..."""
        values = np.asarray(X)
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        columns = values.shape[1] if values.ndim == 2 else 0
        return cls(values, tuple(Feature(f"x{j}") for j in range(columns)))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.features)

    def take(self, rows: IndexVector) -> Self:
        """Return the given rows, in the given order, as a table with the same features."""
        return type(self)(self.values[rows], self.features)


@dataclass(frozen=True, eq=False)
class PUData:
    """Positive-unlabeled data: features, and which rows are labelled positive.

    Attributes:
        X: the features of all rows.
        s: shape (n_rows,), bool: True for a labelled positive, False for an unlabeled row. At least one of each.
    """

    X: Table
    s: BoolVector

    def __post_init__(self) -> None:
        s = as_labels(self.s, "s")
        if len(s) != self.X.n_rows:
            raise DataError(f"s has {len(s)} values for {self.X.n_rows} rows.")
        labelled = int(s.sum())
        if labelled == 0:
            raise DataError("No row is labelled positive; at least one is needed.")
        if labelled == len(s):
            raise DataError("Every row is labelled positive; unlabeled rows are needed too.")
        _freeze(self, "s", s)

    @property
    def n_labelled(self) -> int:
        """Number of labelled positives."""
        return int(self.s.sum())

    def take(self, rows: IndexVector) -> Self:
        """Return the given rows, in the given order."""
        return type(self)(self.X.take(rows), self.s[rows])


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers to train on and to test on: int64, ascending, without repetition and without overlap."""

    train: IndexVector
    test: IndexVector

    def __post_init__(self) -> None:
        for name in ("train", "test"):
            rows = np.asarray(getattr(self, name))
            if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
                raise DataError(f"The {name} rows of a split must be a vector of row numbers.")
            rows = rows.astype(np.int64)
            if np.any(np.diff(rows, prepend=-1) <= 0):
                raise DataError(f"The {name} rows of a split must be ascending and unique, from 0 up.")
            _freeze(self, name, rows)
        if np.intersect1d(self.train, self.test, assume_unique=True).size:
            raise DataError("The train and test rows of a split overlap.")


@dataclass(frozen=True, eq=False)
class Affinity:
    """Similarity of each row to the labelled positives: Cred in the paper.

    Attributes:
        values: shape (n_rows,), float64 in [0, 1]; the probability with which a row is tagged positive.
            0 for labelled rows, which need no tag.
    """

    values: FloatVector

    def __post_init__(self) -> None:
        values = _vector(self.values, np.float64, "An affinity")
        if not np.all((values >= 0) & (values <= 1)):
            raise DataError("An affinity lies in [0, 1]; found a value outside, or NaN.")
        _freeze(self, "values", values)

    @property
    def expected_positives(self) -> float:
        """E in the paper: the expected number of unlabeled rows that are tagged positive."""
        return float(self.values.sum())


@dataclass(frozen=True, eq=False)
class Examples:
    """Tags as examples for a learner of two classes: `rows[i]` is `positive[i]` with `weight[i]`.

    A row with a soft tag appears twice, as a positive and as a negative example that share its weight.
    """

    rows: IndexVector
    positive: BoolVector
    weight: FloatVector | None


@dataclass(frozen=True, eq=False)
class Tags:
    """The labels one member is trained on.

    Attributes:
        positive: shape (n_rows,), float64 in [0, 1]: 1 or 0 is a hard tag, a share between them a soft one. The rows
            that count are neither all positive nor all negative.
        weight: shape (n_rows,), float64 >= 0; a row of weight 0 does not count. None: all rows have weight 1.
        stop: tags of rows that are not trained on, and that a learner may watch to stop early: those that count in `stop` do
            not count here. None: there are none, and training goes on to its end.
    """

    positive: FloatVector
    weight: FloatVector | None = None
    stop: "Tags | None" = None

    def __post_init__(self) -> None:
        positive = _vector(self.positive, np.float64, "Tags")
        if not np.all((positive >= 0) & (positive <= 1)):
            raise DataError("Tags lie between 0 and 1; found a value outside, or NaN.")
        _freeze(self, "positive", positive)
        if self.weight is not None:
            weight = _vector(self.weight, np.float64, "Weights of tags")
            if weight.shape != self.positive.shape or not np.all((weight >= 0) & np.isfinite(weight)):
                raise DataError("Weights of tags are finite, not negative, and one per row.")
            _freeze(self, "weight", weight)
        if self.stop is not None and np.intersect1d(self.counted, self.stop.counted).size:
            raise DataError("A row that is trained on cannot tell when to stop.")
        tagged = self.positive[self.counted]
        if np.all(tagged == 1) or not tagged.any():
            raise DataError(
                "Tags need a positive and a negative row among those that count; a learner separates two classes."
            )

    @property
    def counted(self) -> IndexVector:
        """The rows that count: all, or those of a weight above 0, ascending."""
        return np.arange(len(self.positive)) if self.weight is None else np.flatnonzero(self.weight)

    @property
    def are_hard(self) -> bool:
        """Whether every row is wholly positive or wholly negative."""
        return bool(np.all((self.positive == 0) | (self.positive == 1)))

    def examples(self) -> Examples:
        """Return the rows that count as examples, those with a soft tag twice."""
        rows = self.counted
        weight = None if self.weight is None else self.weight[rows]
        if self.are_hard:
            return Examples(rows, self.positive[rows] == 1, weight)
        share = self.positive[rows]
        full = np.ones(len(rows)) if weight is None else weight
        both = np.concatenate([full * share, full * (1 - share)])
        used = np.flatnonzero(both)
        return Examples(np.tile(rows, 2)[used], np.arange(len(both))[used] < len(rows), both[used])


@dataclass(frozen=True, eq=False)
class Scores:
    """One finite float64 per row; a higher score means more likely positive. Only their order matters."""

    values: FloatVector

    def __post_init__(self) -> None:
        values = _vector(self.values, np.float64, "Scores")
        if not np.all(np.isfinite(values)):
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(f"The score of row {row} is {values[row]}; scores must be finite.")
        _freeze(self, "values", values)


class Cache(Protocol):
    """A cache of arrays that are expensive to compute: `cache(key, make)` is `make()`, or its earlier result.

    The key must be made of everything that decides the result; see `pubench.content_key`.
    """

    def __call__(self, key: str, make: Callable[[], Arrays], /) -> Arrays:
        """Return the arrays of this key, read-only."""


def no_cache(key: str, make: Callable[[], Arrays], /) -> Arrays:  # noqa: ARG001 - the protocol's signature
    """Compute without a cache."""
    return make()


def ignore_progress(share: float, /) -> None:
    """Ignore the progress."""


@dataclass(frozen=True)
class Resources:
    """What a plugin may use, and how it reports progress.

    Attributes:
        n_threads: the number of threads that may work at once; a plugin starts no process.
        device: where to compute, for learners that have a choice.
        keep: a cache for what is expensive to compute and needed again; results are the same without it.
        progress: called from time to time, never from two threads at once, with the share of the work that is done,
            in [0, 1]. An exception that it raises ends the work and passes through: this cancels the work.
        until: a deadline on the clock of `time.monotonic`; an ensemble that is still being trained then may stop with
            fewer members, and says how many it has. What is trained in time does not depend on it.
    """

    n_threads: int = 1
    device: Device = "cpu"
    keep: Cache = no_cache
    progress: Callable[[float], None] = ignore_progress
    until: float = float("inf")

    def part(self, start: float, stop: float) -> "Resources":
        """Return the same resources for a part of the work, whose progress runs from `start` to `stop`."""
        return replace(self, progress=partial(_between, self.progress, start, stop))


def _between(progress: Callable[[float], None], start: float, stop: float, share: float) -> None:
    progress(start + (stop - start) * share)


class Status(StrEnum):
    """How a run ended: the status of its record."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    NOT_APPLICABLE = "not-applicable"
