"""TOML that people write: any such file as tables, and configurations, which `pubench fit --config` reads.

Configurations are written into run and model folders. A single one, and a blend:

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

from pubench.configuration.configuration import (
    KINDS,
    MAX_PARTS,
    MAX_WEIGHT,
    Configuration,
    ConfigurationSpec,
    parse_plugins,
)
from pubench.errors import DataError, suggestion
from pubench.system.foreign_files import read_text
from pubench.types import Json

_BLEND, _SEED, _WEIGHT = "blend", "seed", "weight"


def read_toml_document(path: Path) -> tuple[dict[str, Any], str]:
    """Return the tables in a TOML file, and its text.

    Raises:
        DataError: it cannot be read, is too large, or is not TOML.
    """
    text = read_text(path)
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not TOML: {error}.") from error


def read_toml(path: Path) -> tuple[tuple[ConfigurationSpec, ...], int | None]:
    """Return the configuration in a TOML file, as one spec or as the parts of a blend, and its seed, if it has one.

    Raises:
        DataError: the file cannot be read or has another form.
    """
    content, _ = read_toml_document(path)
    seed = content.pop(_SEED, None)
    if seed is not None and type(seed) is not int:
        raise DataError(f"The seed in {path} is not a whole number.")
    if _BLEND in content:
        return _parse_blend(content, path), seed
    _check_names(content, {*KINDS}, str(path), f"{_SEED}, the tables {', '.join(KINDS)}, or [[{_BLEND}]]")
    return (ConfigurationSpec(parse_plugins(content, str(path))),), seed


def _parse_blend(content: Mapping[str, Any], path: Path) -> tuple[ConfigurationSpec, ...]:
    _check_names(content, {_BLEND}, str(path), f"{_SEED} beside [[{_BLEND}]], and nothing else")
    tables = content[_BLEND]
    if not isinstance(tables, list) or not 2 <= len(tables) <= MAX_PARTS:
        raise DataError(f"A blend in {path} has 2 to {MAX_PARTS} tables [[{_BLEND}]].")
    return tuple(
        _parse_part(table, f"[[{_BLEND}]] {number} of {path}") for number, table in enumerate(tables, 1)
    )


def _parse_part(table: Any, source: str) -> ConfigurationSpec:
    if not isinstance(table, dict):
        raise DataError(f"{source} is not a table.")
    _check_names(table, {_WEIGHT, *KINDS}, source, f"{_WEIGHT} and the tables {', '.join(KINDS)}")
    weight = table.get(_WEIGHT)
    if type(weight) is not int or not 1 <= weight <= MAX_WEIGHT:
        raise DataError(f"{source} must state a {_WEIGHT}, a whole number from 1 to {MAX_WEIGHT}.")
    return ConfigurationSpec(parse_plugins(table, source), weight=weight)


def _check_names(table: Mapping[str, Any], known: set[str], source: str, may_state: str) -> None:
    for name in table:
        if name not in known:
            raise DataError(f"{source} states '{name}'; it may state {may_state}.{suggestion(name, known)}")


def to_toml(configuration: Configuration, seed: int) -> str:
    """Return the text that `read_toml` reads.

    It states all parameters, also those with default values, so that later defaults change nothing; but not those that are
    left to the size of the data. TOML cannot write None: such a parameter is left out.
    """
    lines = [f"{_SEED} = {seed}"]
    specs = configuration.specs
    is_blend = len(specs) > 1
    for spec in specs:
        lines += ["", f"[[{_BLEND}]]", f"{_WEIGHT} = {spec.weight}"] if is_blend else []
        for kind, plugin in spec.plugins.items():
            lines += _table(f"{_BLEND}.{kind}" if is_blend else kind, {"name": plugin.name, **plugin.params})
    return "\n".join(lines) + "\n"


def _table(name: str, content: Mapping[str, Json]) -> list[str]:
    # JSON and TOML write true, false, numbers and these texts in the same way.
    values = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in content.items()
        if value is not None
    ]
    return ["", f"[{name}]", *values]
