"""Names that a person gives to files of their own: one small JSON file each, so that none can spoil another.

An alias wins over a data set of the same name: the bank that owns the real Bank1 registers it as `bank1`, and from
then on `--dataset bank1` is the real one.
"""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pubench.atomic import replacing
from pubench.data.reading import FileSpec
from pubench.errors import DataError, InputError, suggestion

NAME = re.compile(r"[a-z0-9]+([-_.][a-z0-9]+)*")
_SCHEMA = 1
_OPTIONAL = ("label", "positive", "id")


def list_aliases(folder: Path) -> dict[str, FileSpec]:
    """Return every alias in `folder`, by name; raises `DataError` on a damaged one, naming its file."""
    return {path.stem: _read(path) for path in sorted(folder.glob("*.json"))}


def find_alias(folder: Path, name: str) -> FileSpec | None:
    """Return what `name` stands for, or None."""
    path = folder / f"{name}.json"
    return _read(path) if NAME.fullmatch(name) and path.is_file() else None


def add_alias(folder: Path, name: str, spec: FileSpec, *, replace: bool = False) -> None:
    """Let `name` stand for a file from now on; the file's path is kept absolute.

    Raises:
        InputError: the name can not be one, or is taken and `replace` is not set.
    """
    check_free(folder, name, replace=replace)
    content = {"schema": _SCHEMA, **asdict(spec), "path": str(spec.path.absolute())}
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / f"{name}.json") as temporary:
        temporary.write_text(json.dumps(content, indent=2), encoding="utf-8")


def check_free(folder: Path, name: str, *, replace: bool = False) -> None:
    """Raise `InputError` if `name` can not be one, or is taken and `replace` is not set."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"'{name}' can not be a name: use lower-case letters, digits and single - _ . between them."
        )
    path = folder / f"{name}.json"
    if path.exists() and not replace:
        raise InputError(f"'{name}' stands for {_read(path).path} already; use --replace to change that.")


def remove_alias(folder: Path, name: str) -> FileSpec:
    """Forget `name` and return what it stood for; the file itself is not touched."""
    spec = find_alias(folder, name)
    if spec is None:
        known = [path.stem for path in folder.glob("*.json")]
        raise InputError(f"'{name}' is no name that was added.{suggestion(name, known)}")
    (folder / f"{name}.json").unlink()
    return spec


def _read(path: Path) -> FileSpec:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(
            f"The alias file {path} is damaged ({error}); remove it and add the name again."
        ) from error
    if not _is_valid(content):
        raise DataError(
            f"The alias file {path} is not one of this version; remove it and add the name again."
        )
    optional = {name: content[name] for name in _OPTIONAL}
    return FileSpec(Path(content["path"]), drop=tuple(content["drop"]), **optional)


def _is_valid(content: Any) -> bool:
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        return False
    drop = content.get("drop")
    optional = all(isinstance(content.get(name), str | None) for name in _OPTIONAL)
    texts = (
        isinstance(content.get("path"), str)
        and isinstance(drop, list)
        and all(isinstance(name, str) for name in drop)
    )
    return optional and texts and content.keys() >= set(_OPTIONAL)
