"""nnPU: its risk on batches worked out by hand, its training, and its files."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.api.method import Parts
from pubench.errors import DataError, NotApplicableError
from pubench.metrics.supervised import auc
from pubench.seeds import Seed
from pubench.types import PUData, Resources, Table
from pubench_plugins.methods import nnpu_training
from pubench_plugins.methods.nnpu import NNPU, FittedNNPU
from pubench_plugins.methods.nnpu_nets import ARCHITECTURES, Net, NetLayer
from pubench_plugins.methods.nnpu_risk import RiskName, RiskTerms, pu_risk, sigmoid_loss, step_objective
from pubench_plugins.methods.nnpu_training import NetTraining, batches, train_net

ONE, TWO = Resources(n_threads=1), Resources(n_threads=2)
NETS = tuple(ARCHITECTURES)
#: Outputs whose losses are round numbers: l(log 3) = 1/4, l(0) = 1/2, l(-log 3) = 3/4, l(log 9) = 1/10.
HIGH, LOW, HIGHER = np.log(3), -np.log(3), np.log(9)
#: Small batches and large steps: enough of them in seconds.
QUICK: dict[str, Any] = {"prior_from": "given", "prior": 0.02, "batch": 256, "learning_rate": 0.01}
#: At one positive in a hundred 3lp calls all rows negative for some hundred steps before it finds out.
EPOCHS = {"linear": 4, "3lp": 40, "mlp": 4}

WITHOUT_JAX = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jax", "jaxlib", "optax"):
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
import numpy as np
from pathlib import Path
from pubench import NotApplicableError, Parts, PUData, Resources, Seed, Table
from pubench.api.registry import load_registry

folder = Path(sys.argv[1])
method = load_registry().find("nnpu").plugin()
X = Table.from_array(np.load(folder / "rows.npy"))
np.save(folder / "found.npy", method.load(folder / "model", Parts()).score(X, Resources()).values)
try:
    method.fit(PUData(X, np.arange(X.n_rows) < 9), Parts(), Seed(0), Resources())
except NotApplicableError as error:
    print(error)
"""


