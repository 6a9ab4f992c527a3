"""Trained nets of nnPU: layers in NumPy, which score and are saved without JAX."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench import DataError, FloatVector, Json, Resources
from pubench_plugins.learners.model_files import expect, reading
from pubench_plugins.methods.embedded_method import Matrix, in_blocks


@dataclass(frozen=True)
class Architecture:
    """The layers between the features and the one output.

    Attributes:
        hidden: the widths of the hidden layers, each followed by ReLU.
        normalised: hidden layers have batch normalisation in place of a bias.
    """

    hidden: tuple[int, ...] = ()
    normalised: bool = False


#: The three of the authors' code.
ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        "linear": Architecture(),
        "3lp": Architecture((100,)),
        "mlp": Architecture((300, 300, 300, 300), normalised=True),
    }
)
#: More than any net has; a file that claims more is damaged.
_MOST_WIDTH, _MOST_LAYERS = 10_000_000, 100


@dataclass(frozen=True, eq=False)
class NetLayer:
    """x -> x W + b.

    Attributes:
        weight: shape (n_inputs, n_outputs).
        bias: shape (n_outputs,).
    """

    weight: Matrix
    bias: Matrix


@dataclass(frozen=True, eq=False)
class Net:
    """A trained net of float32 layers with ReLU between them, batch normalisation folded into them; one output."""

    layers: tuple[NetLayer, ...]

    def outputs(self, values: Matrix, resources: Resources) -> FloatVector:
        """Return g(x) for each row of `values`; it depends on that row alone.

        Computed in float64: in float32 BLAS adds in an order that depends on the position of a row in its block.
        """
        wide = [
            NetLayer(layer.weight.astype(np.float64), layer.bias.astype(np.float64)) for layer in self.layers
        ]
        return in_blocks(lambda block: _forward(wide, block.astype(np.float64)), values, resources)

    def save(self, path: Path) -> None:
        """Write all numbers, layer by layer, as one vector in NumPy's own format."""
        parts = [part.ravel() for layer in self.layers for part in (layer.weight, layer.bias)]
        np.save(path, np.concatenate(parts), allow_pickle=False)

    @property
    def widths(self) -> list[Json]:
        """The number of features, of each hidden layer's outputs, and 1: what `load` needs beside the file."""
        return [self.layers[0].weight.shape[0], *(layer.weight.shape[1] for layer in self.layers)]

    @classmethod
    def load(cls, path: Path, widths: object) -> "Net":
        """Read back what `save` wrote.

        Raises:
            DataError: it is no such file, or has not the numbers that a net of these `widths` has.
        """
        shapes = _shapes(widths, path)
        sizes = [rows * columns + columns for rows, columns in shapes]
        with reading(path, "a net"):
            # Mapped, not read: a file that claims more numbers than it holds is refused before memory is taken.
            numbers: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
            expect(
                numbers.dtype == np.float32 and numbers.shape == (sum(sizes),),
                "its size should fit its widths",
            )
            expect(np.isfinite(numbers).all(), "numbers should be finite")
        parts = np.split(np.array(numbers), np.cumsum(sizes)[:-1])
        return cls(tuple(_layer(part, shape) for part, shape in zip(parts, shapes, strict=True)))


def _forward(layers: Sequence[NetLayer], values: Matrix) -> Matrix:
    *hidden, last = layers
    with np.errstate(over="ignore", invalid="ignore"):  # `Scores` refuses outputs that are not finite
        for layer in hidden:
            values = np.maximum(values @ layer.weight + layer.bias, 0)
        # Not `@`: a product with a vector adds in another order at the end of a block.
        return np.asarray(np.einsum("ij,j->i", values, last.weight[:, 0]) + last.bias[0])


def _layer(numbers: Matrix, shape: tuple[int, int]) -> NetLayer:
    split = shape[0] * shape[1]
    return NetLayer(numbers[:split].reshape(shape), numbers[split:])


def _shapes(widths: object, path: Path) -> Sequence[tuple[int, int]]:
    if (
        not isinstance(widths, list)
        or not 2 <= len(widths) <= _MOST_LAYERS
        or not all(type(width) is int and 1 <= width <= _MOST_WIDTH for width in widths)
        or widths[-1] != 1
    ):
        raise DataError(f"The widths of the net beside {path} are invalid; the model is damaged.")
    return list(pairwise(widths))
