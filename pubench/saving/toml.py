"""Configurations as TOML: what a run leaves behind, and what `pubench fit --config` reads.

seed = 0                        seed = 0
[method]                        [[blend]]
name = "probtagging"            weight = 2
[similarity]                    [blend.method]
name = "knn"                    name = "naive"
...                             ...
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pubench.errors import DataError, suggestion
from pubench.saving.blend import MOST_PARTS, MOST_WEIGHT
from pubench.saving.configuration import KINDS, Configuration, Ingredient, names_in
from pubench.types import Json

_BLEND, _SEED, _WEIGHT = "blend", "seed", "weight"


def read_toml(path: Path) -> tuple[tuple[Ingredient, ...], int | None]:
    """Return what a TOML file names, one ingredient or those of a blend, and its seed, if it states one.

    Raises:
        DataError: it can not be read or is no such file.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} can not be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no TOML: {error}.") from error
    seed = content.pop(_SEED, None)
    if seed is not None and type(seed) is not int:
        raise DataError(f"The seed in {path} is no whole number.")
    if _BLEND in content:
        return _blended(content, path), seed
    _check(content, {*KINDS}, str(path), f"{_SEED}, the tables {', '.join(KINDS)}, or [[{_BLEND}]]")
    return (Ingredient(names_in(content, str(path))),), seed


def _blended(content: Mapping[str, Any], path: Path) -> tuple[Ingredient, ...]:
    _check(content, {_BLEND}, str(path), f"{_SEED} and [[{_BLEND}]], which says it all")
    tables = content[_BLEND]
    if not isinstance(tables, list) or not 2 <= len(tables) <= MOST_PARTS:
        raise DataError(f"A blend in {path} has 2 to {MOST_PARTS} tables [[{_BLEND}]].")
    return tuple(
        _ingredient(table, f"[[{_BLEND}]] {number} of {path}") for number, table in enumerate(tables, 1)
    )


def _ingredient(table: Any, place: str) -> Ingredient:
    if not isinstance(table, dict):
        raise DataError(f"{place} is no table.")
    _check(table, {_WEIGHT, *KINDS}, place, f"{_WEIGHT} and the tables {', '.join(KINDS)}")
    weight = table.get(_WEIGHT)
    if type(weight) is not int or not 1 <= weight <= MOST_WEIGHT:
        raise DataError(f"{place} must state a {_WEIGHT}, a whole number from 1 to {MOST_WEIGHT}.")
    return Ingredient(names_in(table, place), weight=weight)


def _check(table: Mapping[str, Any], known: set[str], place: str, may_state: str) -> None:
    for name in table:
        if name not in known:
            raise DataError(f"{place} states '{name}'; it may state {may_state}.{suggestion(name, known)}")


def to_toml(configuration: Configuration, seed: int) -> str:
    """Return what `read_toml` reads: all parameters, defaults too, so that later defaults change nothing.

    TOML has no word for None: such a parameter is left out.
    """
    lines = [f"{_SEED} = {seed}"]
    ingredients = configuration.ingredients
    is_blend = len(ingredients) > 1
    for one in ingredients:
        lines += ["", f"[[{_BLEND}]]", f"{_WEIGHT} = {one.weight}"] if is_blend else []
        for kind, named in one.plugins.items():
            lines += _table(f"{_BLEND}.{kind}" if is_blend else kind, {"name": named.name, **named.params})
    return "\n".join(lines) + "\n"


def _table(name: str, content: Mapping[str, Json]) -> list[str]:
    # True, false, numbers and such texts are written alike in JSON and TOML.
    values = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in content.items()
        if value is not None
    ]
    return ["", f"[{name}]", *values]
