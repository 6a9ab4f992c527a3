"""How a check says that a promise is broken."""

import numpy as np

from pubench.errors import NotApplicableError, PluginError
from pubench.types import FloatVector

#: Sums in float32 are rounded by their order, and with them threads and blocks of rows.
_ROUNDING = 1e-4


def expect(kept: bool, promise: str) -> None:
    """Raise `PluginError` unless the promise is kept."""
    if not kept:
        raise PluginError(promise)


def expect_equal(a: FloatVector, b: FloatVector, promise: str) -> None:
    """Raise `PluginError` unless two vectors are equal, up to the rounding of sums in float32."""
    scale = float(np.abs(a).max(initial=0.0))
    expect(a.shape == b.shape and bool(np.allclose(a, b, rtol=_ROUNDING, atol=_ROUNDING * scale)), promise)


def expect_sentence(error: NotApplicableError) -> None:
    """Raise `PluginError` unless a plugin that declines a task says why."""
    text = str(error)
    expect(
        len(text.split()) > 2 and text.endswith("."),
        f"Who declines a task says why in a sentence; got {text!r}.",
    )
