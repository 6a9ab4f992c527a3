"""Trains the nets of nnPU with JAX.

    rows -> batches, each with its share of positives -> steps of Adam, some at a time -> layers in NumPy

The memory of a step, some ten times the outputs of a layer, is allocated in each call of compiled code. Calls of `_STEPS`
steps were measured to spend a quarter less time on each of them.

All randomness is drawn with NumPy from a `Seed`: first weights and batches stay the same with every version of JAX.

JAX has one pool of threads for the whole process, as large as the process has cores when JAX is first used, and nothing
that limits one computation: XLA's own switch `xla_cpu_multi_thread_eigen` was measured to change nothing. So
`Resources.n_threads` has no effect here; limit the cores of the process instead (`taskset`).
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import IndexVector, NotApplicableError, Resources, Seed
from pubench_plugins.methods.embedded_method import Matrix
from pubench_plugins.methods.nnpu_nets import Architecture, Net, NetLayer
from pubench_plugins.methods.nnpu_risk import RiskName, pu_risk, step_objective

#: A tree of arrays of JAX: lists and dictionaries.
Tree: TypeAlias = Any
Outputs: TypeAlias = "tuple[Any, list[dict[str, Any]]]"

#: Number of steps between two reports of progress.
_STEPS = 10
#: Of batch normalisation: a constant that keeps the divisor above 0, and the momentum of the running statistics.
_EPSILON, _MOMENTUM = 2e-5, 0.9


@dataclass(frozen=True)
class NetTraining:
    """Parameters of the training of a net.

    Attributes:
        risk: the risk that is minimised.
        beta, gamma: below -beta the risk of the negatives is increased, by gamma; see `step_objective`.
        learning_rate: of Adam.
        decay: L2: this times each weight is added to its gradient, before Adam scales it.
        batch: rows of a batch.
        epochs: number of passes over all rows.
        steps: the largest number of steps, however many epochs.
    """

    risk: RiskName = "nnpu"
    beta: float = 0.0
    gamma: float = 1.0
    learning_rate: float = 1e-3
    decay: float = 0.005
    batch: int = 30_000
    epochs: int = 100
    steps: int = 1000

    def n_steps(self, s: npt.NDArray[np.bool_]) -> int:
        """Return the number of steps of training on rows with these labels."""
        return min(self.steps, self.epochs * _per_epoch(s, self.batch))


def batches(s: npt.NDArray[np.bool_], size: int, seed: Seed) -> Iterator[tuple[IndexVector, IndexVector]]:
    """Yield row numbers of labelled and of unlabeled rows, batch after batch, without end.

    Each batch has its share of each kind, at least one row, and all have the same shape, because JAX compiles for
    one. An epoch shuffles each kind and divides it; where that leaves a remainder, its last batch is completed with
    rows of its first. Without that most batches would have no positive at one in a thousand rows.
    """
    count = _per_epoch(s, size)
    kinds = {"labelled": np.flatnonzero(s), "unlabeled": np.flatnonzero(~s)}
    epoch = 0
    while True:
        generator = seed.child("epoch", epoch).generator()
        labelled, unlabeled = (_divided(generator.permutation(rows), count) for rows in kinds.values())
        yield from zip(labelled, unlabeled, strict=True)
        epoch += 1


def _per_epoch(s: npt.NDArray[np.bool_], size: int) -> int:
    return -(-len(s) // size)


def _divided(shuffled: IndexVector, count: int) -> IndexVector:
    return np.resize(shuffled, (count, -(-len(shuffled) // count)))


def train_net(
    architecture: Architecture,
    values: Matrix,
    s: npt.NDArray[np.bool_],
    prior: float,
    descent: NetTraining,
    seed: Seed,
    resources: Resources,
) -> Net:
    """Train on embedded rows: shape (n_rows, n_features), float32.

    It holds the rows twice, one batch, and the outputs of its layers.

    Args:
        architecture: of the net.
        values: the rows.
        s: shape (n_rows,): labelled or not.
        prior: the share of positives among the unlabeled rows.
        descent: how.
        seed: decides first weights and batches.
        resources: for its device and progress.

    Raises:
        NotApplicableError: JAX is not installed or sees no such device, or a weight is no longer finite.
    """
    with on_device(resources.device):
        weights, running = _first(architecture, values.shape[1], seed.child("weights"))
        start, advance = _compiled(descent)
        state = (weights, running, start(weights))
        rows, wait = _on_device(values)
        n_steps = descent.n_steps(s)
        all_batches = batches(s, descent.batch, seed)
        for done in range(0, n_steps, _STEPS):
            chunk = list(islice(all_batches, min(_STEPS, n_steps - done)))
            labelled, unlabeled = (np.stack(kind) for kind in zip(*chunk, strict=True))
            # Waits: a call returns before its steps are done, and progress would be too early.
            state = wait(advance(state, rows, labelled, unlabeled, np.float32(prior)))
            resources.progress((done + len(chunk)) / n_steps)
        net = _folded(*state[:2])
    if not all(np.isfinite(part).all() for layer in net.layers for part in (layer.weight, layer.bias)):
        raise NotApplicableError("The training of nnPU diverged on this data; choose a lower learning_rate.")
    return net


def on_device(device: str) -> AbstractContextManager[object]:
    """Return a context in which JAX computes on "cpu" or "cuda", whatever it prefers by itself.

    Raises:
        NotApplicableError: JAX is not installed, or sees no such device.
    """
    try:
        import jax  # noqa: PLC0415 - heavy imports happen when used
        import optax  # noqa: F401, PLC0415
    except ImportError as error:
        raise NotApplicableError("The method nnpu needs JAX: pip install 'pubench[nn]'.") from error
    try:
        found = jax.devices(device)[0]
    except RuntimeError as error:
        raise NotApplicableError(f"JAX sees no {device} device here; use the device cpu.") from error
    context: AbstractContextManager[object] = jax.default_device(found)
    return context


def _first(architecture: Architecture, n_features: int, seed: Seed) -> tuple[Tree, Tree]:
    """Return first weights, normal with variance 1 / n_inputs, and the running statistics of batch normalisation."""
    generator = seed.generator()
    widths = [n_features, *architecture.hidden, 1]
    weights: list[dict[str, Matrix]] = []
    running: list[dict[str, Matrix]] = []
    for number, (rows, columns) in enumerate(pairwise(widths)):
        normal = generator.standard_normal((rows, columns)) / np.sqrt(rows)
        layer = {"weight": normal.astype(np.float32), "bias": np.zeros(columns, dtype=np.float32)}
        if architecture.normalised and number < len(architecture.hidden):
            layer["gain"] = np.ones(columns, dtype=np.float32)
            figures = {"mean": np.zeros(columns, dtype=np.float32), "var": np.ones(columns, dtype=np.float32)}
            running.append(figures)
        weights.append(layer)
    return weights, running


def _on_device(values: Matrix) -> tuple[Any, Callable[[Tree], Tree]]:
    """Return the rows on JAX's device, and a function that waits for its results."""
    import jax  # noqa: PLC0415 - heavy imports happen when used

    return jax.numpy.asarray(values), jax.block_until_ready


