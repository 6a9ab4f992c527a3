"""From a suite to its jobs: each run with its spec; nothing is run here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from pubench.api.method import Method
from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.bench.suite import Suite, SuiteBlock
from pubench.configuration.configuration import KINDS, PluginSpec, configure
from pubench.data.catalogue import CatalogueEntry, catalogue
from pubench.errors import ParameterError, PluginError, suggestion
from pubench.record.record import RunSpec
from pubench.tuning.space import SearchSpace, narrowed
from pubench.types import Json

_HERE = ("here", "generated")
#: What `--only` can filter by.
_FILTERS = ("dataset", "method", "similarity", "learner", "theta_o", "fold", "seed")


@dataclass(frozen=True)
class BenchJob:
    """One run of a suite.

    Attributes:
        spec: what to run.
        problem: why it cannot be run at all; empty if it can. It becomes the reason in its record.
        rows, features: of the data set, as far as they are known beforehand; otherwise 0.
    """

    spec: RunSpec
    problem: str = ""
    rows: int = 0
    features: int = 0

    def __str__(self) -> str:
        spec = self.spec
        theta = "" if spec.view["theta_o"] is None else f" theta_O={spec.view['theta_o']:g}"
        seed = f" seed {spec.seed}" if spec.seed else ""
        return (
            f"{spec.dataset}{theta} fold {spec.fold + 1}/{spec.folds}{seed}  {label_of(spec.configuration)}"
        )


@dataclass(frozen=True)
class BenchPlan:
    """All jobs of a suite, each once, in the best order, and notices about what is left out."""

    jobs: tuple[BenchJob, ...]
    notices: tuple[str, ...] = ()


def label_of(configuration: Mapping[str, Json]) -> str:
    """Return the names of a configuration's plugins, the method first, whatever their order in a file."""
    parts = (configuration.get(kind) for kind in KINDS)
    return " + ".join(str(part["name"]) for part in parts if isinstance(part, Mapping))


def make_plan(
    suite: Suite, registry: Registry, only: Sequence[str] = (), seeds: tuple[int, ...] | None = None
) -> BenchPlan:
    """Return the jobs of a suite.

    Args:
        suite: the suite.
        registry: where plugins are found.
        only: texts such as method=naive: for each name that is given, only the jobs with one of its values.
        seeds: replace the suite's.

    Raises:
        ParameterError: a parameter is unknown or out of range, or `only` is not understood or leaves nothing.
    """
    filters = _parse(only)
    listed = {entry.name: entry for entry in catalogue(registry)}
    jobs: dict[str, BenchJob] = {}
    notices: dict[str, None] = {}
    for block in suite.jobs:
        seeded = block if seeds is None else replace(block, seeds=seeds)
        for dataset in seeded.datasets:
            problem = _missing_data(dataset, listed)
            if problem and suite.missing_data == "skip":
                notices[f"{problem} It is left out."] = None
                continue
            for spec, fault in _specs(seeded, dataset, registry):
                job = BenchJob(spec, fault or problem, *_size(listed.get(dataset), seeded.rows))
                if _fits(spec, filters):
                    jobs.setdefault(spec.key, job)
    if not jobs and only:
        raise ParameterError(
            f"No job of '{suite.name}' has {' and '.join(only)}; --dry-run shows all of them."
        )
    return BenchPlan(tuple(jobs.values()), tuple(notices))


def _missing_data(dataset: str, listed: Mapping[str, CatalogueEntry]) -> str:
    if dataset not in listed:
        return f"There is no data set '{dataset}'.{suggestion(dataset, listed)}"
    if listed[dataset].state not in _HERE:
        return f"The data set '{dataset}' is not here; get it with 'pubench datasets fetch {dataset}'."
    return ""


def _size(entry: CatalogueEntry | None, rows: int | None) -> tuple[int, int]:
    if entry is None or entry.info is None:
        return rows or 0, 0
    return min(rows or entry.info.rows, entry.info.rows), entry.info.features


