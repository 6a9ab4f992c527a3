"""The embedding of a whole table: fitted on features alone, applied in blocks of rows."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from pubench.embedding.columns import Column, column_from_json, column_to_json, fit_column
from pubench.embedding.scalings import SCALINGS
from pubench.errors import DataError, ParameterError, suggestion
from pubench.system.json_documents import Node
from pubench.types import Feature, FloatVector, Json, Table

#: Version of the form in JSON; a reader refuses any other.
_VERSION = 1
#: Number of values of a block: a block and its result fit into the processor's cache; otherwise writing column by
#: column into rows would load every row from memory once per column.
_BLOCK_VALUES = 2**18


@dataclass(frozen=True)
class Embedding:
    """Turns a table of any kinds into complete float32 numbers between which Euclidean distances are meaningful.

    It sees features alone, so it is label-free by construction.

    Attributes:
        scaling: of numeric features and dates, one of
            "standard": mean 0, standard deviation 1;
            "robust": the same by median and quartiles, which outliers do not move;
            "quantile": evenly spread ranks, which no monotone change of a feature alters;
            "none": as they are; distances then depend on their units.
            For flags, categories and missing values see `pubench.embedding.columns`.
    """

    scaling: str = "standard"

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            known = f"{', '.join(list(SCALINGS)[:-1])} and {list(SCALINGS)[-1]}"
            hint = suggestion(str(self.scaling), SCALINGS)
            raise ParameterError(f"There is no scaling '{self.scaling}'; there are {known}.{hint}")

    def fit(self, X: Table) -> "FittedEmbedding":
        """Learn the scales of all features from all rows of `X`; the order of the rows does not matter.

        Statistics are computed in float64, a column at a time, without missing values.

        Raises:
            DataError: no feature varies; a category's code is out of range; a value is too large for "none".
        """
        columns = tuple(
            fit_column(feature, X.values[:, number], self.scaling)
            for number, feature in enumerate(X.features)
        )
        schema = tuple(Feature(feature.name, feature.kind) for feature in X.features)
        fitted = FittedEmbedding(self, schema, columns)
        if not fitted.features:
            raise DataError("No feature tells rows apart: each has one value only, or none at all.")
        return fitted


@dataclass(frozen=True, eq=False)
class FittedEmbedding:
    """An embedding fitted on a table; it does not change and can be used from several threads.

    Attributes:
        embedding: its parameters.
        schema: names and kinds of the features it takes, in order, without their categories.
        columns: the columns that each of them is embedded as.
    """

    embedding: Embedding
    schema: tuple[Feature, ...]
    columns: tuple[Column, ...]

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The features of embedded tables: all numeric, with unique names."""
        return tuple(Feature(name) for names in self._names for name in names)

    @cached_property
    def _names(self) -> tuple[tuple[str, ...], ...]:
        taken: set[str] = set()
        return tuple(
            tuple(_unique(name, taken) for name in column.names(feature.name))
            for feature, column in zip(self.schema, self.columns, strict=True)
        )

    def transform(self, X: Table) -> Table:
        """Return the rows of `X` embedded: float32, complete, finite, the columns that `features` describes.

        A row's result depends on that row alone, and is the same bit for bit in any table. Besides the result only a
        block of rows is in memory.

        Raises:
            DataError: `X` has other features than the table this was fitted on.
        """
        self._check(X.features)
        ends = np.cumsum([0, *(len(names) for names in self._names)])
        writers = [
            (number, slice(start, stop), column.writer(feature))
            for number, (column, feature, (start, stop)) in enumerate(
                zip(self.columns, X.features, pairwise(ends.tolist()), strict=True)
            )
        ]
        out = np.empty((X.n_rows, len(self.features)), dtype=np.float32)
        step = max(1, _BLOCK_VALUES // max(X.n_features, len(self.features)))
        with np.errstate(over="ignore"):  # what overflows is clipped
            for start in range(0, X.n_rows, step):
                rows, block = X.values[start : start + step], out[start : start + step]
                for number, own, write in writers:
                    write(rows[:, number], block[:, own])
        return Table(out, self.features)

    def by_feature(self, values: FloatVector) -> FloatVector:
        """Return the sum of `values`, one per embedded column, over the columns of each feature."""
        ends = np.cumsum([0, *(len(names) for names in self._names)])
        return np.array([values[start:stop].sum() for start, stop in pairwise(ends.tolist())])

    def _check(self, features: tuple[Feature, ...]) -> None:
        for number, (fitted, given) in enumerate(zip(self.schema, features, strict=False), start=1):
            if (fitted.name, fitted.kind) != (given.name, given.kind):
                raise DataError(
                    f"Feature {number} is '{given.name}' ({given.kind}), but the embedding was fitted on "
                    f"'{fitted.name}' ({fitted.kind}) there."
                )
        if len(features) != len(self.schema):
            raise DataError(
                f"The table has {len(features)} features; the embedding was fitted on {len(self.schema)}."
            )

    def to_json(self) -> dict[str, Json]:
        """Return it as a JSON object with exact numbers."""
        return {
            "version": _VERSION,
            "scaling": self.embedding.scaling,
            "columns": [
                column_to_json(feature, column)
                for feature, column in zip(self.schema, self.columns, strict=True)
            ],
        }

    @classmethod
    def from_json(cls, document: Json) -> Self:
        """Return the embedding that `to_json` wrote; it transforms as the original did, bit for bit.

        Raises:
            DataError: it is no such document. It may come from anywhere: no code in it is run.
        """
        node = Node(document, "the embedding", "The saved embedding")
        if node["version"].value != _VERSION:
            raise DataError(f"The saved embedding is not of version {_VERSION}; fit the model again.")
        scaling = node["scaling"].text()
        if scaling not in SCALINGS:
            raise DataError(f"The saved embedding has the unknown scaling '{scaling}'; fit the model again.")
        columns = [column_from_json(column) for column in node["columns"].items()]
        if len({feature.name for feature, _ in columns}) != len(columns):
            raise DataError("The saved embedding has two features of one name; fit the model again.")
        return cls(
            Embedding(scaling),
            tuple(feature for feature, _ in columns),
            tuple(column for _, column in columns),
        )


def _unique(name: str, taken: set[str]) -> str:
    """Return the name, followed by a number if it is taken, and add it to the taken ones."""
    number, candidate = 2, name
    while candidate in taken:
        candidate, number = f"{name} ({number})", number + 1
    taken.add(candidate)
    return candidate