@cache
def _compiled(descent: NetTraining) -> tuple[Callable[[Tree], Tree], Callable[..., tuple[Tree, Tree, Tree]]]:
    """Return functions for the optimiser's first state and for some steps; compiled once for each shape."""
    import jax  # noqa: PLC0415 - heavy imports happen when used
    import jax.numpy as jnp  # noqa: PLC0415
    import optax  # noqa: PLC0415

    # Adam sees the penalty as a part of the gradient, as in the authors' code; `adamw` would decouple it.
    adam = optax.chain(optax.add_decayed_weights(descent.decay), optax.adam(descent.learning_rate))

    def objective(weights: Tree, values: Any, n_labelled: int, prior: Any) -> Outputs:
        outputs, figures = forward(weights, values)
        risk = pu_risk(descent.risk, outputs[:n_labelled], outputs[n_labelled:], prior, jnp)
        return step_objective(risk, descent.beta, descent.gamma, jnp), figures

    @jax.jit
    def advance(state: Tree, rows: Any, labelled: Any, unlabeled: Any, prior: Any) -> tuple[Tree, Tree, Tree]:
        def step(state: Tree, batch: Any) -> tuple[Tree, None]:
            weights, running, moments = state
            gradient, figures = jax.grad(objective, has_aux=True)(
                weights, rows[batch], labelled.shape[1], prior
            )
            updates, moments = adam.update(gradient, moments, weights)
            averaged = jax.tree.map(
                lambda old, new: _MOMENTUM * old + (1 - _MOMENTUM) * new, running, figures
            )
            return (optax.apply_updates(weights, updates), averaged, moments), None

        after: tuple[Tree, Tree, Tree]
        after, _ = jax.lax.scan(step, state, jnp.concatenate([labelled, unlabeled], axis=1))
        return after

    return adam.init, advance


def forward(weights: Tree, values: Any) -> Outputs:
    """Return g of each row of a batch, normalised by the batch's own figures, and these figures, layer by layer."""
    import jax.numpy as jnp  # noqa: PLC0415 - heavy imports happen when used

    *hidden, last = weights
    figures = []
    for layer in hidden:
        values = values @ layer["weight"]
        if "gain" in layer:
            # Both figures from one pass over the outputs, which are too many for the processor's caches.
            mean = jnp.mean(values, axis=0)
            var = jnp.maximum(jnp.mean(values * values, axis=0) - mean * mean, 0)
            # New rows are normalised by the variance of the population, which is larger than a batch's own.
            figures.append({"mean": mean, "var": var * (len(values) / max(1, len(values) - 1))})
            scale = layer["gain"] / jnp.sqrt(var + _EPSILON)
            values, shift = values * scale, layer["bias"] - mean * scale
        else:
            shift = layer["bias"]
        values = jnp.maximum(values + shift, 0)
    return (values @ last["weight"] + last["bias"])[:, 0], figures


def _folded(weights: Tree, running: Tree) -> Net:
    """Return the net for new rows: the running statistics become a part of weights and biases."""
    figures = iter(running)
    return Net(tuple(_fold(layer, next(figures) if "gain" in layer else None) for layer in weights))


def _fold(layer: dict[str, Any], figures: dict[str, Any] | None) -> NetLayer:
    weight, bias = (np.asarray(layer[name], dtype=np.float64) for name in ("weight", "bias"))
    if figures is not None:
        scale = np.asarray(layer["gain"], dtype=np.float64) / np.sqrt(
            np.asarray(figures["var"], dtype=np.float64) + _EPSILON
        )
        weight, bias = weight * scale, bias - np.asarray(figures["mean"], dtype=np.float64) * scale
    return NetLayer(weight.astype(np.float32), bias.astype(np.float32))
