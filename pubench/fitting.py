"""Trains one configuration on all rows of a data set and saves it: what `pubench fit` does.

An edge: it opens data sets, which may carry truth, and finds plugins by name. What trains sees PU data alone.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pubench.data.aliases import find_alias
from pubench.data.sources import Opened, Wanted, aliases_folder, open_dataset
from pubench.data.views import Labelling, draw_view
from pubench.dataset_api import Dataset
from pubench.devices import resolve_device
from pubench.errors import DataError, ParameterError
from pubench.machine import cores
from pubench.method_api import Method
from pubench.plugin_api import Kind
from pubench.registry import Registry
from pubench.saving.blend import configure_all
from pubench.saving.configuration import (
    DEFAULTS,
    KINDS,
    Configuration,
    Ingredient,
    Named,
    parse_setting,
    typed,
)
from pubench.saving.manifest import Manifest
from pubench.saving.models import Trained, check_place, save_model
from pubench.saving.toml import read_toml
from pubench.seeds import Seed
from pubench.types import Device, PUData, Resources

#: The share of positives that is labelled where only truth is known: half, as in the paper's main table.
THETA_O = 0.5


@dataclass(frozen=True)
class Order:
    """What to train, on what, and where to save it.

    Attributes:
        wanted: the data set.
        out: the folder.
        names: plugins by kind; those that are not named come from `config`, else from `DEFAULTS`.
        settings: parameters as texts such as learner.trees=100; they go before those of `config`.
        config: a TOML file; see `pubench.saving.toml`. That of a blend leaves no room for names and settings.
        seed: None: that of `config`, else 0.
        theta_o: the share of positives to label, where only truth is known; None: `THETA_O`.
        device: "auto", "cpu" or "cuda".
        n_threads: None: one per core.
        replace: take the place of a saved model.
    """

    wanted: Wanted
    out: Path
    names: Mapping[Kind, str] = field(default_factory=dict)
    settings: Sequence[str] = ()
    config: Path | None = None
    seed: int | None = None
    theta_o: float | None = None
    device: str = "auto"
    n_threads: int | None = None
    replace: bool = False


@dataclass(frozen=True)
class Fitted:
    """What was trained.

    Attributes:
        manifest: all that is known of the model.
        dataset: what the data set is called.
        device: where it was trained.
        why_cpu: why that is the CPU, where CUDA would have been taken; else empty.
        seconds: how long training took.
        notices: what is worth knowing, a sentence each.
    """

    manifest: Manifest
    dataset: str
    device: Device
    why_cpu: str
    seconds: float
    notices: tuple[str, ...]


def fit_and_save(order: Order, registry: Registry, resources: Resources) -> Fitted:
    """Train and save as ordered; what can be wrong with the order is said before the work.

    Args:
        order: what to do.
        registry: where plugins are found.
        resources: whom to tell of progress, and the cache; threads and device come from the order.

    Raises:
        InputError: one sentence on what is wrong with the order or the data.
        NotApplicableError: the method can not do this data.
    """
    check_place(order.out, replace=order.replace)
    configuration, number = _configuration(order, registry)
    device, reason = _device(order.device, configuration)
    opened = open_dataset(replace(order.wanted, seed=number), registry)
    seed = Seed(number)
    data, said = pu_data(opened.dataset, order.theta_o, seed)
    resources = replace(resources, device=device, n_threads=order.n_threads or cores())
    started = time.perf_counter()
    fitted = configuration.method.fit(data, configuration.parts, seed.child("fit"), resources)
    seconds = time.perf_counter() - started
    trained = Trained.on(data, fitted, configuration, seed, replace(resources, device="cpu"), ids=opened.ids)
    manifest = save_model(
        order.out, replace(trained, id_column=_id_column(opened, order.wanted)), replace=order.replace
    )
    return Fitted(manifest, opened.name, device, reason, seconds, (*opened.notices, *said))


def pu_data(dataset: Dataset, theta_o: float | None, seed: Seed) -> tuple[PUData, tuple[str, ...]]:
    """Return what a method may see of a data set: its observed labels or, where only truth is known, a draw of them.

    Raises:
        ParameterError: a share to label is given where labels were observed.
    """
    if dataset.observed is not None:
        if theta_o is not None:
            raise ParameterError("This data set has observed labels; --theta-o applies to true labels only.")
        return PUData(dataset.X, dataset.observed), ()
    if dataset.truth is None:
        raise DataError("A data set needs observed labels or true ones.")
    share = THETA_O if theta_o is None else theta_o
    view = draw_view(dataset.X, dataset.truth, Labelling(share), seed.child("view"))
    said = (
        f"Only true labels are known here: {view.data.n_labelled:,} of {int(dataset.truth.y.sum()):,} positives, the "
        f"share {share:g} (--theta-o), were drawn as labelled, and the model sees no others."
    )
    return view.data, (said,)


def _id_column(opened: Opened, wanted: Wanted) -> str | None:
    if opened.ids is None:
        return None
    alias = find_alias(aliases_folder(), wanted.name)
    return wanted.id or (None if alias is None else alias.id)


def _device(wanted: str, configuration: Configuration) -> tuple[Device, str]:
    """Return where to train: the device that all learners can use."""
    found = [resolve_device(wanted, one.parts.learner) for one in configuration.singles]
    return next((answer for answer in found if answer[0] == "cpu"), found[0])


def _configuration(order: Order, registry: Registry) -> tuple[Configuration, int]:
    ingredients, seed = ((Ingredient({}),), None) if order.config is None else read_toml(order.config)
    if len(ingredients) == 1:
        ingredients = (_completed(ingredients[0], order, registry),)
    elif order.names or order.settings:
        raise ParameterError(
            f"{order.config} is a blend, of which --method, --similarity, --learner and --set can not change a part; "
            "leave them out, or change the file."
        )
    for one in ingredients:
        _check_method(one, registry)
    return configure_all(ingredients, registry), order.seed if order.seed is not None else seed or 0


def _check_method(ingredient: Ingredient, registry: Registry) -> None:
    named = ingredient.plugins.get(Kind.METHOD)
    method = None if named is None else registry.find(named.name, Kind.METHOD).plugin
    if method is not None and (not issubclass(method, Method) or method.wants_all_labels):
        raise ParameterError(
            f"Method '{method.name}' is handed every positive, as a ceiling for comparisons; it can not be fitted."
        )


def _completed(ingredient: Ingredient, order: Order, registry: Registry) -> Ingredient:
    """Return what a file names, with what was ordered and with defaults."""
    named = _with_names(ingredient.plugins, order.names)
    method = registry.find(named[Kind.METHOD].name, Kind.METHOD).plugin
    uses = method.uses if issubclass(method, Method) else frozenset()
    used = {Kind.METHOD, *uses, *order.names}  # what is named and not used is refused, not ignored
    named = {kind: plugin for kind, plugin in named.items() if kind in used}
    for text in order.settings:
        named |= _setting(text, named, registry)
    return Ingredient(named)


def _with_names(named: Mapping[Kind, Named], names: Mapping[Kind, str]) -> dict[Kind, Named]:
    """Return what is named, by a person first and by default last; parameters stay with the name they are for."""
    wanted = {
        kind: names.get(kind) or (named[kind].name if kind in named else DEFAULTS[kind]) for kind in KINDS
    }
    return {
        kind: named[kind] if kind in named and named[kind].name == name else Named(name)
        for kind, name in wanted.items()
    }


def _setting(text: str, named: Mapping[Kind, Named], registry: Registry) -> dict[Kind, Named]:
    kind, parameter, value = parse_setting(text)
    if kind not in named:
        method = named[Kind.METHOD].name
        raise ParameterError(f"'{text}' is about a {kind}, which method '{method}' does not use.")
    plugin = named[kind]
    dimension = registry.find(plugin.name, kind).plugin.space.get(parameter)
    return {kind: Named(plugin.name, {**plugin.params, parameter: typed(value, dimension)})}
