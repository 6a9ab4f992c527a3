"""All data sets by name, and one of them in figures. Nothing is downloaded."""

from dataclasses import dataclass

from pubench.api.dataset import DatasetInfo, DatasetLoader
from pubench.api.registry import Registry
from pubench.data.aliases import list_aliases
from pubench.data.sources import DatasetRequest, aliases_folder, local_files, open_dataset
from pubench.data.summary import DatasetSummary, summarise

NOT_FETCHED = "not fetched"


@dataclass(frozen=True)
class CatalogueEntry:
    """A data set by name.

    Attributes:
        name: what `--dataset` takes.
        package: the package it comes from, or "yours".
        state: "here", "generated", "not fetched" or, for a file of yours that does not exist, "missing".
        place: the file or files; empty where there are none.
        info: what its loader declares; None for a file of yours.
    """

    name: str
    package: str
    state: str
    place: str
    info: DatasetInfo | None


def catalogue(registry: Registry) -> list[CatalogueEntry]:
    """Return the aliases, then the registered data sets without an alias of the same name."""
    aliases = list_aliases(aliases_folder())
    yours = [
        CatalogueEntry(name, "yours", "here" if spec.path.is_file() else "missing", str(spec.path), None)
        for name, spec in aliases.items()
    ]
    registered = [
        CatalogueEntry(entry.name, str(entry.origin), *_state(entry.plugin), entry.plugin.info)
        for entry in registry.entries
        if issubclass(entry.plugin, DatasetLoader) and entry.name not in aliases
    ]
    return yours + registered


@dataclass(frozen=True)
class DatasetDescription:
    """One data set in figures.

    Attributes:
        name: its name; that of the file for a file.
        place: the file or files, "generated" or "not fetched".
        info: what its loader declares; None for a file.
        notices: what the user should know, a sentence each.
        summary: its figures; None for one that is not fetched.
    """

    name: str
    place: str
    info: DatasetInfo | None
    notices: tuple[str, ...]
    summary: DatasetSummary | None


def describe(request: DatasetRequest, registry: Registry) -> DatasetDescription:
    """Return a data set in figures; of one that is not fetched, what its loader declares. Raises as `open_dataset`."""
    for entry in catalogue(registry):
        if (entry.name, entry.state) == (request.name, NOT_FETCHED):
            return DatasetDescription(entry.name, NOT_FETCHED, entry.info, (), None)
    opened = open_dataset(request, registry)
    return DatasetDescription(
        opened.name, opened.location, opened.info, opened.notices, summarise(opened.dataset)
    )


def _state(loader: type[DatasetLoader]) -> tuple[str, str]:
    if not loader.files:
        return "generated", ""
    paths = local_files(loader.files)
    return (NOT_FETCHED, "") if paths is None else ("here", ", ".join(str(path) for path in paths))