def draw(rows: int = 6000, seed: int = 1) -> tuple[PUData, npt.NDArray[np.bool_]]:
    """Two in a hundred rows are positive and far off, half of them labelled: pi is .01 among the unlabeled."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, 6)).astype(np.float32)
    y = np.arange(rows) % 50 == 0
    X[y, :3] += 3.0
    return PUData(Table.from_array(X), np.arange(rows) % 100 == 0), y


def fit(data: PUData, resources: Resources = ONE, seed: int = 0, **params: Any) -> FittedNNPU:
    chosen = QUICK | {"epochs": EPOCHS.get(str(params.get("net")), 4)} | params
    return NNPU(**chosen).fit(data, Parts(), Seed(seed), resources)


@cache
def fitted(net: str) -> FittedNNPU:
    return fit(draw()[0], net=net)


def risk_of(name: RiskName, positive: list[float], unlabeled: list[float], prior: float) -> RiskTerms:
    return pu_risk(name, np.array(positive), np.array(unlabeled), prior, np)


@given(st.floats(-1e6, 1e6))
def test_the_loss_is_that_of_the_sigmoid(z: float) -> None:
    loss = float(sigmoid_loss(np.float64(z), np))
    assert 0 <= loss <= 1
    assert loss + float(sigmoid_loss(np.float64(-z), np)) == pytest.approx(1)
    if abs(z) < 30:
        assert loss == pytest.approx(1 / (1 + np.exp(z)))


def test_a_batch_above_zero_by_hand() -> None:
    # mean_P l(g) = (1/4 + 1/2) / 2 = 3/8, mean_P l(-g) = 5/8, mean_U l(-g) = (1/4 + 1/2 + 3/4) / 3 = 1/2.
    risk = risk_of("nnpu", [HIGH, 0.0], [LOW, 0.0, HIGH], 0.4)
    assert risk.positive == pytest.approx(0.4 * 3 / 8)
    assert risk.negative == pytest.approx(1 / 2 - 0.4 * 5 / 8)
    assert step_objective(risk, 0.0, 1.0, np) == pytest.approx(0.15 + 0.25)


def test_a_batch_below_zero_by_hand() -> None:
    # mean_P l(-g) = 9/10, mean_U l(-g) = 1/10: R- = .1 - .5 * .9 = -.35.
    risk = risk_of("nnpu", [HIGHER], [-HIGHER, -HIGHER], 0.5)
    assert risk.negative == pytest.approx(-0.35)
    assert step_objective(risk, 0.0, 1.0, np) == pytest.approx(0.35)
    assert step_objective(risk, 0.0, 0.5, np) == pytest.approx(0.175)
    assert step_objective(risk, 0.4, 1.0, np) == pytest.approx(0.5 * 0.1 - 0.35)  # -beta is not passed yet


def test_the_imbalanced_risk_by_hand() -> None:
    risk = risk_of("imbalanced", [HIGH, 0.0], [LOW, 0.0, HIGH], 0.4)
    assert risk.positive == pytest.approx(3 / 16)
    assert risk.negative == pytest.approx((1 / 2 - 0.4 * 5 / 8) / (2 * 0.6))


@pytest.mark.parametrize("name", ["nnpu", "imbalanced"])
def test_the_gradient_follows_both_risks_above_and_climbs_the_negatives_alone_below(name: RiskName) -> None:
    def part(pick: Callable[[RiskTerms], Any]) -> Any:
        return jax.grad(lambda p, u, prior: pick(pu_risk(name, p, u, prior, jnp)), argnums=(0, 1))

    objective = part(lambda risk: step_objective(risk, 0.0, 1.0, jnp))
    total, negative = part(lambda risk: risk.positive + risk.negative), part(lambda risk: risk.negative)
    above = (jnp.array([HIGH, 0.0]), jnp.array([LOW, 0.0, HIGH]), 0.4)
    below = (jnp.array([HIGHER]), jnp.array([-HIGHER, -HIGHER]), 0.5)
    for found, expected in zip(objective(*above), total(*above), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    for found, expected in zip(objective(*below), negative(*below), strict=True):
        np.testing.assert_allclose(found, -expected, rtol=1e-6)
    on_labelled, on_unlabeled = objective(*above)
    assert (on_labelled < 0).all()  # a step down raises the outputs of labelled rows
    assert (on_unlabeled > 0).all()  # and lowers those of the others
    on_labelled, on_unlabeled = objective(*below)
    assert (on_labelled > 0).all()  # below zero it goes back
    assert (on_unlabeled < 0).all()


@given(st.integers(1, 40), st.integers(1, 400), st.integers(16, 200))
def test_every_batch_has_its_share_and_every_epoch_all_rows(labelled: int, unlabeled: int, size: int) -> None:
    s = np.arange(labelled + unlabeled) < labelled
    drawn = batches(s, size, Seed(3))
    count = -(-len(s) // size)
    for _ in range(2):
        epoch = [next(drawn) for _ in range(count)]
        assert {(len(p), len(u)) for p, u in epoch} == {(-(-labelled // count), -(-unlabeled // count))}
        assert set(np.concatenate([p for p, _ in epoch])) == set(range(labelled))
        assert set(np.concatenate([u for _, u in epoch])) == set(range(labelled, len(s)))


@pytest.mark.parametrize(("rows", "steps"), [(60_000, 200), (284_807, 1000), (1_365_550, 1000)])
def test_the_papers_public_sets_get_all_their_epochs(rows: int, steps: int) -> None:
    assert NNPU().descent.n_steps(np.zeros(rows, dtype=bool)) == steps


@pytest.mark.parametrize("risk", ["nnpu", "imbalanced"])
@pytest.mark.parametrize("net", NETS)
def test_every_net_finds_one_positive_in_a_hundred(net: str, risk: str) -> None:
    fresh, y = draw(seed=2)
    model = fitted(net) if risk == "nnpu" else fit(draw()[0], net=net, risk=risk)
    assert model.chosen["prior_in_unlabeled"] == pytest.approx(0.0101, rel=0.01)
    assert auc(y, model.score(fresh.X, ONE).values) > 0.9


def test_the_penalty_is_a_part_of_the_gradient() -> None:
    # Adam's first step goes by its rate along the gradient's sign. A penalty that outweighs the risk moves all weights
    # alike towards 0; decoupled, it would move each in proportion to its size.
    data, _ = draw(500)
    rate = 1e-3
    after = [
        train_net(
            ARCHITECTURES["linear"], data.X.values, data.s, 0.01,
            NetTraining(learning_rate=rate, decay=1e4, steps=steps), Seed(0), ONE,
        ).layers[0].weight
        for steps in (1, 2)
    ]  # fmt: skip
    np.testing.assert_allclose(np.abs(after[0]) - np.abs(after[1]), rate, rtol=0.02)


@pytest.mark.parametrize("net", NETS)
def test_numpy_puts_out_what_jax_does(net: str) -> None:
    data, _ = draw(700)
    weights, running = nnpu_training._first(ARCHITECTURES[net], 6, Seed(4))
    start, advance = nnpu_training._compiled(NetTraining())
    kinds = [np.tile(np.flatnonzero(kind), (3, 1)) for kind in (data.s, ~data.s)]
    state = (weights, running, start(weights))
    weights, running, _ = advance(state, data.X.values, *kinds, np.float32(0.01))
    values, figures = jnp.asarray(data.X.values), iter(running)
    for layer in weights[:-1]:
        values = values @ layer["weight"]
        if "gain" in layer:
            known = next(figures)
            values = (values - known["mean"]) / jnp.sqrt(known["var"] + 2e-5) * layer["gain"]
        values = jax.nn.relu(values + layer["bias"])
    expected = (values @ weights[-1]["weight"] + weights[-1]["bias"])[:, 0]
    found = nnpu_training._folded(weights, running).outputs(data.X.values, ONE)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_batch_normalisation_gives_hidden_units_mean_0_and_variance_1() -> None:
    data, _ = draw(700)
    weights, running = nnpu_training._first(ARCHITECTURES["mlp"], 6, Seed(4))
    assert len(running) == 4
    _, figures = nnpu_training.forward(weights[:1] + weights[-1:], data.X.values)
    hidden = data.X.values @ weights[0]["weight"]
    np.testing.assert_allclose(figures[0]["mean"], hidden.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(figures[0]["var"], hidden.var(axis=0, ddof=1), rtol=1e-4)


def test_steps_taken_in_several_calls_are_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = draw(500)

    def train() -> Any:
        descent = NetTraining(batch=100, steps=13)
        return train_net(ARCHITECTURES["3lp"], data.X.values, data.s, 0.01, descent, Seed(0), ONE)

    weights = [layer.weight for layer in train().layers]
    monkeypatch.setattr(nnpu_training, "_STEPS", 4)
    for found, expected in zip(train().layers, weights, strict=True):
        np.testing.assert_allclose(found.weight, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("net", NETS)
def test_seeds_decide_and_threads_do_not(net: str) -> None:
    data, _ = draw()
    scores = fitted(net).score(data.X, ONE).values
    np.testing.assert_array_equal(fit(data, TWO, net=net).score(data.X, TWO).values, scores)
    assert not np.array_equal(fit(data, net=net, seed=1).score(data.X, ONE).values, scores)


def test_the_best_net_is_that_of_the_highest_held_out_aul() -> None:
    chosen = fit(draw()[0], net="best").chosen
    reached: Any = chosen["aul_pu_held_out"]
    assert set(reached) == set(NETS)
    assert chosen["net"] == max(reached, key=reached.get)
    assert reached[chosen["net"]] > 0.9
    assert chosen["prior_source"] == "The share of positives was given."


def test_one_labelled_row_can_not_choose_a_net() -> None:
    data, _ = draw(300)
    alone = PUData(data.X, np.arange(300) == 0)
    with pytest.raises(NotApplicableError, match="Name a net"):
        fit(alone)
    assert np.isfinite(fit(alone, net="linear").score(data.X, ONE).values).all()


def test_a_training_that_diverges_says_so() -> None:
    data, _ = draw(300)
    with pytest.raises(NotApplicableError, match="diverged on this data; choose a lower learning_rate"):
        train_net(
            ARCHITECTURES["3lp"],
            data.X.values,
            data.s,
            0.01,
            NetTraining(learning_rate=1e38, steps=9),
            Seed(0),
            ONE,
        )


def test_progress_ends_the_work() -> None:
    def stop(share: float) -> None:
        raise InterruptedError(str(share))

    with pytest.raises(InterruptedError):
        fit(draw()[0], Resources(progress=stop), net="linear")


@pytest.mark.skipif(any(device.platform == "gpu" for device in jax.devices()), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_declined() -> None:
    with pytest.raises(NotApplicableError, match="JAX sees no cuda device here; use the device cpu"):
        fit(draw(300)[0], Resources(device="cuda"), net="linear")


def test_a_score_is_that_of_the_row_alone() -> None:
    data, _ = draw(2500)
    scores = fitted("mlp").score(data.X, TWO).values
    for rows in (np.arange(2500)[::-1], np.arange(0, 2500, 7), np.array([1234])):
        np.testing.assert_array_equal(fitted("mlp").score(data.X.take(rows), ONE).values, scores[rows])


@pytest.mark.parametrize("net", NETS)
def test_a_saved_model_scores_the_same(net: str, tmp_path: Path) -> None:
    data, _ = draw()
    fitted(net).save(tmp_path)
    loaded = NNPU().load(tmp_path, Parts())
    np.testing.assert_array_equal(loaded.score(data.X, ONE).values, fitted(net).score(data.X, ONE).values)
    assert loaded.chosen == fitted(net).chosen


def test_without_jax_a_saved_model_scores_and_training_says_what_to_install(tmp_path: Path) -> None:
    data, _ = draw(500)
    (tmp_path / "model").mkdir()
    fitted("mlp").save(tmp_path / "model")
    np.save(tmp_path / "rows.npy", data.X.values)
    command = [sys.executable, "-W", "error", "-c", WITHOUT_JAX, str(tmp_path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout == "The method nnpu needs JAX: pip install 'pubench[nn]'.\n"
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), fitted("mlp").score(data.X, ONE).values)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("form", "x"), ("widths", [6]), ("widths", [6, 100, 2]), ("widths", [6, 10**9, 1]), ("widths", "6"),
        ("widths", [6, 99, 1]), ("widths", [True, 100, 1]), ("decided", []), ("embedding", {}),
    ],
)  # fmt: skip
def test_a_damaged_description_is_refused(key: str, value: object, tmp_path: Path) -> None:
    fitted("3lp").save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DataError, match=r"^.*\.$"):
        NNPU().load(tmp_path, Parts())


def claims_too_much(path: Path) -> None:
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (10**15,)}
        )


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-4]),
        lambda path: np.save(path, np.full(801, np.nan, dtype=np.float32)),
        lambda path: np.save(path, np.zeros(801)),
        lambda path: np.save(path, np.array([{}] * 801), allow_pickle=True),
        lambda path: path.write_bytes(b"PK\x03\x04" + path.read_bytes()),
        claims_too_much,
    ],
    ids=["missing", "empty", "short", "nan", "float64", "pickle", "zip", "huge"],
)
def test_a_damaged_net_is_refused(spoil: Callable[[Path], object], tmp_path: Path) -> None:
    fitted("3lp").save(tmp_path)
    spoil(tmp_path / "net.npy")
    with pytest.raises(DataError, match=r"net\.npy"):
        NNPU().load(tmp_path, Parts())


def test_a_net_that_does_not_fit_its_features_is_refused(tmp_path: Path) -> None:
    fitted("linear").save(tmp_path)
    Net((NetLayer(np.ones((7, 1), np.float32), np.ones(1, np.float32)),)).save(tmp_path / "net.npy")
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"widths": [7, 1]}))
    with pytest.raises(DataError, match="the net should take what the embedding gives"):
        NNPU().load(tmp_path, Parts())
