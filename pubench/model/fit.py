"""Trains one configuration on all rows of a data set and saves it: what `pubench fit` does.

The outer layer: it opens data sets, which may contain true labels, and finds plugins by name. Training sees PU data
only.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pubench.api.devices import resolve_device
from pubench.api.method import Method
from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.configuration.configuration import (
    DEFAULTS,
    KINDS,
    Configuration,
    ConfigurationSpec,
    PluginSpec,
    configure_specs,
    parse_setting,
    parse_value,
)
from pubench.configuration.toml_file import read_toml
from pubench.crossfit.cross_fit import fit_with_own_scores
from pubench.data.aliases import find_alias
from pubench.data.labelling import pu_data
from pubench.data.sources import DatasetRequest, DatasetResult, aliases_folder, open_dataset
from pubench.errors import ParameterError
from pubench.model.manifest import Manifest
from pubench.model.saved import Trained, check_model_folder, save_model
from pubench.seeds import Seed
from pubench.system.machine import cores
from pubench.types import Device, Resources


@dataclass(frozen=True)
class FitRequest:
    """What to train, on which data set, and where to save it.

    Attributes:
        dataset: the data set.
        out: the model folder.
        names: plugins by kind; kinds that are not named come from `config`, else from `DEFAULTS`.
        settings: parameters as texts such as learner.trees=100; they override those of `config`.
        config: a TOML file; see `pubench.configuration.toml_file`. With a blend, names and settings are not allowed.
        seed: None: the seed of `config`, else 0.
        theta_o: the share of positives to label, where only true labels are known; None: half.
        device: "auto", "cpu" or "cuda".
        n_threads: None: one per core.
        replace: replace a saved model in `out`.
    """

    dataset: DatasetRequest
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
class FitResult:
    """The trained and saved model.

    Attributes:
        manifest: everything that is known about the model.
        dataset: the name of the data set.
        device: the device it was trained on.
        why_cpu: why that is the CPU although CUDA was allowed; else empty.
        seconds: training time.
        notices: notices for the user, a sentence each.
    """

    manifest: Manifest
    dataset: str
    device: Device
    why_cpu: str
    seconds: float
    notices: tuple[str, ...]


def fit_and_save(request: FitRequest, registry: Registry, resources: Resources) -> FitResult:
    """Train a model and save it; errors in the request are raised before training.

    Args:
        request: what to train.
        registry: the plugins.
        resources: progress and cache; threads and device are set from the request.

    Raises:
        InputError: one sentence that says what is wrong with the request or the data.
        NotApplicableError: the method cannot be used on this data.
    """
    check_model_folder(request.out, replace=request.replace)
    configuration, number = _configuration(request, registry)
    device, reason = _device(request.device, configuration)
    opened = open_dataset(replace(request.dataset, seed=number), registry)
    seed = Seed(number)
    data, pu_notices = pu_data(opened.dataset, request.theta_o, seed)
    configuration = configuration.suited_to(data)
    resources = replace(resources, device=device, n_threads=request.n_threads or cores())
    started = time.perf_counter()
    fitted, own = fit_with_own_scores(configuration.method, configuration.parts, data, seed, resources)
    seconds = time.perf_counter() - started
    on_cpu = replace(resources, device="cpu")
    trained = Trained.on(data, fitted, configuration, seed, on_cpu, ids=opened.ids, own_scores=own)
    manifest = save_model(
        request.out, replace(trained, id_column=_id_column(opened, request.dataset)), replace=request.replace
    )
    return FitResult(manifest, opened.name, device, reason, seconds, (*opened.notices, *pu_notices))


def _id_column(opened: DatasetResult, request: DatasetRequest) -> str | None:
    if opened.ids is None:
        return None
    alias = find_alias(aliases_folder(), request.name)
    return request.id or (None if alias is None else alias.id)


def _device(requested: str, configuration: Configuration) -> tuple[Device, str]:
    """Return the device that all learners can use, and the reason if that is the CPU."""
    devices = [resolve_device(requested, single.parts.learner) for single in configuration.singles]
    return next((resolved for resolved in devices if resolved[0] == "cpu"), devices[0])


def _configuration(request: FitRequest, registry: Registry) -> tuple[Configuration, int]:
    specs, seed = ((ConfigurationSpec({}),), None) if request.config is None else read_toml(request.config)
    if len(specs) == 1:
        specs = (_complete(specs[0], request, registry),)
    elif request.names or request.settings:
        raise ParameterError(
            f"{request.config} is a blend, which --method, --similarity, --learner and --set cannot change; leave them out, "
            "or change the file."
        )
    for spec in specs:
        _check_method(spec, registry)
    return configure_specs(specs, registry), request.seed if request.seed is not None else seed or 0


def _check_method(spec: ConfigurationSpec, registry: Registry) -> None:
    plugin = spec.plugins.get(Kind.METHOD)
    method = None if plugin is None else registry.find(plugin.name, Kind.METHOD).plugin
    if method is not None and (not issubclass(method, Method) or method.wants_all_labels):
        raise ParameterError(
            f"Method '{method.name}' trains on all true labels, as an upper bound for comparisons; it cannot be fitted here."
        )


def _complete(spec: ConfigurationSpec, request: FitRequest, registry: Registry) -> ConfigurationSpec:
    """Return the spec of a file with the names and settings of the request, and with defaults."""
    plugins = _with_names(spec.plugins, request.names)
    method = registry.find(plugins[Kind.METHOD].name, Kind.METHOD).plugin
    uses = method.uses if issubclass(method, Method) else frozenset()
    used = {
        Kind.METHOD,
        *uses,
        *request.names,
    }  # a plugin that is named but not used is refused later, not ignored
    plugins = {kind: plugin for kind, plugin in plugins.items() if kind in used}
    for text in request.settings:
        plugins |= _apply_setting(text, plugins, registry)
    return ConfigurationSpec(plugins)


def _with_names(plugins: Mapping[Kind, PluginSpec], names: Mapping[Kind, str]) -> dict[Kind, PluginSpec]:
    """Return a plugin per kind: as in `names`, else as in `plugins`, else the default.

    Parameters are used only for the plugin that they were given for.
    """
    chosen = {
        kind: names.get(kind) or (plugins[kind].name if kind in plugins else DEFAULTS[kind]) for kind in KINDS
    }
    return {
        kind: plugins[kind] if kind in plugins and plugins[kind].name == name else PluginSpec(name)
        for kind, name in chosen.items()
    }


def _apply_setting(
    text: str, plugins: Mapping[Kind, PluginSpec], registry: Registry
) -> dict[Kind, PluginSpec]:
    kind, parameter, value = parse_setting(text)
    if kind not in plugins:
        method = plugins[Kind.METHOD].name
        raise ParameterError(f"'{text}' sets a parameter of a {kind}, which method '{method}' does not use.")
    plugin = plugins[kind]
    dimension = registry.find(plugin.name, kind).plugin.space.get(parameter)
    return {kind: PluginSpec(plugin.name, {**plugin.params, parameter: parse_value(value, dimension)})}
