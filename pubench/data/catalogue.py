"""All data sets by name, and one of them in figures. Nothing is downloaded here."""

from dataclasses import dataclass

from pubench.data.aliases import list_aliases
from pubench.data.sources import Wanted, aliases_folder, local_files, open_dataset
from pubench.data.summary import Summary, summarise
from pubench.dataset_api import DatasetInfo, DatasetLoader
from pubench.registry import Registry

NOT_FETCHED = "not fetched"


@dataclass(frozen=True)
class Listed:
    """A data set by name.

    Attributes:
        name: what `--dataset` takes.
        package: the package it comes from, or "yours".
        state: whether it is "here", "generated", "not fetched" or, for a file of yours that is gone, "missing".
        place: the file or files; empty where there are none.
        info: what is known of it beforehand; None for a file of yours.
    """

    name: str
    package: str
    state: str
    place: str
    info: DatasetInfo | None


def catalogue(registry: Registry) -> list[Listed]:
    """Return the aliases, then the registered data sets that no alias covers."""
    aliases = list_aliases(aliases_folder())
    yours = [
        Listed(name, "yours", "here" if spec.path.is_file() else "missing", str(spec.path), None)
        for name, spec in aliases.items()
    ]
    registered = [
        Listed(entry.name, str(entry.origin), *_place(entry.plugin), entry.plugin.info)
        for entry in registry.entries
        if issubclass(entry.plugin, DatasetLoader) and entry.name not in aliases
    ]
    return yours + registered


@dataclass(frozen=True)
class Description:
    """One data set in figures.

    Attributes:
        name: what it is called.
        place: the file, "generated" or "not fetched".
        info: what is known of it beforehand; None for a file.
        notices: one sentence each, for the person who asked.
        summary: its figures; None for one that is not fetched.
    """

    name: str
    place: str
    info: DatasetInfo | None
    notices: tuple[str, ...]
    summary: Summary | None


def describe(wanted: Wanted, registry: Registry) -> Description:
    """Return a data set in figures; of one that is not here, what is known beforehand. Raises as `open_dataset`."""
    for entry in catalogue(registry):
        if (entry.name, entry.state) == (wanted.name, NOT_FETCHED):
            return Description(entry.name, NOT_FETCHED, entry.info, (), None)
    opened = open_dataset(wanted, registry)
    return Description(opened.name, opened.place, opened.info, opened.notices, summarise(opened.dataset))


def _place(loader: type[DatasetLoader]) -> tuple[str, str]:
    if not loader.files:
        return "generated", ""
    found = local_files(loader.files)
    return (NOT_FETCHED, "") if found is None else ("here", ", ".join(str(path) for path in found))