def _specs(block: SuiteBlock, dataset: str, registry: Registry) -> Iterator[tuple[RunSpec, str]]:
    """Yield the runs of a block on one data set, those of a fold after each other, and what is wrong with each."""
    optional = [name for name in block.optional_methods if name in registry.names(Kind.METHOD)]
    configurations = [
        configuration
        for name in dict.fromkeys([*block.methods, *optional])
        for configuration in _configurations(block, name, registry)
    ]
    tuning: dict[str, Json] = {} if block.trials is None else {"trials": block.trials}
    for theta_o, seed, fold in product(block.theta_o or (None,), block.seeds, range(block.folds)):
        view: dict[str, Json] = {"theta_o": theta_o, "rows": block.rows, **block.labelling}
        for method, configuration, fault in configurations:
            yield RunSpec(dataset, view, method, configuration, fold, block.folds, seed, tuning), fault


def _configurations(
    block: SuiteBlock, method: str, registry: Registry
) -> Iterator[tuple[str, dict[str, Json], str]]:
    """Yield the name of a method, its configuration for each similarity and learner it uses, and what is wrong with it."""
    try:
        plugin = registry.find(method, Kind.METHOD).plugin
    except PluginError as error:
        yield method, {Kind.METHOD.value: _written(block, Kind.METHOD, method)}, str(error)
        return
    uses = plugin.uses if issubclass(plugin, Method) else frozenset()
    parts = {Kind.SIMILARITY: block.similarities, Kind.LEARNER: block.learners}
    kinds = [Kind.METHOD, *(kind for kind in parts if kind in uses)]
    for names in product([method], *(parts[kind] for kind in kinds[1:])):
        named = dict(zip(kinds, names, strict=True))
        try:
            yield method, _resolved(block, named, registry), ""
        except PluginError as error:
            yield method, _all_written(block, named), str(error)


def _resolved(block: SuiteBlock, named: Mapping[Kind, str], registry: Registry) -> dict[str, Json]:
    """Return a configuration in full or, for a search, what it may choose from; either is checked."""
    if block.trials is None:
        plugins = {kind: PluginSpec(name, _params(block, kind, name)) for kind, name in named.items()}
        return configure(plugins, registry).to_json()
    written = _all_written(block, named)
    search_space_of(written, registry)
    return written


def search_space_of(configuration: Mapping[str, Any], registry: Registry) -> SearchSpace:
    """Return the search space of a tuned run."""
    names = {Kind(kind): [str(part["name"])] for kind, part in configuration.items()}
    ranges = {
        kind: {part["name"]: {key: value for key, value in part.items() if key != "name"}}
        for kind, part in configuration.items()
    }
    space = SearchSpace(registry, names)
    space.default()  # finds every plugin
    return narrowed(space, ranges)


def _params(block: SuiteBlock, kind: Kind, name: str) -> Mapping[str, Any]:
    return block.parameters.get(kind.value, {}).get(name, {})


def _written(block: SuiteBlock, kind: Kind, name: str) -> dict[str, Json]:
    return {"name": name, **_params(block, kind, name)}


def _all_written(block: SuiteBlock, named: Mapping[Kind, str]) -> dict[str, Json]:
    return {kind.value: _written(block, kind, name) for kind, name in named.items()}


def _parse(only: Sequence[str]) -> dict[str, set[str]]:
    filters: dict[str, set[str]] = {}
    for text in only:
        name, equals, value = text.partition("=")
        if not equals or name not in _FILTERS:
            raise ParameterError(
                f"--only {text} is not understood; write it as NAME=VALUE, such as method=naive; NAME is one of {', '.join(_FILTERS)}."
            )
        filters.setdefault(name, set()).add(value)
    return filters


def _fits(spec: RunSpec, filters: Mapping[str, set[str]]) -> bool:
    return all(_value(spec, name) in values for name, values in filters.items())


def _value(spec: RunSpec, name: str) -> str:
    if name in {"similarity", "learner"}:
        part = spec.configuration.get(name)
        return str(part["name"]) if isinstance(part, Mapping) else ""
    if name == "theta_o":
        theta_o = spec.view["theta_o"]
        return "" if theta_o is None else f"{theta_o:g}"
    return str(getattr(spec, name))
