"""Whether progress is told as promised, and work ends when somebody wants that."""

from collections.abc import Callable
from dataclasses import replace

from pubench.testing.promises import Remark, expect
from pubench.types import Resources

_TWO = Resources(n_threads=2)


class StoppedError(Exception):
    """Raised to end the work."""


def expect_progress(work: Callable[[Resources], object], what: str) -> Remark | None:
    """Raise `PluginError` unless the progress of `work` rises within [0, 1] and what it raises goes through.

    Args:
        work: does the work; called twice.
        what: what messages call it.

    Returns:
        A remark if it tells nothing.
    """
    told: list[float] = []
    work(replace(_TWO, progress=told.append))
    expect(all(0 <= share <= 1 for share in told), f"Progress of {what} lies in [0, 1].")
    expect(told == sorted(told), f"Progress of {what} never goes back.")
    if not told:
        return Remark(f"It tells no progress of {what}, so it can not be cancelled.")
    try:
        work(replace(_TWO, progress=_stop))
    except StoppedError:
        return None
    expect(kept=False, promise=f"What `progress` raises ends {what} and goes through.")
    return None


def _stop(share: float) -> None:
    raise StoppedError(f"at {share}")
