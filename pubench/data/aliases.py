"""Aliases: names that users give to files of their own, one small JSON file each, so that none can damage another.

An alias comes before a registered data set of the same name: the bank that owns the real Bank1 adds it as `bank1`, and
from then on `--dataset bank1` is the real one.
"""

import json
import re
from dataclasses import asdict
from pathlib import Path

from pubench.data.user_file import FileSpec
from pubench.errors import DataError, InputError, shown, suggestion
from pubench.system.files import make_folder, write_whole
from pubench.system.json_documents import Node, read_json

#: Of characters: a name is that of a file, too.
_MAX_NAME = 100
NAME = re.compile(r"[a-z0-9]+([-_.][a-z0-9]+)*")
_SCHEMA = 1


def list_aliases(folder: Path) -> dict[str, FileSpec]:
    """Return every alias in `folder`, by name; raises `DataError` with the file of a damaged one."""
    return {path.stem: _read(path) for path in _files(folder)}


def find_alias(folder: Path, name: str) -> FileSpec | None:
    """Return what `name` stands for; None if it is no alias."""
    path = folder / f"{name}.json"
    return _read(path) if _is_name(name) and path.is_file() else None


def add_alias(folder: Path, name: str, spec: FileSpec, *, replace: bool = False) -> None:
    """Make `name` an alias of a file, whose path is saved absolute.

    Raises:
        InputError: the name is invalid, or is taken and `replace` is not set.
    """
    check_free(folder, name, replace=replace)
    content = {"schema": _SCHEMA, **asdict(spec), "path": str(spec.path.absolute())}
    make_folder(folder)
    with write_whole(folder / f"{name}.json") as temporary:
        temporary.write_text(json.dumps(content, indent=2), encoding="utf-8")


def check_free(folder: Path, name: str, *, replace: bool = False) -> None:
    """Raise `InputError` if `name` is invalid, or is taken and `replace` is not set."""
    if not _is_name(name):
        raise InputError(
            f"'{shown(name)}' cannot be a name: use lower-case letters, digits and single - _ . between them, at most "
            f"{_MAX_NAME} characters."
        )
    path = folder / f"{name}.json"
    if path.exists() and not replace:
        raise InputError(f"'{name}' stands for {_read(path).path} already; use --replace to change that.")


def _is_name(name: str) -> bool:
    return len(name) <= _MAX_NAME and NAME.fullmatch(name) is not None


def remove_alias(folder: Path, name: str) -> FileSpec:
    """Remove an alias and return what it stood for; the file itself is not touched."""
    spec = find_alias(folder, name)
    if spec is None:
        known = [path.stem for path in _files(folder)]
        raise InputError(f"'{name}' is no name that was added.{suggestion(name, known)}")
    (folder / f"{name}.json").unlink()
    return spec


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.json")) if _is_name(path.stem)]


def _read(path: Path) -> FileSpec:
    remedy = "remove it and add the name again"
    try:
        content = read_json(path)
    except DataError as error:
        raise DataError(f"The alias file {path} is damaged; {remedy}.") from error
    document = Node(content, path.name, f"The alias file {path}", remedy)
    if document["schema"].integer() != _SCHEMA:
        raise document["schema"].error(f"version of the format that is known, {_SCHEMA}")
    return FileSpec(
        Path(document["path"].text()),
        label=document["label"].optional(Node.text),
        positive=document["positive"].optional(Node.text),
        drop=tuple(name.text() for name in document["drop"].items()),
        id=document["id"].optional(Node.text),
    )
