"""The contract of data sets. They may carry truth, so nothing that trains or tunes imports this module."""

from abc import abstractmethod
from dataclasses import dataclass
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
        rows, features, positives: counts, checked on loading.
        source: where it comes from, a reference or an address.
        licence: under which terms.
        stand_in: it is synthetic and stands for data that is not public; shown wherever its results are.
    """

    title: str
    rows: int
    features: int
    positives: int
    source: str
    licence: str
    stand_in: bool = False


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
        if self.observed is None and self.truth is None:
            raise DataError("A data set needs observed labels or true ones.")
        for labels in (self.observed, None if self.truth is None else self.truth.y):
            if labels is not None and labels.shape != (self.X.n_rows,):
                raise DataError(f"{self.X.n_rows} rows but labels of shape {labels.shape}.")


class DatasetLoader(Plugin):
    """Brings one data set into memory, from a file, a download or a generator."""

    kind = Kind.DATASET
    info: ClassVar[DatasetInfo]

    @abstractmethod
    def load(self, rows: int | None, seed: Seed) -> Dataset:
        """Return the data set, or a draw of about `rows` rows with the same rates.

        Equal arguments give equal data on every machine. Raises `DataError`, with what to do, where a file is
        missing or not what it should be.
        """
