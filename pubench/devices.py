"""Where a learner computes: from what a person asks for to what this machine has."""

from functools import cache
from threading import Lock
from warnings import catch_warnings

from pubench.errors import ParameterError
from pubench.plugin_api import Learner
from pubench.streams import silence
from pubench.types import Device

DEVICES = ("auto", "cpu", "cuda")
#: The process's own streams are turned away while a library tries its GPU; two threads at once would mix them up.
_asking = Lock()


def resolve_device(wanted: str, learner: Learner | None) -> tuple[Device, str]:
    """Return the device to use and, where "auto" had to be content with the CPU, why, as a sentence; else "".

    Args:
        wanted: "cpu", "cuda", or "auto": CUDA if the learner can use it here, else the CPU.
        learner: what computes; None: a method that does without, which is a matter of the CPU.

    Raises:
        ParameterError: CUDA is asked for and can not be had; the message says why.
    """
    if wanted not in DEVICES:
        raise ParameterError(f"'device' is one of {', '.join(DEVICES)}; got {wanted!r}.")
    if wanted == "cpu":
        return "cpu", ""
    owner = "A method without a learner" if learner is None else f"Learner '{learner.name}'"
    problem = "runs on the CPU only" if learner is None else _cuda_problem(type(learner))
    if problem is None:
        return "cuda", ""
    reason = f"{owner} can not use CUDA here ({problem})"
    if wanted == "cuda":
        raise ParameterError(f"{reason}; choose the device 'cpu' or 'auto'.")
    return "cpu", f"{reason} and ran on the CPU."


def _cuda_problem(learner: type[Learner]) -> str | None:
    with _asking:
        return _answer(learner)


@cache
def _answer(learner: type[Learner]) -> str | None:
    """Ask a learner once: the answer costs a training, and does not change while a process lives."""
    if not learner.supports_cuda:
        return "runs on the CPU only"
    with silence(), catch_warnings(action="ignore"):
        return learner.cuda_problem()
