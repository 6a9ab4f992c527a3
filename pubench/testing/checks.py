"""What the checks of all kinds of plugins share: expectations and remarks, and the checks that every plugin has to pass.

An expectation raises `PluginError` with the promise that is broken. Every plugin documents its parameters, keeps no data in
instances, does not reach for the truth, and is light to import.
"""

import ast
import inspect
import json
import os
import random  # noqa: TID251 - its state is compared, nothing is drawn
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from pubench.api.plugin import Plugin
from pubench.api.spaces import Choice, Dimension, Value, check_space
from pubench.errors import NotApplicableError, PluginError
from pubench.metrics.aul import aul_pu_score
from pubench.metrics.prior_corrected import auc_from_aul
from pubench.neighbors.k_choice import KChoice
from pubench.types import BoolVector, FloatVector, Json, Resources

#: Sums in float32 are rounded by their order, and with them threads and blocks of rows.
_ROUNDING = 1e-4
#: AUC to be reached where positives lie two and a half standard deviations apart in two features.
_BETTER_THAN_CHANCE = 0.75
_TWO = Resources(n_threads=2)
#: Where true labels come from, and the public names that lead there.
_TRUTH_MODULES = {"pubench.truth", "pubench.metrics.supervised"}
_TRUTH_NAMES = {"Truth", "Dataset", "PUView", "draw_view", "auc", "aul_pn_score"}
#: Libraries that take a noticeable time to import.
_HEAVY = {
    *("catboost", "faiss", "jax", "keras", "lightgbm", "matplotlib", "numba", "optax", "optuna", "pandas"),
    *("polars", "pyarrow", "scipy", "seaborn", "sklearn", "statsmodels", "tensorflow", "torch", "xgboost"),
}


@dataclass(frozen=True)
class Remark:
    """The remark of a check when no promise is broken.

    Attributes:
        text: one sentence.
        declined: the plugin declined the task.
    """

    text: str
    declined: bool = False


Subject = TypeVar("Subject")
#: Raises `PluginError` with the promise that is broken, and lets through whatever the plugin itself raises.
Check: TypeAlias = Callable[[Subject], Remark | None]


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


def expect_k_choice(choice: object) -> None:
    """Raise `PluginError` unless `choice` is what `k_choice` may be."""
    expect(choice is None or isinstance(choice, KChoice), "`k_choice` is None or a `KChoice`.")


def area(positive: BoolVector, scores: FloatVector) -> float:
    """Return the AUC: the chance that a positive row scores above another one, ties counted one half."""
    return float(auc_from_aul(aul_pu_score(positive, scores), positive.mean()))


def expect_better_than_chance(positive: BoolVector, scores: FloatVector, where: str) -> None:
    """Raise `PluginError` unless positive rows score clearly above the others; `where` says on which rows."""
    found = area(positive, scores)
    expect(found > _BETTER_THAN_CHANCE, f"{where} the AUC is above {_BETTER_THAN_CHANCE}; it is {found:.3f}.")


def declined(error: NotApplicableError) -> Remark:
    """Return the remark on a plugin that declines a task; raises `PluginError` unless it gives a reason."""
    text = str(error)
    expect(
        len(text.split()) > 2 and text.endswith("."),
        f"A plugin that declines a task says why in a sentence; got {text!r}.",
    )
    return Remark(text, declined=True)


class CancelledError(Exception):
    """Raised to end the work."""


def expect_progress(work: Callable[[Resources], object], what: str) -> Remark | None:
    """Raise `PluginError` unless the progress of `work` rises within [0, 1] and does not catch what it raises.

    Args:
        work: does the work; called twice.
        what: the name of the work in messages.

    Returns:
        A remark if no progress is reported.
    """
    shares: list[float] = []
    work(replace(_TWO, progress=shares.append))
    expect(all(0 <= share <= 1 for share in shares), f"Progress of {what} lies in [0, 1].")
    expect(shares == sorted(shares), f"Progress of {what} never goes back.")
    if not shares:
        return Remark(f"It reports no progress of {what}, so it cannot be cancelled.")
    try:
        work(replace(_TWO, progress=_stop))
    except CancelledError:
        return None
    expect(kept=False, promise=f"What `progress` raises ends {what} and goes through.")
    return None


def _stop(share: float) -> None:
    raise CancelledError(f"at {share}")


@contextmanager
def expect_untouched() -> Iterator[None]:
    """Raise `PluginError` if the code inside changes random state, environment, folder or error handling of the process.

    Run the same code once before: a library may set its own variables when it is first imported.
    """
    before = _process_state()
    yield
    for name, state in _process_state().items():
        expect(
            state == before[name],
            f"{name} stays as it was; draw from `seed.generator()` alone, and clean up.",
        )


