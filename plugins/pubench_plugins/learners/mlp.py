"""Neural nets: fully connected layers, trained in NumPy."""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pubench import (
    Float,
    FloatVector,
    Int,
    Json,
    Learner,
    Model,
    Resources,
    Seed,
    Table,
    Tags,
    Takes,
    blas_threads,
)
from pubench_plugins.learners.mlp_nets import Matrix, Nets, probabilities
from pubench_plugins.learners.mlp_training import Descent, train_nets
from pubench_plugins.learners.model_files import check_columns, expect, reading, shares
from pubench_plugins.methods.embedded_method import in_blocks

_FORM = "pubench mlp 1"
#: A file with wider nets, or with more widths than three hidden layers have, is damaged.
_MOST_WIDTH, _MOST_WIDTHS = 10_000_000, 5
#: Rows that are scaled together.
_BLOCK = 2**14
#: Rows by which importances are measured.
_MEASURED = 2000
#: Greater values count as this one: its square is a number.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class BoundedScaling:
    """Scaling that outliers do not move, and that draws them in: z / sqrt(1 + (z / 3)^2) lies within 3.

    Attributes:
        centre: shape (n_features,): the median of each feature, without missing values.
        scale: shape (n_features,): the distance of its quartiles; half its range where that is 0, and 1 if it is constant.
    """

    centre: FloatVector
    scale: FloatVector

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "BoundedScaling":
        """Return the scaling of the columns of `values`."""
        found = np.array([_centre_and_scale(column) for column in values.T]).reshape(-1, 2)
        return cls(*np.ascontiguousarray(found.T))

    def apply(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return scaled values; a missing one, which only new rows have, counts as the median."""
        known = np.clip(values, -_LARGEST, _LARGEST, dtype=np.float64)
        with np.errstate(over="ignore"):  # what overflows is clipped
            scaled = (known - self.centre) / self.scale
        scaled[np.isnan(scaled)] = 0
        scaled = np.clip(scaled, -1e6, 1e6, out=scaled)  # numbers whose squares keep every bit that matters
        return np.asarray(scaled / np.sqrt(1 + (scaled / 3) ** 2))


@dataclass(frozen=True, eq=False)
class BoundedRows:
    """Scaled rows, shape (n_rows, n_features), float32, and how they were made."""

    scaling: BoundedScaling
    values: npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class MLPModel(Model):
    """A net of scaled features.

    Attributes:
        scaling: of the features.
        net: a single one, float32.
        importance: shape (n_features,): the share of each feature; see `importances`.
        steps: that were done.
        asked: that were to be done.
    """

    scaling: BoundedScaling
    net: Nets
    importance: FloatVector
    steps: int
    asked: int

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the probabilities, computed in float64."""
        check_columns(X, len(self.importance))
        net = self.net.wide()

        def score(block: Matrix) -> Matrix:
            return probabilities(net.log_odds(self.scaling.apply(block)))

        return in_blocks(score, X.values, resources)

    def importances(self) -> FloatVector:
        """Return each feature's share of the mean sizes of the output's derivatives, times standard deviations."""
        return self.importance

    @property
    def decided(self) -> Mapping[str, Json]:
        """The number of steps, where the time ran out."""
        return {} if self.steps == self.asked else {"steps": self.steps}

    def save(self, path: Path) -> None:
        """Write a line of JSON and the numbers as bytes behind it."""
        floats = (self.scaling.centre, self.scaling.scale, self.importance)
        body = b"".join(array.astype("<f8").tobytes() for array in floats)
        body += self.net.numbers.astype("<f4").tobytes()
        head = {
            "form": _FORM,
            "widths": self.net.widths,
            "steps": self.steps,
            "asked": self.asked,
            "checksum": zlib.crc32(body),
        }
        path.write_bytes(json.dumps(head).encode() + b"\n" + body)


class MLP(Learner):
    """Fully connected nets with a linear term beside them; the fewer positives, the stronger the penalty."""

    name = "mlp"
    takes = Takes()
    suffix = ".net"
    memory = 0.5
    taggings_at_once = 10
    space = {
        "width": Int(8, 512, default=64, log=True, help="outputs of a hidden layer"),
        "depth": Int(1, 3, default=2, help="number of hidden layers"),
        "learning_rate": Float(1e-4, 1e-2, default=2e-3, log=True, help="of Adam"),
        "weight_decay": Float(
            0.1, 1000.0, default=30.0, log=True, help="L2 penalty on the distance from first weights"
        ),
        "dropout": Float(0.0, 0.5, default=0.0, help="share of a hidden layer that a step leaves out"),
        "batch": Int(32, 4096, default=256, log=True, tuned=False, help="rows of a step"),
        "steps": Int(50, 100_000, default=1000, log=True, tuned=False, help="steps of the training"),
    }

    def prepare(self, X: Table, resources: Resources) -> BoundedRows:  # noqa: ARG002 - the contract's signature
        """Scale once."""
        scaling, values = BoundedScaling.of(X.values), np.empty(X.values.shape, np.float32)
        for start in range(0, X.n_rows, _BLOCK):
            rows = slice(start, start + _BLOCK)
            values[rows] = scaling.apply(X.values[rows])
        return BoundedRows(scaling, values)

    def train(self, prepared: BoundedRows, tags: Tags, seed: Seed, resources: Resources) -> MLPModel:
        """Train the nets of one tagging together; after `resources.until` with no further steps."""
        return self.train_many(prepared, [tags], [seed], resources)[0]

    def train_many(
        self, prepared: BoundedRows, taggings: Sequence[Tags], seeds: Sequence[Seed], resources: Resources
    ) -> Sequence[MLPModel]:
        """Train the nets of all taggings together."""
        nets, done = train_nets(prepared.values, taggings, self._descent(), seeds, resources)
        return [self._model(prepared, tags, nets.part(number), done) for number, tags in enumerate(taggings)]

    def _descent(self) -> Descent:
        given = self.params
        return Descent(
            hidden=(given["width"],) * given["depth"],
            learning_rate=given["learning_rate"],
            decay=given["weight_decay"],
            dropout=given["dropout"],
            batch=given["batch"],
            steps=given["steps"],
        )

    def _model(self, prepared: BoundedRows, tags: Tags, net: Nets, done: int) -> MLPModel:
        """Return the model of a net, with importances measured on rows that count."""
        counted = tags.counted
        rows = prepared.values[counted[:: -(-len(counted) // _MEASURED)]]
        with blas_threads(1):
            importance = shares(net.slopes(rows) * rows.std(axis=0, dtype=np.float64))
        return MLPModel(prepared.scaling, net, importance, done, self.params["steps"])

    @classmethod
    def load(cls, path: Path) -> MLPModel:
        """Read the numbers; the checksum finds damage, and the checks what lies."""
        with reading(path, "a model of mlp"):
            line, _, body = path.read_bytes().partition(b"\n")
            head = json.loads(line)
            expect(isinstance(head, dict) and head.get("form") == _FORM, f"its form should be '{_FORM}'")
            expect(head["checksum"] == zlib.crc32(body), "its checksum should fit")
            for name in ("steps", "asked"):
                expect(type(head[name]) is int and head[name] > 0, f"{name} should be a whole number")
            widths = _widths(head["widths"])
            split = 3 * 8 * widths[0]
            expect(len(body) == split + 4 * Nets.size(1, widths), "its size should fit its widths")
            floats = np.frombuffer(body[:split], "<f8").astype(np.float64).reshape(3, -1)
            numbers = np.frombuffer(body[split:], "<f4").astype(np.float32)
            expect(np.isfinite(floats).all() and np.isfinite(numbers).all(), "numbers should be finite")
            centre, scale, importance = floats
            expect(np.all(scale > 0) and np.all(importance >= 0), "scales should be above 0")
            net = Nets(1, widths, numbers)
            return MLPModel(BoundedScaling(centre, scale), net, importance, head["steps"], head["asked"])


def _widths(found: object) -> tuple[int, ...]:
    expect(isinstance(found, list) and 2 <= len(found) <= _MOST_WIDTHS, "widths should be a list")
    assert isinstance(found, list)  # noqa: S101 - for mypy: the line above checks it
    expect(all(type(one) is int and 0 < one <= _MOST_WIDTH for one in found), "a width is a whole number")
    expect(found[-1] == 1, "there should be one output")
    return tuple(found)


def _centre_and_scale(column: npt.NDArray[Any]) -> tuple[float, float]:
    known = np.clip(column[~np.isnan(column)], -_LARGEST, _LARGEST, dtype=np.float64)
    if not len(known):
        return 0.0, 1.0
    low, lower, centre, upper, high = np.quantile(known, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return centre, next((scale for scale in (upper - lower, (high - low) / 2) if scale > 0), 1.0)
