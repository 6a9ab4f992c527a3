"""Which device a learner uses."""

from pathlib import Path
from typing import NoReturn

import pytest

from pubench.api.devices import resolve_device
from pubench.api.plugin import Learner, Prepared
from pubench.errors import ParameterError
from pubench.seeds import Seed
from pubench.types import Resources, Table, Tags


class OnCPU(Learner):
    """Knows no GPU; it is asked for devices only."""

    name = "on-cpu"
    suffix = ".none"

    def prepare(self, X: Table, resources: Resources) -> NoReturn:
        raise NotImplementedError

    def train(self, prepared: Prepared, tags: Tags, seed: Seed, resources: Resources) -> NoReturn:
        raise NotImplementedError

    @classmethod
    def load(cls, path: Path) -> NoReturn:
        raise NotImplementedError


class OnCuda(OnCPU):
    """Has a GPU."""

    name = "on-cuda"
    supports_cuda = True

    @classmethod
    def cuda_problem(cls) -> str | None:
        print("found a GPU")
        return None


class NoDriver(OnCuda):
    """Would use a GPU, and counts how often it is asked."""

    name = "no-driver"
    asked = 0

    @classmethod
    def cuda_problem(cls) -> str:
        NoDriver.asked += 1
        return "no driver"


@pytest.mark.parametrize("learner", [OnCPU(), OnCuda(), NoDriver(), None])
def test_the_cpu_is_always_there(learner: Learner | None) -> None:
    assert resolve_device("cpu", learner) == ("cpu", "")


@pytest.mark.parametrize("requested", ["auto", "cuda"])
def test_cuda_is_used_where_it_can_be(requested: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert resolve_device(requested, OnCuda()) == ("cuda", "")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("learner", "why"),
    [(OnCPU(), "runs on the CPU only"), (NoDriver(), "no driver"), (None, "runs on the CPU only")],
)
def test_auto_says_why_it_fell_back_and_cuda_refuses(learner: Learner | None, why: str) -> None:
    device, sentence = resolve_device("auto", learner)
    assert device == "cpu"
    assert why in sentence
    with pytest.raises(ParameterError, match=why):
        resolve_device("cuda", learner)


def test_a_learner_is_asked_once() -> None:
    for _ in range(3):
        resolve_device("auto", NoDriver())
    assert NoDriver.asked == 1


def test_another_device_is_refused() -> None:
    with pytest.raises(ParameterError, match="auto, cpu, cuda; got 'tpu'"):
        resolve_device("tpu", OnCPU())