def _process_state() -> dict[str, object]:
    numpy_state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002, TID251 - compared, nothing is drawn
    return {
        "NumPy's global random state": (numpy_state["key"].tobytes(), numpy_state["pos"]),
        "The global state of `random`": random.getstate(),
        "The environment": dict(os.environ),
        "The working folder": Path.cwd(),
        "NumPy's treatment of errors": np.geterr(),
    }


class Tested(Protocol):
    """Anything with the plugin that is checked."""

    @property
    def plugin(self) -> Plugin:
        """The plugin."""


def check_parameters(subject: Tested) -> None:
    """Every parameter has a help text, and its default lies in its range."""
    space = subject.plugin.space
    check_space(space)
    for name, dimension in space.items():
        expect(bool(dimension.help.strip()), f"The parameter '{name}' has a help text.")
        expect(dimension.contains(dimension.default), f"The default of '{name}' lies in its range.")


def check_configuration(subject: Tested) -> None:
    """Parameters go through JSON and come back as an equal plugin, so that another process can make the same."""
    plugin = subject.plugin
    expect_json(plugin.params, "Parameters are plain JSON values.")
    again = type(plugin)(**json.loads(json.dumps(dict(plugin.stated))))
    expect(again == plugin, "A plugin that is made of the same parameters is equal to the first.")
    expect(hash(again) == hash(plugin), "Equal plugins have equal hashes.")


def check_imports(subject: Tested) -> Remark | None:
    """Its module imports no heavy library at the top."""
    sources = list(_sources(type(subject.plugin)))
    for path, tree in sources:
        heavy = sorted(_HEAVY & {name.partition(".")[0] for name in _imported(tree.body)})
        expect(
            not heavy,
            f"Heavy libraries are imported inside methods, so that listing plugins is instant; {path.name} imports "
            f"{', '.join(heavy)} at the top.",
        )
    return None if sources else Remark("Its source cannot be read.")


def check_blindness(subject: Tested) -> Remark | None:
    """It sees features and PU labels: its module does not import true labels, nor metrics that need them."""
    sources = list(_sources(type(subject.plugin)))
    for path, tree in sources:
        nodes = list(ast.walk(tree))
        seen = {name for name in _imported(nodes) if _leads_to_truth(name)}
        seen |= {
            f"pubench.{node.attr}"
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "pubench"
            and node.attr in _TRUTH_NAMES
        }
        expect(not seen, f"A plugin cannot see true labels; {path.name} imports {', '.join(sorted(seen))}.")
    return None if sources else Remark("Its source cannot be read.")


#: What every kind promises.
PLUGIN_CHECKS: Mapping[str, Check[Tested]] = {
    "parameters": check_parameters,
    "configuration": check_configuration,
    "imports": check_imports,
}
#: The same, and what all promise but data sets, which carry truth.
BLIND_CHECKS: Mapping[str, Check[Tested]] = {**PLUGIN_CHECKS, "blindness": check_blindness}


def expect_no_data(plugin: Plugin) -> None:
    """Raise `PluginError` if a plugin that was used holds more than a new one."""
    new = type(plugin)(**plugin.stated)
    more = sorted(set(vars(plugin)) - set(vars(new)))
    expect(
        not more and plugin == new,
        "Instances hold parameters, never data: what was learned is in the returned object; found "
        f"{', '.join(more) or 'other parameters'}.",
    )


def extremes(space: Mapping[str, Dimension]) -> Iterator[dict[str, Value]]:
    """Yield settings with one parameter at an end of its range, or at one of its values, and what that depends on."""
    for name, dimension in space.items():
        values = dimension.values if isinstance(dimension, Choice) else (dimension.low, dimension.high)
        for value in values:
            yield {**_needed(space, name), name: value}


def _needed(space: Mapping[str, Dimension], name: str) -> dict[str, Value]:
    when = space[name].when
    return {} if when is None else {**_needed(space, when[0]), when[0]: when[1]}


def _sources(plugin: type[Plugin]) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the files that define a plugin and its own base classes, without those of pubench itself."""
    for cls in plugin.__mro__:
        if cls is object or cls.__module__.partition(".")[0] in {"abc", "pubench"}:
            continue
        try:
            path = Path(inspect.getsourcefile(cls) or "")
            yield path, ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, TypeError, ValueError):
            continue


def _imported(nodes: list[ast.stmt] | list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _leads_to_truth(name: str) -> bool:
    module, _, last = name.rpartition(".")
    return (
        name in _TRUTH_MODULES or module in _TRUTH_MODULES or (module == "pubench" and last in _TRUTH_NAMES)
    )
