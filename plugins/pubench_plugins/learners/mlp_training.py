"""Trains nets by Adam on a weighted logistic loss: several at one go, each on its own tags, in NumPy alone.

    tags -> batches, drawn for each net -> steps of Adam on all nets together -> averaged weights -> intercepts

A step does not depend on the number of steps: what is stopped after k steps is what k steps give.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pubench import IndexVector, Resources, Seed, Tags, blas_threads
from pubench_plugins.learners.mlp_batches import TOGETHER, Batches, Classes
from pubench_plugins.learners.mlp_nets import Matrix, Nets, probabilities

#: Of Adam: how fast the means of the gradient and of its square forget.
_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8
#: Rows of each class, at most, by which an intercept is set.
_JUDGED = 20_000
#: Log-odds beyond which a probability is 0 or 1.
_FARTHEST = 100.0


@dataclass(frozen=True)
class Descent:
    """Parameters of a training.

    Attributes:
        hidden: widths of the hidden layers.
        learning_rate: of Adam.
        decay: the penalty is this times half the sum of the squared distances of weights from their first values, while the
            loss is a sum over rows.
        dropout: the share of a hidden layer's outputs that is left out in a step.
        batch: rows of a batch.
        steps: number of steps.
    """

    hidden: tuple[int, ...]
    learning_rate: float
    decay: float
    dropout: float
    batch: int
    steps: int


class _Adam:
    """Adam with averaged weights; one learning rate for all nets.

    The average over steps gives step t a weight that grows as t**`_POWER`: it forgets the beginning, and needs no planned end.
    """

    _POWER = 4

    def __init__(self, nets: Nets, learning_rate: float) -> None:
        self._nets, self._rate, self._step = nets, learning_rate, 0
        self._mean, self._square, self._work = (np.zeros_like(nets.numbers) for _ in range(3))
        self.average = Nets.zeros(nets.count, nets.widths)

    def step(self, gradient: Matrix) -> None:
        """Move the nets against a gradient, which is overwritten."""
        self._step += 1
        work = self._work
        self._mean *= np.float32(_FIRST)
        self._mean += np.multiply(gradient, np.float32(1 - _FIRST), out=work)
        gradient *= gradient
        self._square *= np.float32(_SECOND)
        self._square += np.multiply(gradient, np.float32(1 - _SECOND), out=gradient)
        unbiased = np.sqrt(1 - _SECOND**self._step)
        np.sqrt(self._square, out=work)
        work += np.float32(_EPSILON * unbiased)
        np.divide(self._mean, work, out=work)
        rate = self._rate * min(1, self._step / TOGETHER)  # the first means are of few batches
        work *= np.float32(rate * unbiased / (1 - _FIRST**self._step))
        np.subtract(self._nets.numbers, work, out=self._nets.numbers)
        share = (self._POWER + 1) / (self._step + self._POWER)
        np.subtract(self._nets.numbers, self.average.numbers, out=work)
        work *= np.float32(share)
        np.add(self.average.numbers, work, out=self.average.numbers)


class Passes:
    """Forward and backward through all nets, in arrays that are allocated once."""

    def __init__(self, nets: Nets, batches: Batches, dropout: float, seeds: Sequence[Seed]) -> None:
        shape = batches.target.shape[:2]
        self._nets, self._batches = nets, batches
        self._outputs = [np.empty((*shape, width), np.float32) for width in nets.widths[:-1]]
        self._slopes = [np.empty((*shape, width), np.float32) for width in nets.widths[:-1]]
        # A chance in 256ths, which a random byte decides.
        self._dropped = round(256 * dropout)
        self._raise = np.float32(256 / (256 - self._dropped))
        self._dice = [seed.child("dropout").generator() for seed in seeds]
        self._ones = np.ones((shape[0], 1, shape[1]), np.float32)
        self.gradient = Nets.zeros(nets.count, nets.widths)

    def run(self, values: Matrix, rows: IndexVector) -> None:
        """Write the gradient of the loss of a batch: rows of shape (n_nets, batch)."""
        np.take(values, rows, axis=0, out=self._outputs[0], mode="clip")  # "raise" copies
        self._backward(self._forward())

    def _forward(self) -> Matrix:
        """Return the derivative of the loss by the outputs: shape (n_nets, batch, 1)."""
        outputs = self._outputs
        for layer, given, found in zip(self._nets.layers, outputs, outputs[1:], strict=False):
            np.matmul(given, layer.weight, out=found)
            np.add(found, layer.bias, out=found)
            np.maximum(found, 0, out=found)
            if self._dropped:
                np.multiply(found, self._kept(found.shape), out=found)
        last = self._nets.layers[-1]
        odds = outputs[-1] @ last.weight + outputs[0] @ self._nets.linear + last.bias
        return np.asarray((probabilities(odds) - self._batches.target) * self._batches.weight)

    def _kept(self, shape: tuple[int, ...]) -> Matrix:
        """Return a mask: 0 for what is left out, and for the rest the factor that keeps the expected sum."""
        size = shape[1] * shape[2]
        dice = np.stack([np.frombuffer(dice.bytes(size), np.uint8) for dice in self._dice])
        return (dice.reshape(shape) >= self._dropped) * self._raise

    def _backward(self, slope: Matrix) -> None:
        layers, gradients, outputs = self._nets.layers, self.gradient.layers, self._outputs
        np.matmul(outputs[0].transpose(0, 2, 1), slope, out=self.gradient.linear)
        for number in range(len(layers) - 1, -1, -1):
            np.matmul(outputs[number].transpose(0, 2, 1), slope, out=gradients[number].weight)
            np.matmul(self._ones, slope, out=gradients[number].bias)  # faster than `sum`
            if number:
                before = self._slopes[number]
                # With a single column a multiplication is the same, and faster.
                multiplied = np.multiply if number == len(layers) - 1 else np.matmul
                multiplied(slope, layers[number].weight.transpose(0, 2, 1), out=before)
                before *= outputs[number] > 0
                if self._dropped:
                    before *= self._raise
                slope = before


def train_nets(
    values: Matrix, taggings: Sequence[Tags], descent: Descent, seeds: Sequence[Seed], resources: Resources
) -> tuple[Nets, int]:
    """Train a net on each tagging, with the seed of the same number; return them and the number of steps.

    A net depends on its tags and seed alone, up to the rounding of float32. After `resources.until` there are no further steps.

    Args:
        values: shape (n_rows, n_features), float32, scaled to sizes of about 1.
        taggings: of the rows.
        descent: how.
        seeds: decide first weights, batches and what is left out.
        resources: for its progress and deadline; one thread works.
    """
    all_classes = [Classes.of(tags) for tags in taggings]
    nets = _first((values.shape[1], *descent.hidden, 1), all_classes, seeds)
    penalty = _penalty(nets, all_classes, descent.decay)
    batches = Batches(all_classes, descent.batch, seeds)
    passes, adam = Passes(nets, batches, descent.dropout, seeds), _Adam(nets, descent.learning_rate)
    first, moved = nets.numbers.copy(), np.empty_like(nets.numbers)
    gradient, done = passes.gradient.numbers, 0
    with blas_threads(1):
        while done < descent.steps and (done == 0 or time.monotonic() < resources.until):
            for rows in batches.rows()[: descent.steps - done]:
                passes.run(values, rows)
                gradient += np.multiply(penalty, np.subtract(nets.numbers, first, out=moved), out=moved)
                adam.step(gradient)
                done += 1
            resources.progress(done / descent.steps)
        trained = adam.average
        for number, (classes, seed) in enumerate(zip(all_classes, seeds, strict=True)):
            _set_intercept(trained, number, values, classes, seed)
    return trained, done


def _first(widths: tuple[int, ...], all_classes: Sequence[Classes], seeds: Sequence[Seed]) -> Nets:
    """Return first weights of hidden layers, normal with variance 2 / n_inputs; each net's output is its share of positives."""
    nets = Nets.zeros(len(seeds), widths)
    for number, (classes, seed) in enumerate(zip(all_classes, seeds, strict=True)):
        generator = seed.child("weights").generator()
        for layer in nets.layers[:-1]:
            shape = layer.weight.shape[1:]
            layer.weight[number] = generator.standard_normal(shape, np.float32) * np.sqrt(2 / shape[0])
        nets.layers[-1].bias[number] = np.log(classes.positive.mass / classes.negative.mass)
    return nets


