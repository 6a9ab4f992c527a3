"""Verifies the files of a saved model, which may come from anywhere, before any library opens one."""

from collections.abc import Mapping
from pathlib import Path

from pubench.errors import DataError, shown
from pubench.system.files import checksum, compare_files
from pubench.system.foreign_files import files_in
from pubench.system.json_documents import Node
from pubench.types import Json

MANIFEST = "manifest.json"


def listed_files(folder: Path) -> dict[str, Path]:
    """Return the files of a saved model by name; raises `DataError` if it has no manifest."""
    files = files_in(folder)
    if MANIFEST not in files:
        raise DataError(f"{folder} is not a saved model: it has no {MANIFEST}.")
    return files


def described(files: Mapping[str, Path]) -> dict[str, Json]:
    """Return size and SHA-256 of each file."""
    return {name: _describe(path) for name, path in files.items()}


def _describe(path: Path) -> dict[str, int | str]:
    return {"bytes": path.stat().st_size, "sha256": checksum(path)}


def check_files(folder: Path, files: Mapping[str, Path], listed: Node) -> None:
    """Raise `DataError` unless exactly the listed files are there, each as it was written."""
    expected: dict[str, dict[str, int | str]] = {
        name: {"bytes": entry["bytes"].integer(), "sha256": entry["sha256"].text()}
        for name, entry in listed.members().items()
    }
    differences = compare_files(files, expected, _describe)
    for name in differences.missing:
        raise DataError(f"{folder} lacks the file '{shown(name)}' of the saved model; copy it whole.")
    for name in differences.unexpected:
        raise DataError(
            f"{folder} contains '{shown(name)}', which is not part of the saved model; remove it."
        )
    for name in differences.changed:
        raise DataError(
            f"{files[name]} is not as it was saved: it is damaged or was changed; copy the saved model again."
        )
