"""Resolves the device of a learner: from the user's choice to what this machine has."""

from functools import cache
from threading import Lock
from warnings import catch_warnings

from pubench.api.plugin import Learner
from pubench.errors import ParameterError
from pubench.system.streams import silence
from pubench.types import Device

DEVICES = ("auto", "cpu", "cuda")
#: The streams of the process are redirected while a library tests its GPU: one thread at a time.
_streams_lock = Lock()


def resolve_device(requested: str, learner: Learner | None) -> tuple[Device, str]:
    """Return the device to use and, where "auto" fell back to the CPU, the reason as a sentence; else "".

    Args:
        requested: "cpu", "cuda", or "auto": CUDA if the learner can use it here, else the CPU.
        learner: that computes; None: a method without one, which runs on the CPU.

    Raises:
        ParameterError: CUDA is requested and not available; the message gives the reason.
    """
    if requested not in DEVICES:
        raise ParameterError(f"'device' is one of {', '.join(DEVICES)}; got {requested!r}.")
    if requested == "cpu":
        return "cpu", ""
    owner = "A method without a learner" if learner is None else f"Learner '{learner.name}'"
    problem = "runs on the CPU only" if learner is None else _cuda_problem(type(learner))
    if problem is None:
        return "cuda", ""
    reason = f"{owner} cannot use CUDA here ({problem})"
    if requested == "cuda":
        raise ParameterError(f"{reason}; choose the device 'cpu' or 'auto'.")
    return "cpu", f"{reason} and ran on the CPU."


def _cuda_problem(learner: type[Learner]) -> str | None:
    with _streams_lock:
        return _cached_cuda_problem(learner)


@cache
def _cached_cuda_problem(learner: type[Learner]) -> str | None:
    """Test a learner once per process: the test costs a training."""
    if not learner.supports_cuda:
        return "runs on the CPU only"
    with silence(), catch_warnings(action="ignore"):
        return learner.cuda_problem()
