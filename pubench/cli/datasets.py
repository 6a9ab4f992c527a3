"""`pubench datasets`: what there is, what it looks like, where it is, and names of your own."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click

from pubench.cli.completion import complete_dataset
from pubench.cli.options import examples, json_option, plugin_options
from pubench.cli.plugins import open_registry

Command = TypeVar("Command", bound=Callable[..., Any])


def column_options(command: Command) -> Command:
    """Add the options that say what the columns of a file mean."""
    for option in (
        click.option("--id", "id_column", metavar="COL", help="A column to keep as an id; never a feature."),
        click.option("--drop", multiple=True, metavar="COL", help="A column to leave out; may be repeated."),
        click.option(
            "--positive", metavar="VALUE", help="The label of positives, where it is not 1 or true."
        ),
        click.option("--label", metavar="COL", help="The column that marks labelled positives."),
    ):
        command = option(command)
    return command


@click.group(epilog=examples("pubench datasets list", "pubench datasets info mine.csv --label bought"))
def datasets() -> None:
    """Show, fetch and name data sets."""


@datasets.command("list", epilog=examples("pubench datasets list", "pubench datasets list --json"))
@plugin_options
@json_option
def list_datasets(*, plugin_files: Sequence[Path], strict_plugins: bool, as_json: bool) -> None:
    """List all data sets and where each one is."""
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.datasets import dataset_table  # noqa: PLC0415
    from pubench.data.catalogue import catalogue  # noqa: PLC0415

    rows = [asdict(entry) for entry in catalogue(open_registry(plugin_files, strict=strict_plugins))]
    if as_json:
        terminal.print_json({"datasets": rows})
    else:
        dataset_table(rows)


@datasets.command(
    epilog=examples(
        "pubench datasets info bank1",
        "pubench datasets info customers.csv --label bought --id customer_no",
        "pubench datasets info customers.parquet --label segment --positive buyer --json",
    )
)
@click.argument("name", metavar="NAME|FILE", shell_complete=complete_dataset)
@column_options
@click.option("--rows", type=int, metavar="N", help="Look at a draw of about N rows with the same rates.")
@plugin_options
@json_option
def info(  # noqa: PLR0913 - a command's options
    name: str,
    *,
    label: str | None,
    positive: str | None,
    drop: Sequence[str],
    id_column: str | None,
    rows: int | None,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Show what is in a data set or in a file of yours.

    Counts, positives, types, missing values, source and licence, and what pubench noticed. Downloads nothing.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.datasets import dataset_card  # noqa: PLC0415
    from pubench.data.catalogue import describe  # noqa: PLC0415
    from pubench.data.sources import Wanted  # noqa: PLC0415

    wanted = Wanted(name, label, positive, tuple(drop), id_column, rows)
    registry = open_registry(plugin_files, strict=strict_plugins)
    with terminal.busy(f"Reading {name}"):
        answer = asdict(describe(wanted, registry))
    if as_json:
        terminal.print_json(answer)
    else:
        dataset_card(answer)


@datasets.command(epilog=examples("pubench datasets fetch creditcard mammography"))
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_dataset)
@plugin_options
@json_option
def fetch(names: Sequence[str], *, plugin_files: Sequence[Path], strict_plugins: bool, as_json: bool) -> None:
    """Download data sets now; what is here already is not fetched again."""
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.data.sources import fetch_dataset  # noqa: PLC0415
    from pubench.errors import FetchError  # noqa: PLC0415

    registry = open_registry(plugin_files, strict=strict_plugins)
    places: dict[str, list[str]] = {}
    failed: list[FetchError] = []
    for name in names:
        try:
            with terminal.progress(f"Fetching {name}") as advance:
                places[name] = [str(path) for path in fetch_dataset(name, registry, advance)]
        except FetchError as error:  # the others may still be had
            failed.append(error)
            continue
        if not as_json:
            click.echo(f"{name}: {', '.join(places[name]) or 'generated when used, nothing to fetch'}")
    if as_json:
        terminal.print_json(places)
    for failure in failed[:-1]:
        terminal.warn(str(failure))
    if failed:
        raise failed[-1]


@datasets.command(
    epilog=examples(
        "pubench datasets add mine customers.csv --label bought --id customer_no",
        "pubench datasets add bank1 real_bank1.parquet --label savings_card",
    )
)
@click.argument("name")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@column_options
@click.option("--replace", is_flag=True, help="Change a name that was added before.")
@json_option
def add(  # noqa: PLR0913 - a command's options
    name: str,
    file: Path,
    *,
    label: str | None,
    positive: str | None,
    drop: Sequence[str],
    id_column: str | None,
    replace: bool,
    as_json: bool,
) -> None:
    """Give a file of yours a name, for --dataset NAME.

    The file is read once to make sure that it can be. It stays where it is, and a name of yours goes before a built-in
    one: registered as bank1, your table is bank1.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.data.aliases import add_alias, check_free  # noqa: PLC0415
    from pubench.data.reading import FileSpec, read_file  # noqa: PLC0415
    from pubench.data.sources import aliases_folder  # noqa: PLC0415

    spec = FileSpec(file, label, positive, tuple(drop), id_column)
    check_free(aliases_folder(), name, replace=replace)
    with terminal.busy(f"Reading {file.name}"):
        read = read_file(spec)
    for notice in read.notices:
        terminal.notice(notice)
    add_alias(aliases_folder(), name, spec, replace=replace)
    table = read.dataset.X
    if as_json:
        terminal.print_json(
            {"name": name, "path": str(file.absolute()), "rows": table.n_rows, "features": table.n_features}
        )
    else:
        click.echo(
            f"{name} stands for {file.absolute()}: {table.n_rows:,} rows, {table.n_features} features."
        )


@datasets.command(epilog=examples("pubench datasets remove mine"))
@click.argument("name", shell_complete=complete_dataset)
@json_option
def remove(name: str, *, as_json: bool) -> None:
    """Forget a name that was added; the file itself stays."""
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.data.aliases import remove_alias  # noqa: PLC0415
    from pubench.data.sources import aliases_folder  # noqa: PLC0415

    spec = remove_alias(aliases_folder(), name)
    if as_json:
        terminal.print_json({"name": name, "path": str(spec.path)})
    else:
        click.echo(f"{name} is forgotten; {spec.path} is still there.")