def _penalty(nets: Nets, all_classes: Sequence[Classes], decay: float) -> Matrix:
    """Return the factor of each number in the penalty's gradient: 0 for biases.

    The loss is divided by the mass of the rarer class, so this is, too: the fewer positives, the simpler the net. The
    penalty holds weights near their first values, which are 0 for those of the output: pulled to 0, a hidden layer dies
    before faint signals reach it.
    """
    penalty = Nets.zeros(nets.count, nets.widths)
    factors = np.array([decay / classes.rarer for classes in all_classes]).reshape(-1, 1, 1)
    for weight in (penalty.linear, *(layer.weight for layer in penalty.layers)):
        weight[:] = factors
    return penalty.numbers


def _set_intercept(nets: Nets, number: int, values: Matrix, classes: Classes, seed: Seed) -> None:
    """Shift a net's output, so that the mean probability of its examples is their share of positives."""
    rows, weight = (
        np.concatenate(parts)
        for parts in zip(
            classes.positive.sample(_JUDGED, seed.child("intercept", "positive")),
            classes.negative.sample(_JUDGED, seed.child("intercept", "negative")),
            strict=True,
        )
    )
    odds, weight = nets.log_odds(values[rows], number).astype(np.float64), weight / weight.sum()
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        if weight @ probabilities(odds + middle) < classes.share:
            low = middle
        else:
            high = middle
    nets.layers[-1].bias[number] += (low + high) / 2
