"""Nets: taggings at one go, batches of rare positives, intercepts, deadlines, and files that lie."""

import json
import time
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.types import Resources, Table, Tags
from pubench_plugins.learners.mlp import MLP, BoundedScaling, MLPModel
from pubench_plugins.learners.mlp_batches import Batches, Classes
from pubench_plugins.learners.mlp_nets import Nets
from pubench_plugins.learners.mlp_training import Passes

ONE = Resources(n_threads=1)
SMALL: dict[str, Any] = {"steps": 120, "batch": 64, "width": 16}


def draw(rows: int = 600) -> tuple[Table, np.ndarray]:
    generator = np.random.default_rng(2)
    values = generator.standard_normal((rows, 5))
    return Table.from_array(values), values[:, 0] + generator.standard_normal(rows) > 1.5


def taggings(target: np.ndarray) -> list[Tags]:
    """Hard, soft and weighted ones, and one that turns the classes."""
    return [
        Tags(target.astype(float)),
        Tags(np.where(target, 0.8, 0.05)),
        Tags(target.astype(float), np.where(np.arange(len(target)) % 3 == 0, 0.0, 2.0)),
        Tags((~target).astype(float)),
    ]


def trained(learner: MLP, X: Table, tags: Tags, seed: int = 0, resources: Resources = ONE) -> MLPModel:
    return learner.train(learner.prepare(X, ONE), tags, Seed(seed), resources)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_members_at_one_go_equal_members_trained_alone(depth: int, dropout: float) -> None:
    X, target = draw()
    learner = MLP(**SMALL, depth=depth, dropout=dropout)
    prepared, seeds = learner.prepare(X, ONE), [Seed(number) for number in range(4)]
    together = learner.train_many(prepared, taggings(target), seeds, ONE)
    for model, tags, seed in zip(together, taggings(target), seeds, strict=True):
        alone = learner.train(prepared, tags, seed, ONE)
        np.testing.assert_allclose(model.predict(X, ONE), alone.predict(X, ONE), rtol=1e-3, atol=1e-5)


def test_members_of_other_seeds_differ() -> None:
    X, target = draw()
    tags = Tags(target.astype(float))
    one, other = (trained(MLP(**SMALL), X, tags, seed).predict(X, ONE) for seed in (0, 1))
    assert not np.allclose(one, other)


def test_a_row_is_drawn_in_proportion_to_its_weight() -> None:
    weight = np.array([0.0, 1.0, 2.0, 5.0, 0.5])
    classes = Classes.of(Tags(np.array([0, 1, 1, 1, 0.0]), weight))
    drawn = np.concatenate(list(islice(classes.positive.draws(80, Seed(0)), 100)))
    np.testing.assert_allclose(np.bincount(drawn, minlength=5) / 8000, [0, 1 / 8, 2 / 8, 5 / 8, 0], atol=0.01)
    assert set(next(classes.negative.draws(10, Seed(0)))) == {4}


def test_equal_rows_are_drawn_once_before_any_is_drawn_again() -> None:
    classes = Classes.of(Tags((np.arange(5000) < 7).astype(float)))
    assert sorted(next(classes.positive.draws(14, Seed(0)))[:7]) == list(range(7))
    assert len(set(next(classes.negative.draws(4993, Seed(0))))) == 4993


@pytest.mark.parametrize("share", [0.001, 0.3, 0.999])
def test_weights_of_a_batch_keep_the_expectation(share: float) -> None:
    """The classes weigh in a batch as in all rows; the rarer one is a quarter of the rows and has weight 1."""
    classes = Classes.of(Tags((np.arange(10_000) < share * 10_000).astype(float)))
    batches = Batches([classes], 64, [Seed(0)])
    target, weight = batches.target.ravel() == 1, batches.weight.ravel()
    masses = [weight[target].sum(), weight[~target].sum()]
    assert min(masses) == pytest.approx(1)
    assert masses[0] / sum(masses) == pytest.approx(share, rel=1e-5)
    assert min(target.sum(), (~target).sum()) >= 16
    rows = batches.rows()
    np.testing.assert_array_equal((rows < share * 10_000)[:, 0], np.tile(target, (len(rows), 1)))


