"""How a check says that a promise is broken, and what else it may say."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pubench.errors import NotApplicableError, PluginError
from pubench.metrics.label_free import aul_pu_score
from pubench.metrics.theory import auc_from_aul
from pubench.types import BoolVector, FloatVector, Json

#: Sums in float32 are rounded by their order, and with them threads and blocks of rows.
_ROUNDING = 1e-4
#: AUC to be reached where positives lie two and a half standard deviations apart in two features.
_BETTER_THAN_CHANCE = 0.75


@dataclass(frozen=True)
class Remark:
    """What a check has to say although no promise is broken.

    Attributes:
        text: one sentence.
        declined: the plugin can not do this, and said so.
    """

    text: str
    declined: bool = False


def expect(kept: bool, promise: str) -> None:
    """Raise `PluginError` unless the promise is kept."""
    if not kept:
        raise PluginError(promise)


def expect_equal(a: FloatVector, b: FloatVector, promise: str) -> None:
    """Raise `PluginError` unless two vectors are equal, up to the rounding of sums in float32."""
    scale = float(np.abs(a).max(initial=0.0))
    expect(a.shape == b.shape and bool(np.allclose(a, b, rtol=_ROUNDING, atol=_ROUNDING * scale)), promise)


def expect_json(content: Mapping[str, Json], promise: str) -> None:
    """Raise `PluginError` unless `content` holds plain JSON values alone."""
    try:
        json.dumps(dict(content), allow_nan=False)
    except (TypeError, ValueError):
        expect(kept=False, promise=promise)


def area(positive: BoolVector, scores: FloatVector) -> float:
    """Return the AUC: the chance that a positive row scores above another one, ties counted one half."""
    return float(auc_from_aul(aul_pu_score(positive, scores), positive.mean()))


def expect_better_than_chance(positive: BoolVector, scores: FloatVector, where: str) -> None:
    """Raise `PluginError` unless positive rows score clearly above the others; `where` says on which rows."""
    found = area(positive, scores)
    expect(found > _BETTER_THAN_CHANCE, f"{where} the AUC is above {_BETTER_THAN_CHANCE}; it is {found:.3f}.")


def declined(error: NotApplicableError) -> Remark:
    """Return what is said of a plugin that declines a task; raises `PluginError` unless it says why."""
    text = str(error)
    expect(
        len(text.split()) > 2 and text.endswith("."),
        f"Who declines a task says why in a sentence; got {text!r}.",
    )
    return Remark(text, declined=True)
