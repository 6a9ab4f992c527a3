"""JSON objects in files that may come from anywhere.

    read_json(path)                 a JSON object of plain values, neither too large nor nested too deeply: texts that
                                    can be written, and numbers that a float or 64 bits hold
    read_document(path, schema)     the same, which also matches a JSON Schema
    Node(read_json(path), ...)      access to its parts by type; an error says which part of which file is damaged

Every reader of such a file uses one of these three.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import inf, isfinite
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar, get_args

import numpy as np

from pubench.errors import DataError, shown
from pubench.system.foreign_files import read_bytes
from pubench.types import Feature, FeatureKind, FloatVector, Json

#: Larger files are no document of ours; reading them would only fill memory.
_MAX_BYTES = 2**28
_MAX_MESSAGE = 200
#: What is in every document with a value that `_check_values` refuses, and in hardly any other.
_SUSPICIOUS = re.compile(rb"\\u[dD][89a-fA-F]|[0-9]{19}|[eE]\+?[0-9]{3}")

Value = TypeVar("Value")


def write_json(path: Path, content: Mapping[str, Json]) -> None:
    """Write a JSON object; floats have as many digits as they need to come back exactly."""
    path.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")


def read_json(
    path: Path, *, max_bytes: int = _MAX_BYTES, max_depth: int | None = None, follow_link: bool = True
) -> dict[str, Any]:
    """Return the JSON object in `path`, of plain JSON values alone.

    Args:
        path: the file.
        max_bytes: a larger file is not read.
        max_depth: how deeply lists and objects may be nested; None: as deeply as Python can parse.
        follow_link: whether the path itself may be a link, as it may if the user named it.

    Raises:
        DataError: it cannot be read, is no JSON object, is too large or nested too deeply, or holds NaN, infinity, a
            number that is out of range, or half of a surrogate pair, which is no text.
    """
    raw = read_bytes(path, max_bytes, follow_link=follow_link)
    try:
        content = json.loads(raw.decode(), parse_constant=_refuse)
        if _SUSPICIOUS.search(raw):
            _check_values(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not a JSON object, or it is damaged.") from error
    if not isinstance(content, dict):
        raise DataError(f"{path} is not a JSON object.")
    if max_depth is not None:
        check_depth(content, max_depth, str(path))
    return content


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _check_values(content: object) -> None:
    """Raise `ValueError` for values that JSON can express and Python's types, or files, can not hold."""
    waiting = [content]
    while waiting:
        match waiting.pop():
            case str() as text:
                text.encode()
            case float() as number if not isfinite(number):
                raise ValueError("a number is out of range")
            case int() as number if not -(2**63) <= number < 2**64:
                raise ValueError("a number is out of range")
            case dict() as members:
                waiting += [*members, *members.values()]
            case list() as items:
                waiting += items


def check_depth(document: object, max_depth: int, subject: str) -> None:
    """Raise `DataError` if a value is inside of more than `max_depth` lists and objects: such JSON is meant to harm."""
    level = [document]
    for _ in range(max_depth + 1):
        level = [inner for item in level for inner in _inner(item)]
        if not level:
            return
    raise DataError(f"{subject} nests too deeply; at most {max_depth} levels are read.")


def _inner(item: object) -> Sequence[object]:
    if isinstance(item, Mapping):
        return [*item.values()]
    return item if isinstance(item, list | tuple) else ()


@dataclass(frozen=True)
class DocumentSchema:
    """A JSON Schema that is shipped in a package.

    Attributes:
        package: where it is shipped.
        file: its name there.
        title: what it describes, as in "this is no ...".
    """

    package: str
    file: str
    title: str

    def document(self) -> dict[str, Any]:
        """Return the schema itself, which must not be changed."""
        return _packaged(self.package, self.file)

    def check(self, document: Mapping[str, Any], subject: str = "This") -> None:
        """Raise `DataError` with the first rule that a document breaks, and where, if it breaks any."""
        errors = list(_validator(self.package, self.file).iter_errors(document))
        if errors:
            deepest = max(errors, key=lambda error: len(error.instance_path))
            position = ".".join(str(step) for step in deepest.instance_path) or "it"
            raise DataError(f"{subject} is no {self.title}: {position}: {deepest.message[:_MAX_MESSAGE]}.")


def read_document(
    path: Path,
    schema: DocumentSchema,
    *,
    max_bytes: int = _MAX_BYTES,
    max_depth: int | None = None,
    follow_link: bool = True,
) -> dict[str, Any]:
    """Return the JSON object in `path`, which matches a schema.

    Raises:
        DataError: see `read_json`; or it breaks the schema. The message names the file.
    """
    document = read_json(path, max_bytes=max_bytes, max_depth=max_depth, follow_link=follow_link)
    schema.check(document, str(path))
    return document


