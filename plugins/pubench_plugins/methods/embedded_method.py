"""Methods that score embedded rows with matrices: their embedding, rows in blocks of one shape, and `model.json`."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import (
    DataError,
    Embedding,
    FittedEmbedding,
    FittedMethod,
    FloatVector,
    Json,
    NotApplicableError,
    Resources,
    Table,
    blas_threads,
    write_json,
)
from pubench_plugins.learners.model_files import expect, read_form, reading

Matrix: TypeAlias = npt.NDArray[Any]

#: Rows of a block: a multiple of the rows that any BLAS processes together, so that each row is summed in the same order.
#: With AVX-512 these are 24 rows, so a power of 2 is no such multiple.
BLOCK_ROWS = 1152
_MODEL = "model.json"


class ModelDocument(NamedTuple):
    """A `model.json`: the whole document, and the parts of it that all such methods have."""

    document: dict[str, Any]
    embedding: FittedEmbedding
    decided: Mapping[str, Json]


@dataclass(frozen=True, eq=False)
class EmbeddedFit(FittedMethod):
    """A fitted method that scores embedded rows; saved as `model.json`, and files beside it.

    Attributes:
        method: the name of the method, which is written to the file.
        embedding: of the features.
        decided: what fitting decided by itself, as plain JSON values.
    """

    method: ClassVar[str]

    embedding: FittedEmbedding
    decided: Mapping[str, Json]

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What was decided."""
        return self.decided

    def write(self, folder: Path, **rest: Json) -> None:
        """Write `model.json`: what all such methods have, and the `rest`; numbers keep every bit."""
        document: dict[str, Json] = {
            "form": self._form(),
            **rest,
            "decided": self.decided,
            "embedding": self.embedding.to_json(),
        }
        write_json(folder / _MODEL, document)

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[ModelDocument]:
        """Read `model.json`; errors inside the context are raised as a `DataError` that names the file."""
        with reading(folder / _MODEL, f"a model of {cls.method}"):
            document = read_form(folder / _MODEL, cls._form())
            expect(isinstance(document["decided"], dict), "what was decided should be an object")
            yield ModelDocument(
                document, FittedEmbedding.from_json(document["embedding"]), document["decided"]
            )

    @classmethod
    def _form(cls) -> str:
        return f"pubench {cls.method} 1"


def fit_embedding(X: Table) -> FittedEmbedding:
    """Return the standard embedding; raises `NotApplicableError` where all features are constant."""
    try:
        return Embedding("standard").fit(X)
    except DataError as error:
        raise NotApplicableError(str(error)) from error


def in_blocks(score: Callable[[Matrix], Matrix], values: Matrix, resources: Resources) -> FloatVector:
    """Return `score` of all rows of `values`, computed for `BLOCK_ROWS` of them at a time: shape (n_rows,), float64.

    BLAS adds in another order for another number of rows; so the last block is filled with zeros, and each block is
    computed by one thread. `score` takes (BLOCK_ROWS, n_columns) and returns (BLOCK_ROWS,).
    """
    result = np.empty(len(values))

    def work(start: int) -> None:
        block = values[start : start + BLOCK_ROWS]
        result[start : start + BLOCK_ROWS] = score(_padded(block))[: len(block)]

    with blas_threads(1), ThreadPoolExecutor(resources.n_threads) as pool:
        for _ in pool.map(work, range(0, len(values), BLOCK_ROWS)):
            pass
    return result


def _padded(block: Matrix) -> Matrix:
    if len(block) == BLOCK_ROWS:
        return block
    full = np.zeros((BLOCK_ROWS, block.shape[1]), dtype=block.dtype)
    full[: len(block)] = block
    return full
