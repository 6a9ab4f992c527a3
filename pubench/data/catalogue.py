"""All data sets by name, without loading any."""

from dataclasses import dataclass

from pubench.data.aliases import list_aliases
from pubench.data.sources import aliases_folder, local_files
from pubench.dataset_api import DatasetInfo, DatasetLoader
from pubench.registry import Registry


@dataclass(frozen=True)
class Listed:
    """A data set by name.

    Attributes:
        name: what `--dataset` takes.
        package: the package it comes from, or "yours".
        place: the file, "generated", or "not fetched".
        info: what is known of it beforehand; None for a file of yours.
    """

    name: str
    package: str
    place: str
    info: DatasetInfo | None


def catalogue(registry: Registry) -> list[Listed]:
    """Return the aliases, then the registered data sets that no alias covers."""
    aliases = list_aliases(aliases_folder())
    yours = [Listed(name, "yours", str(spec.path), None) for name, spec in aliases.items()]
    registered = [
        Listed(entry.name, str(entry.origin), _place(entry.plugin), entry.plugin.info)
        for entry in registry.entries
        if issubclass(entry.plugin, DatasetLoader) and entry.name not in aliases
    ]
    return yours + registered


def _place(loader: type[DatasetLoader]) -> str:
    if not loader.files:
        return "generated"
    found = local_files(loader.files)
    return "not fetched" if found is None else ", ".join(str(path) for path in found)
