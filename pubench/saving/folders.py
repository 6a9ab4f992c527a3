"""Folders that appear whole or not at all, and whose files are known by size and SHA-256."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import TypeAlias

from pubench.data.files import shown
from pubench.errors import DataError
from pubench.saving.documents import Part
from pubench.types import Json

#: Whether a folder may be replaced: it is what we write.
IsOurs: TypeAlias = Callable[[Path], bool]


def check_target(folder: Path, *, replace: bool, is_ours: IsOurs) -> None:
    """Raise `DataError` unless `new_folder` could make this folder; what is wrong is best said before the work."""
    if os.path.lexists(folder):
        _check_existing(folder, replace=replace, is_ours=is_ours)
    above = next(parent for parent in folder.absolute().parents if os.path.lexists(parent))
    if not above.is_dir():
        raise DataError(f"{folder} can not be made: {above} is no folder.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise DataError(f"{folder} can not be made: {above} can not be written to.")


def _check_existing(folder: Path, *, replace: bool, is_ours: IsOurs) -> None:
    if folder.is_symlink() or not folder.is_dir():
        raise DataError(f"{folder} is no folder; choose another place for the model.")
    if next(folder.iterdir(), None) is None:
        return
    if not is_ours(folder):
        raise DataError(f"{folder} holds something else than a saved model; choose another folder.")
    if not replace:
        raise DataError(f"{folder} holds a saved model already; choose another folder, or give --force.")


@contextmanager
def new_folder(folder: Path, *, replace: bool, is_ours: IsOurs) -> Iterator[Path]:
    """Yield an empty folder beside `folder`; on success it takes its place, at once for all who look.

    On any error it is removed, and whatever was at `folder` is still there. A folder that is replaced is moved aside
    first and removed last.

    Raises:
        DataError: see `check_target`; or the disk is full.
    """
    check_target(folder, replace=replace, is_ours=is_ours)
    temporary, old = _beside(folder), _beside(folder)
    try:
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        if folder.is_dir() and next(folder.iterdir(), None) is not None:
            _check_existing(folder, replace=replace, is_ours=is_ours)  # it may have come meanwhile
            folder.rename(old)
        _take_place(temporary, folder, old)
    except OSError as error:
        raise DataError(f"{folder} can not be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)


def _take_place(temporary: Path, folder: Path, old: Path) -> None:
    try:
        temporary.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise


def _beside(folder: Path) -> Path:
    absolute = folder.absolute()
    return absolute.with_name(f".{absolute.name}-{secrets.token_hex(8)}")


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files in a folder and the folders below it, by their path from there, with slashes.

    Raises:
        DataError: one is neither a plain file nor a folder; a symlink, above all, leads elsewhere.
    """
    found: dict[str, Path] = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            found |= {f"{entry.name}/{name}": path for name, path in files_in(Path(entry.path)).items()}
        elif entry.is_file(follow_symlinks=False):
            found[entry.name] = Path(entry.path)
        else:
            raise DataError(
                f"{shown(entry.path, 300)} is a link or no plain file; a saved model holds none of these."
            )
    return found


def checksums(files: Mapping[str, Path]) -> dict[str, Json]:
    """Return size and SHA-256 of files as a JSON object."""
    return {name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for name, path in files.items()}


def verify(folder: Path, files: Mapping[str, Path], expected: Part) -> None:
    """Raise `DataError` unless exactly the expected files are there, each as it was written.

    Names in `expected` are only compared with those that were found; none is ever opened.
    """
    wanted = expected.parts()
    for name in sorted(wanted.keys() - files.keys()):
        raise DataError(f"{folder} lacks the file '{shown(name)}' of the saved model; copy it whole.")
    for name in sorted(files.keys() - wanted.keys()):
        raise DataError(f"{folder} holds '{shown(name)}', which is no part of the saved model; remove it.")
    for name, part in wanted.items():
        size, digest = part["bytes"].whole(), part["sha256"].text()
        if files[name].stat().st_size != size or _sha256(files[name]) != digest:
            raise DataError(
                f"{files[name]} is not as it was saved: it is damaged or was changed; copy the saved model again."
            )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
