"""Plugins as tables and cards."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from pubench.cli.render.terminal import bold, console, table

Row = Mapping[str, Any]


def plugin_table(rows: Sequence[Row], failures: Sequence[Row]) -> None:
    """Print the table of plugins, and below it what failed."""
    out = console()
    if rows:
        plugins = table("name", "kind", "package", "version", "parameters (default)")
        for row in rows:
            parameters = "\n".join(_parameter(name, entry) for name, entry in row["parameters"].items())
            plugins.add_row(bold(row["name"]), row["kind"], row["package"], row["version"], parameters)
        out.print(plugins)
    else:
        out.print("No plugins.")
    if failures:
        lost = table("not loaded", "error")
        lost.columns[0].no_wrap = False  # a path can be longer than the terminal is wide
        for row in failures:
            packages = "\n".join(f"{origin['package']} {origin['version']}" for origin in row["origins"])
            lost.add_row(packages, Text(row["error"], style="red"))
        out.print(lost)


def plugin_card(row: Row) -> None:
    """Print one plugin with its parameters."""
    out = console()
    out.print(Text.assemble((row["name"], "bold"), f", {row['kind']} of {row['package']} {row['version']}"))
    out.print(row["summary"])
    if not row["parameters"]:
        out.print("It has no parameters.")
        return
    parameters = table("parameter", "type", "range", "default", "meaning")
    for name, entry in row["parameters"].items():
        when = f" (with {entry['when'][0]} = {entry['when'][1]})" if entry["when"] else ""
        parameters.add_row(name, entry["type"], entry["range"], str(entry["default"]), entry["help"] + when)
    out.print(parameters)


def _parameter(name: str, entry: Row) -> str:
    return f"{name}: {entry['range']} ({entry['default']})"
