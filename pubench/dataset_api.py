"""The contract of data sets. They may carry truth, so nothing that trains or tunes imports this module."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pubench.errors import DataError
from pubench.plugin_api import Kind, Plugin
from pubench.seeds import Seed
from pubench.truth import Truth
from pubench.types import BoolVector, Table


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set without loading it.

    Attributes:
        title: one line that says what its rows and positives are.
        rows, features, positives: counts of the whole data set; what is loaded from a file is checked against them.
        source: where it comes from, a reference or an address.
        licence: under which terms.
        stand_in: it is synthetic and stands for data that is not public; shown wherever its results are.
        note: what a reader of its results has to know; empty when there is nothing.
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
    """A file that a loader needs. pubench finds or fetches it; the loader is handed its place.

    Attributes:
        names: what it is called, the first being what a download is saved as; looked for in the data folder, where a
            name may hold a subfolder (`adbench/23_mammography.npz`), and with .gz, .xz or .zst behind it.
        url: where it can be had; http or https.
        sha256: of the file as it is at `url`, 64 hex digits; None where the publisher changes it without notice.
    """

    names: tuple[str, ...]
    url: str
    sha256: str | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """A loaded data set: features, and what is observed, or what is true, or both.

    Attributes:
        X: the features.
        observed: shape (n_rows,), bool, the labels as they were recorded; None where only truth is known and a PU
            view is yet to be drawn from it.
        truth: the true labels; None where nobody knows them.
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
        """What tells rows apart: the observed labels, or the true ones where nothing was observed."""
        if self.observed is not None:
            return self.observed
        if self.truth is not None:
            return self.truth.y
        raise DataError("A data set needs observed labels or true ones.")


class DatasetLoader(Plugin):
    """Brings one data set into memory, from files or a generator.

    Attributes:
        info: what is known of it beforehand.
        files: what it reads; empty for a generator, whose result pubench keeps in its cache.
        revision: to be raised whenever a generator's data changes, so that no cache serves the old.
    """

    kind = Kind.DATASET
    info: ClassVar[DatasetInfo]
    files: ClassVar[tuple[DataFile, ...]] = ()
    revision: ClassVar[int] = 1

    @abstractmethod
    def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:
        """Return the data set.

        `paths` are the places of `files`, in that order. `rows` is a wish that can spare a generator work: it may
        return about so many rows with the same rates; where more come back, pubench draws from them. Equal arguments
        give equal data on every machine. Raises `DataError`, with what to do, where a file is not what it should be.
        """
