"""Options that several commands share, their types and completions, and the form of examples in help texts."""

import re
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?", re.IGNORECASE)


def examples(*lines: str) -> str:
    """Return a command's epilog: its examples, one per line."""
    return "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in lines)])


class Duration(click.ParamType[float]):
    """A duration such as 90, 90s, 5m or 1h30m, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number of seconds."""
        if isinstance(value, int | float):
            return float(value)
        text = str(value).strip().lower()
        if text.isdigit():
            text += "s"
        parts = _DURATION_PART.findall(text)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
        if "".join(number + unit for number, unit in parts) != text or seconds <= 0:
            self.fail(f"'{value}' is not a duration; write it as 90s, 5m or 1h30m.", param, ctx)
        return seconds


class Number(click.FloatRange):
    """A number in a range: neither NaN, which is in every range, nor infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"'{value}' is not a number.", param, ctx)
        return number


class Size(click.ParamType[int]):
    """An amount of memory such as 500M or 4G, in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(str(value).strip())
        if match is None or float(match[1]) == 0:
            self.fail(f"'{value}' is not an amount of memory; write it as 500M or 4G.", param, ctx)
        return int(float(match[1]) * 1024 ** ("kmgt".index(match[2].lower()) + 1))


def complete_dataset(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Complete the names of data sets, or else files."""
    from pubench.api.registry import load_registry  # noqa: PLC0415
    from pubench.data.catalogue import catalogue  # noqa: PLC0415 - heavy imports happen when used
    from pubench.system.streams import silence  # noqa: PLC0415

    with silence():  # anything printed would appear in the prompt
        names = [entry.name for entry in catalogue(load_registry(ctx.params.get("plugin_files") or ()))]
    matching = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return matching or [CompletionItem(incomplete, type="file")]


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
#: More threads than any machine has; each of them takes memory, if only a little.
MAX_THREADS = 4096
threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MAX_THREADS),
    metavar="N",
    help="Number of threads.  [default: all cores]",
)


def plugin_options(command: Command) -> Command:
    """Add `--plugin` and `--strict-plugins`, passed as `plugin_files` and `strict_plugins`."""
    command = click.option(
        "--strict-plugins", is_flag=True, help="Stop if any plugin fails to load, instead of warning."
    )(command)
    return click.option(
        "--plugin",
        "plugin_files",
        multiple=True,
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Load a single-file plugin; may be repeated. PUBENCH_PLUGINS lists more.",
    )(command)


def column_options(command: Command) -> Command:
    """Add the options that say what the columns of a file mean."""
    for option in (
        click.option("--id", "id_column", metavar="COL", help="The column of row ids; not a feature."),
        click.option("--drop", multiple=True, metavar="COL", help="A column to ignore; may be repeated."),
        click.option("--positive", metavar="VALUE", help="The label of positives, if it is not 1 or true."),
        click.option("--label", metavar="COL", help="The column that marks labelled positives."),
    ):
        command = option(command)
    return command


def training_options(command: Command) -> Command:
    """Add the options that say which rows to train on, and on which device and threads."""
    for option in (
        threads_option,
        click.option(
            "--device",
            type=click.Choice(("auto", "cpu", "cuda")),
            default="auto",
            show_default=True,
            help="Device on which learners train.",
        ),
        click.option(
            "--theta-o",
            type=float,
            metavar="SHARE",
            help="If only true labels are known: the share of positives to draw as labelled.  [default: 0.5]",
        ),
        click.option(
            "--rows", type=int, metavar="N", help="Use a sample of about N rows with the same rates."
        ),
        column_options,
        click.option(
            "--dataset",
            required=True,
            metavar="NAME|FILE",
            shell_complete=complete_dataset,
            help="The name of a data set, or a file.",
        ),
    ):
        command = option(command)
    return command
