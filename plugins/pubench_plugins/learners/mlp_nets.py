"""Fully connected nets side by side, as one vector of numbers with views, and what they compute."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pubench import FloatVector

Matrix = npt.NDArray[Any]


class Layer(NamedTuple):
    """x -> x W + b of several nets.

    Attributes:
        weight: shape (n_nets, n_inputs, n_outputs).
        bias: shape (n_nets, 1, n_outputs).
    """

    weight: Matrix
    bias: Matrix


@dataclass(frozen=True, eq=False)
class Nets:
    """Nets of one shape: layers with ReLU between them, and beside them a linear term of the inputs; one output each.

    Faint signals are mostly linear: the linear term follows them at once, and the layers learn the rest.

    Attributes:
        count: number of nets.
        widths: of the inputs, of each hidden layer, and of the output, which is 1.
        numbers: shape (`size`,): all weights and biases; `layers` and `linear` are views of it.
    """

    count: int
    widths: tuple[int, ...]
    numbers: Matrix

    @classmethod
    def zeros(cls, count: int, widths: tuple[int, ...]) -> "Nets":
        """Return nets of float32 zeros."""
        return cls(count, widths, np.zeros(cls.size(count, widths), np.float32))

    @staticmethod
    def size(count: int, widths: tuple[int, ...]) -> int:
        """Return the number of weights and biases."""
        return count * (widths[0] + sum((inputs + 1) * outputs for inputs, outputs in pairwise(widths)))

    @cached_property
    def linear(self) -> Matrix:
        """The weights of the linear term: shape (n_nets, n_inputs, 1)."""
        return self._view(0, (self.count, self.widths[0], 1))

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, from the inputs to the output."""
        layers, start = [], self.linear.size
        for inputs, outputs in pairwise(self.widths):
            weight = self._view(start, (self.count, inputs, outputs))
            bias = self._view(start + weight.size, (self.count, 1, outputs))
            layers.append(Layer(weight, bias))
            start += weight.size + bias.size
        return tuple(layers)

    def _view(self, start: int, shape: tuple[int, ...]) -> Matrix:
        return self.numbers[start : start + int(np.prod(shape))].reshape(shape)

    def part(self, number: int) -> "Nets":
        """Return a copy of one of the nets."""
        part, own = Nets.zeros(1, self.widths), slice(number, number + 1)
        part.linear[:] = self.linear[own]
        for copied, layer in zip(part.layers, self.layers, strict=True):
            copied.weight[:], copied.bias[:] = layer.weight[own], layer.bias[own]
        return part

    def wide(self) -> "Nets":
        """Return the same nets in float64.

        In float32 BLAS adds in an order that depends on the position of a row in its block.
        """
        return Nets(self.count, self.widths, self.numbers.astype(np.float64))

    def log_odds(self, values: Matrix, number: int = 0) -> FloatVector:
        """Return the output of one net for each row of `values`: shape (n_rows,)."""
        hidden = values
        for layer in self.layers[:-1]:
            hidden = np.maximum(hidden @ layer.weight[number] + layer.bias[number], 0)
        last = self.layers[-1]
        # Not `@`: a product with a vector adds in another order at the end of a block.
        found = np.einsum("ij,j->i", hidden, last.weight[number, :, 0])
        found += np.einsum("ij,j->i", values, self.linear[number, :, 0])
        return np.asarray(found + last.bias[number, 0, 0])

    def slopes(self, values: Matrix, number: int = 0) -> FloatVector:
        """Return the mean size of the derivative of one net's output by each input: shape (n_inputs,)."""
        active, hidden = [], values
        for layer in self.layers[:-1]:
            hidden = np.maximum(hidden @ layer.weight[number] + layer.bias[number], 0)
            active.append(hidden > 0)
        slope = np.broadcast_to(self.layers[-1].weight[number, :, 0], hidden.shape)
        for layer, on in zip(self.layers[-2::-1], reversed(active), strict=True):
            slope = (slope * on) @ layer.weight[number].T
        return np.asarray(np.abs(slope + self.linear[number, :, 0]).mean(axis=0, dtype=np.float64))


def probabilities(log_odds: Matrix) -> Matrix:
    """Return 1 / (1 + exp(-log_odds))."""
    with np.errstate(over="ignore"):  # the probability is 0 then
        return np.asarray(1 / (1 + np.exp(-log_odds)))