@cache
def _packaged(package: str, file: str) -> dict[str, Any]:
    return dict(json.loads(files(package).joinpath(file).read_text(encoding="utf-8")))


@cache
def _validator(package: str, file: str) -> Any:
    import jsonschema_rs  # noqa: PLC0415 - heavy imports happen when used

    return jsonschema_rs.validator_for(_packaged(package, file))


@dataclass(frozen=True)
class Node:
    """A part of a JSON document that is not trusted yet; each method returns it checked, or raises `DataError`.

    Attributes:
        value: the part, of plain JSON values.
        position: where it is, such as "manifest.json" or "'seed' in manifest.json".
        document: what the whole is called, in a message that begins with "... is damaged".
        remedy: what to do about a damaged one.
    """

    value: object
    position: str
    document: str = "The saved model"
    remedy: str = "fit the model again"

    def error(self, expected: str) -> DataError:
        """Return the error that says what should have been here."""
        return DataError(f"{self.document} is damaged: {self.position} is no {expected}; {self.remedy}.")

    def __getitem__(self, name: str) -> Self:
        if not isinstance(self.value, dict) or name not in self.value:
            raise self.error(f"object with '{name}'")
        return replace(self, value=self.value[name], position=f"'{shown(name)}' in {self.position}")

    def __contains__(self, name: str) -> bool:
        return name in self.mapping()

    def find(self, name: str) -> Self:
        """Return a part of an object, or null where there is none of that name, as in files of older versions."""
        return self[name] if name in self else replace(self, value=None)

    def items(self) -> list[Self]:
        """Return the elements of a list."""
        if not isinstance(self.value, list | tuple):
            raise self.error("list")
        return [
            replace(self, value=item, position=f"element {number} of {self.position}")
            for number, item in enumerate(self.value)
        ]

    def mapping(self) -> dict[str, Any]:
        """Return an object, whose values are not trusted."""
        if not isinstance(self.value, dict):
            raise self.error("object")
        return self.value

    def members(self) -> dict[str, Self]:
        """Return the parts of an object by name."""
        return {name: self[name] for name in self.mapping()}

    def optional(self, read: Callable[[Self], Value]) -> Value | None:
        """Return None for null, else what `read` returns for this node."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.error("text")
        return self.value

    def boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.error("true or false")
        return self.value

    def integer(self, minimum: int = 0, maximum: float = inf) -> int:
        """Return a whole number from `minimum` to `maximum`."""
        if type(self.value) is not int or not minimum <= self.value <= maximum:
            end = "up" if maximum == inf else f"to {maximum:,}"
            raise self.error(f"whole number from {minimum} {end}")
        return self.value

    def number(self) -> float:
        """Return a finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.error("number")
        try:
            number = float(self.value)
        except OverflowError:  # an integer beyond all floats
            number = inf
        if not isfinite(number):
            raise self.error("finite number")
        return number

    def positive(self) -> float:
        """Return a finite number above 0."""
        number = self.number()
        if number <= 0:
            raise self.error("number above 0")
        return number

    def numbers(self) -> FloatVector:
        """Return a list of finite numbers as a vector."""
        numbers = np.empty(0)
        if isinstance(self.value, list) and all(type(item) in (int, float) for item in self.value):
            with suppress(OverflowError):  # an integer beyond all floats
                numbers = np.array(self.value, dtype=np.float64)
        if (
            not isinstance(self.value, list)
            or len(numbers) != len(self.value)
            or not np.isfinite(numbers).all()
        ):
            raise self.error("list of finite numbers")
        return numbers

    def ascending(self, *, strictly: bool) -> FloatVector:
        """Return a vector of at least two finite numbers, each above the one before or, unless strictly, equal."""
        numbers = self.numbers()
        rising = numbers[1:] > numbers[:-1] if strictly else numbers[1:] >= numbers[:-1]
        if len(numbers) < 2 or not rising.all():
            raise self.error("list of ascending numbers")
        return numbers

    def feature_kind(self) -> FeatureKind:
        """Return the kind of a feature."""
        for kind in get_args(FeatureKind):
            if kind == self.value:
                return kind  # type: ignore[no-any-return]
        raise self.error("kind of feature")

    def feature(self) -> Feature:
        """Return a feature."""
        kind = self["kind"].feature_kind()
        categories = tuple(item.text() for item in self["categories"].items())
        if len(set(categories)) != len(categories) or (categories and kind != "categorical"):
            raise self["categories"].error("list of categories")
        return Feature(self["name"].text(), kind, categories)

    def features(self) -> tuple[Feature, ...]:
        """Return features of different names, at least one."""
        features = tuple(item.feature() for item in self.items())
        if not features or len({feature.name for feature in features}) != len(features):
            raise self.error("list of features with a name each")
        return features