@pytest.mark.parametrize("depth", [1, 3])
def test_gradients_are_those_of_the_loss(depth: int) -> None:
    X, target = draw(50)
    values = X.values.astype(np.float32)
    nets = Nets.zeros(2, (5, *(4,) * depth, 1))
    nets.numbers[:] = np.random.default_rng(0).standard_normal(len(nets.numbers))
    seeds = [Seed(0), Seed(1)]
    batches = Batches([Classes.of(tags) for tags in taggings(target)[:2]], 16, seeds)
    rows = batches.rows()[0]
    passes = Passes(nets, batches, 0.0, seeds)
    passes.run(values, rows)

    def loss(numbers: np.ndarray) -> float:
        wide = Nets(nets.count, nets.widths, numbers)
        odds = np.stack([wide.log_odds(values[rows[number]].astype(float), number) for number in range(2)])
        positive = batches.target[:, :, 0] == 1
        return float((batches.weight[:, :, 0] * np.logaddexp(0, np.where(positive, -odds, odds))).sum())

    start, step = nets.numbers.astype(np.float64), 1e-6
    for place in range(len(start)):
        shift = np.zeros(len(start))
        shift[place] = step
        slope = (loss(start + shift) - loss(start - shift)) / (2 * step)
        assert passes.gradient.numbers[place] == pytest.approx(slope, rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("number", range(4))
def test_the_mean_probability_is_the_share_of_positives(number: int) -> None:
    X, target = draw()
    tags = taggings(target)[number]
    weight = np.ones(len(target)) if tags.weight is None else tags.weight
    found = trained(MLP(**SMALL), X, tags).predict(X, ONE)
    assert np.average(found, weights=weight) == pytest.approx(
        np.average(tags.positive, weights=weight), rel=1e-3
    )


def test_what_the_deadline_stopped_can_be_trained_again() -> None:
    X, target = draw()
    tags = Tags(target.astype(float))
    late = trained(MLP(**SMALL), X, tags, resources=Resources(until=time.monotonic() - 1))
    assert late.decided == {"steps": 50}
    again = trained(MLP(**{**SMALL, **late.decided}), X, tags)
    assert again.decided == {}
    np.testing.assert_array_equal(again.predict(X, ONE), late.predict(X, ONE))


def test_far_values_keep_the_others_apart() -> None:
    """Scaled values are bounded, and finite where numbers are too large to be squared."""
    column = np.array([[-1e308], [0.0], [1.0], [1e308], [np.nan]])
    scaled = BoundedScaling.of(column).apply(column)
    assert np.isfinite(scaled).all()
    assert np.abs(scaled).max() <= 3
    assert scaled[4, 0] == pytest.approx(0, abs=1e-6)


def rewritten(path: Path, head: dict[str, Any], body: bytes) -> None:
    """Write a file whose checksum fits."""
    path.write_bytes(json.dumps({**head, "checksum": zlib.crc32(body)}).encode() + b"\n" + body)


@pytest.mark.parametrize(
    "change",
    [
        {"form": "pubench forest 1"},
        {"widths": [5, 16, 1]},
        {"widths": [5, 16, 16, 2]},
        {"widths": [5, -16, -16, 1]},
        {"widths": [10**9, 10**9, 1]},
        {"widths": []},
        {"widths": "wide"},
        {"steps": 0},
        {"asked": 1.5},
    ],
)
def test_a_head_that_lies_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    X, target = draw()
    path = tmp_path / "model.net"
    trained(MLP(**SMALL), X, Tags(target.astype(float))).save(path)
    line, _, body = path.read_bytes().partition(b"\n")
    rewritten(path, {**json.loads(line), **change}, body)
    with pytest.raises(DataError, match=r"model\.net is not a model of mlp"):
        MLP.load(path)


@pytest.mark.parametrize(("place", "value"), [(0, np.inf), (5, 0.0), (6, -1.0), (11, -1.0), (-1, np.nan)])
def test_numbers_that_lie_are_refused(place: int, value: float, tmp_path: Path) -> None:
    """An infinite mean, scales of 0 and below, a negative importance, and a weight that is no number."""
    X, target = draw()
    path = tmp_path / "model.net"
    trained(MLP(**SMALL), X, Tags(target.astype(float))).save(path)
    line, _, body = path.read_bytes().partition(b"\n")
    if place < 0:
        body = body[:-4] + np.float32(value).tobytes()
    else:
        body = body[: 8 * place] + np.float64(value).tobytes() + body[8 * place + 8 :]
    rewritten(path, json.loads(line), body)
    with pytest.raises(DataError, match=r"model\.net is not a model of mlp"):
        MLP.load(path)


def test_any_damaged_byte_behind_the_head_is_found(tmp_path: Path) -> None:
    X, target = draw()
    path = tmp_path / "model.net"
    trained(MLP(**SMALL), X, Tags(target.astype(float))).save(path)
    content = path.read_bytes()
    for place in np.linspace(content.index(b"\n") + 1, len(content) - 1, 40).astype(int):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DataError, match="damaged"):
            MLP.load(path)
