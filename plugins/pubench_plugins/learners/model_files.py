"""Reads model files that may be hostile: shared by the learners.

A library may crash the process when it reads a damaged file: of 120 damaged files LightGBM crashed on 52, XGBoost on 17.
So their files are parsed, checked and written anew before the library reads them. CatBoost verifies the form of its files by itself,
but not every number: 2 of 250 damaged files crashed it, so its files need the checksum that the caller stores. The
checks raise Python's own errors; `reading` turns them into one sentence.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench import DataError, FloatVector, IndexVector, Table, read_json

_MOST_FEATURES = 2**24
_MALFORMED: tuple[type[Exception], ...] = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


@contextmanager
def reading(path: Path, what: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn errors inside the context into a `DataError`: `path` is not `what`.

    Args:
        path: the file that is read.
        what: its expected content, with an article.
        errors: error types of the library, in addition to Python's.
    """
    try:
        yield
    except DataError:  # has its sentence already
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    except _MALFORMED + errors as error:
        reason = str(error).partition("\n")[0].rstrip(". ")[:120]
        raise DataError(f"{path} is not {what}, or it is damaged ({reason}).") from error


def feature_count(number: object) -> int:
    """Return how many features a model says that it has; raises for a number for which there would be no memory."""
    expect(type(number) is int and 0 < number <= _MOST_FEATURES, "n_features should be a whole number")
    assert isinstance(number, int)  # noqa: S101 - for mypy: the line above checks it
    return number


def expect(condition: object, claim: str) -> None:
    """Raise `ValueError` unless `condition` holds; `claim` is the requirement."""
    if not condition:
        raise ValueError(claim)


def read_form(path: Path, form: str) -> dict[str, Any]:
    """Return the JSON object in `path`, whose "form" must be the given one."""
    content = read_json(path)
    expect(content.get("form") == form, f"its form should be '{form}'")
    return content


def floats(values: object, length: int) -> FloatVector:
    """Return a list of `length` finite numbers as float64."""
    array = _numbers(values, length, (int, float)).astype(np.float64)
    expect(np.isfinite(array).all(), "numbers should be finite")
    return array


def integers(values: object, length: int) -> IndexVector:
    """Return a list of `length` whole numbers as int64."""
    return _numbers(values, length, (int,)).astype(np.int64)


def _numbers(values: object, length: int, types: tuple[type, ...]) -> npt.NDArray[Any]:
    expect(isinstance(values, list) and len(values) == length, f"a list should hold {length} numbers")
    assert isinstance(values, list)  # noqa: S101 - for mypy: the line above checks it
    expect(all(type(value) in types for value in values), "a list should hold numbers alone")
    return np.array(values, dtype=np.float64 if float in types else np.int64)


@dataclass(frozen=True, eq=False)
class Branches:
    """The nodes of a tree.

    Attributes:
        feature: shape (n_nodes,): the feature that an inner node compares.
        left, right: shape (n_nodes,): its children; both are the node itself for a leaf.
    """

    feature: IndexVector
    left: IndexVector
    right: IndexVector

    def check(self, n_features: int) -> None:
        """Raise unless every walk from the root ends in a leaf, inside the tree, and uses known features."""
        nodes = np.arange(len(self.feature))
        inner = self.left != nodes
        expect(len(nodes) > 0, "a tree should have a node")
        expect(np.array_equal(inner, self.right != nodes), "a leaf should have no child")
        for child in (self.left[inner], self.right[inner]):
            # A child follows its parent in every library: this excludes cycles, and walks out of the tree.
            expect(np.all((child > nodes[inner]) & (child < len(nodes))), "a child should follow its parent")
        used = self.feature[inner]
        expect(np.all((used >= 0) & (used < n_features)), f"a tree should use features 0 to {n_features - 1}")


def check_columns(X: Table, n_features: int) -> None:
    """Raise `DataError` unless `X` has as many features as a model was trained on."""
    if X.n_features != n_features:
        raise DataError(f"The model was trained on {n_features} features; the table has {X.n_features}.")


def shares(values: npt.ArrayLike) -> FloatVector:
    """Return values that are not negative divided by their sum; zeros stay zeros."""
    array = np.asarray(values, dtype=np.float64)
    total = array.sum()
    return array / total if total > 0 else np.zeros_like(array)
