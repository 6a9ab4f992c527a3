"""`pubench datasets`: list, describe and download data sets, and give files a name."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pubench.cli.options import column_options, complete_dataset, examples, json_option, plugin_options
from pubench.cli.plugins import open_registry


@click.group(epilog=examples("pubench datasets list", "pubench datasets info mine.csv --label bought"))
def datasets() -> None:
    """List, describe, download and name data sets."""


@datasets.command("list", epilog=examples("pubench datasets list", "pubench datasets list --json"))
@plugin_options
@json_option
def list_datasets(*, plugin_files: Sequence[Path], strict_plugins: bool, as_json: bool) -> None:
    """List all data sets and where each one is."""
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.datasets_view import print_datasets  # noqa: PLC0415
    from pubench.data.catalogue import catalogue  # noqa: PLC0415

    rows = [asdict(entry) for entry in catalogue(open_registry(plugin_files, strict=strict_plugins))]
    if as_json:
        terminal.print_json({"datasets": rows})
    else:
        print_datasets(rows)


@datasets.command(
    epilog=examples(
        "pubench datasets info bank1",
        "pubench datasets info customers.csv --label bought --id customer_no",
        "pubench datasets info customers.parquet --label segment --positive buyer --json",
    )
)
@click.argument("name", metavar="NAME|FILE", shell_complete=complete_dataset)
@column_options
@click.option("--rows", type=int, metavar="N", help="Use a sample of about N rows with the same rates.")
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
    """Describe a data set or a file.

    Counts, positives, types, missing values, source and licence, and notices. Downloads nothing.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.cli.render.datasets_view import print_dataset  # noqa: PLC0415
    from pubench.data.catalogue import describe  # noqa: PLC0415
    from pubench.data.sources import DatasetRequest  # noqa: PLC0415

    request = DatasetRequest(name, label, positive, tuple(drop), id_column, rows)
    registry = open_registry(plugin_files, strict=strict_plugins)
    with terminal.busy(f"Reading {name}"):
        description = asdict(describe(request, registry))
    if as_json:
        terminal.print_json(description)
    else:
        print_dataset(description)


@datasets.command(epilog=examples("pubench datasets fetch creditcard mammography"))
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete_dataset)
@plugin_options
@json_option
def fetch(names: Sequence[str], *, plugin_files: Sequence[Path], strict_plugins: bool, as_json: bool) -> None:
    """Download data sets that are not here yet."""
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.data.sources import fetch_dataset  # noqa: PLC0415
    from pubench.errors import FetchError  # noqa: PLC0415

    registry = open_registry(plugin_files, strict=strict_plugins)
    paths: dict[str, list[str]] = {}
    failed: list[FetchError] = []
    for name in names:
        try:
            with terminal.byte_progress(f"Fetching {name}") as progress:
                paths[name] = [str(path) for path in fetch_dataset(name, registry, progress)]
        except FetchError as error:  # the other downloads may still succeed
            failed.append(error)
            continue
        if not as_json:
            click.echo(f"{name}: {', '.join(paths[name]) or 'generated when used, nothing to fetch'}")
    if as_json:
        terminal.print_json(paths)
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
@click.option("--replace", is_flag=True, help="Replace a name that was added before.")
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
    """Give a file a name, for --dataset NAME.

    The file is read once to check it. It is not moved or copied, and your name takes precedence over a built-in one: a
    file added as bank1 is used for bank1.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.data.aliases import add_alias, check_free  # noqa: PLC0415
    from pubench.data.sources import aliases_folder  # noqa: PLC0415
    from pubench.data.user_file import FileSpec, read_file  # noqa: PLC0415

    spec = FileSpec(file, label, positive, tuple(drop), id_column)
    check_free(aliases_folder(), name, replace=replace)
    with terminal.busy(f"Reading {file.name}"):
        contents = read_file(spec)
    for notice in contents.notices:
        terminal.notice(notice)
    add_alias(aliases_folder(), name, spec, replace=replace)
    table = contents.dataset.X
    if as_json:
        terminal.print_json(
            {"name": name, "path": str(file.absolute()), "rows": table.n_rows, "features": table.n_features}
        )
    else:
        click.echo(f"{name} is {file.absolute()}: {table.n_rows:,} rows, {table.n_features} features.")


@datasets.command(epilog=examples("pubench datasets remove mine"))
@click.argument("name", shell_complete=complete_dataset)
@json_option
def remove(name: str, *, as_json: bool) -> None:
    """Remove a name that was added; the file itself stays."""
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.data.aliases import remove_alias  # noqa: PLC0415
    from pubench.data.sources import aliases_folder  # noqa: PLC0415

    spec = remove_alias(aliases_folder(), name)
    if as_json:
        terminal.print_json({"name": name, "path": str(spec.path)})
    else:
        click.echo(f"{name} is removed; the file {spec.path} is still there.")
