"""The contract of data sets. They may carry truth, so nothing that trains or tunes imports this module."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pubench.api.plugin import Kind, Plugin
from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.types import BoolVector, Table


@dataclass(frozen=True)
class DatasetInfo:
    """Information on a data set that needs no loading.

    Attributes:
        title: one line on its rows and positives.
        rows, features, positives: counts of the whole data set; the loaded data is checked against them.
        source: its origin, a reference or an address.
        licence: its terms.
        stand_in: it is synthetic and replaces data that is not public; shown with all its results.
        note: a remark for readers of its results; empty when there is none.
    """

    title: str
    rows: int
    features: int
    positives: int
    source: str
    licence: str
    stand_in: bool = False
    note: str = ""


@dataclass(frozen=True)
class DataFile:
    """A file that a loader needs. pubench finds or downloads it; the loader gets its path.

    Attributes:
        names: possible file names in the data folder, the first being that of a download; a name may contain a subfolder
            (`adbench/23_mammography.npz`), and the file may have .gz, .xz or .zst appended.
        url: its address; http or https.
        sha256: of the file as it is at `url`, 64 hex digits; None where the publisher changes it without notice.
    """

    names: tuple[str, ...]
    url: str
    sha256: str | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """A loaded data set: features, and observed labels, true ones, or both.

    Attributes:
        X: the features.
        observed: shape (n_rows,), bool, the labels as they were recorded; None where only truth is known and a PU
            view is yet to be drawn from it.
        truth: the true labels; None where they are unknown.
    """

    X: Table
    observed: BoolVector | None = None
    truth: Truth | None = None

    def __post_init__(self) -> None:
        _ = self.labels
        for labels in (self.observed, None if self.truth is None else self.truth.y):
            if labels is not None and labels.shape != (self.X.n_rows,):
                raise DataError(f"{self.X.n_rows} rows but labels of shape {labels.shape}.")

    @property
    def labels(self) -> BoolVector:
        """The observed labels, or the true ones where nothing was observed."""
        if self.observed is not None:
            return self.observed
        if self.truth is not None:
            return self.truth.y
        raise DataError("A data set needs observed labels or true ones.")


class DatasetLoader(Plugin):
    """Loads one data set, from files or a generator.

    Attributes:
        info: known before loading.
        files: that it reads; empty for a generator, whose result pubench caches.
        revision: to be increased whenever a generator's data changes, so that cached data is not used.
    """

    kind = Kind.DATASET
    info: ClassVar[DatasetInfo]
    files: ClassVar[tuple[DataFile, ...]] = ()
    revision: ClassVar[int] = 1

    @abstractmethod
    def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:
        """Return the data set.

        `paths` are the paths of `files`, in that order. `rows` is the number of rows that is needed: a generator may return
        about this number of rows with the same rates; from more, pubench draws a sample. Equal arguments give equal data
        on every machine. Raises `DataError`, with advice, where a file has unexpected content.
        """
