"""Writes a new plugin: whole or not at all, and never over something else."""

import os
import secrets
import shutil
from pathlib import Path

from pubench.atomic import replacing
from pubench.errors import DataError
from pubench.scaffolding.new_plugin import NewPlugin


def write_file(new: NewPlugin, folder: Path) -> Path:
    """Write the plugin as a single file into `folder`, and return its place.

    Raises:
        DataError: it exists already, or can not be written.
    """
    path = folder / f"{new.name.replace('-', '_')}.py"
    _refuse_existing(path)
    _make(folder)
    with replacing(path) as temporary:
        temporary.write_text(new.source(), encoding="utf-8")
    return path


def write_project(new: NewPlugin, folder: Path) -> list[Path]:
    """Write the plugin as a project, a folder inside `folder`, and return the places of its files.

    Raises:
        DataError: that folder exists already, or can not be written.
    """
    project = folder / new.package
    _refuse_existing(project)
    _make(folder)
    temporary = folder / f".{new.package}-{secrets.token_hex(8)}"
    try:
        for place, text in new.project().items():
            path = temporary / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        temporary.rename(project)
    except OSError as error:
        raise DataError(f"{project} can not be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [project / place for place in new.project()]


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise DataError(f"{path} exists already; choose another name, or another folder with --out.")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} can not be made: {error.strerror or error}.") from error
