"""`pubench leaderboard`: rank records, build and publish the site, add records, and verify them by running them again."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click

from pubench.cli.options import Duration, examples, json_option, plugin_options, threads_option

Command = TypeVar("Command", bound=Callable[..., Any])

_RECORDS = "leaderboard/records"


def records_argument(command: Command) -> Command:
    """Add the argument RECORDS, by default the folder of records of this repository."""
    return click.argument("records", type=click.Path(path_type=Path), default=_RECORDS, metavar="[RECORDS]")(
        command
    )


def runs_argument(command: Command) -> Command:
    """Add the argument RUN..., folders of runs or of records, by default the records of this repository."""
    return click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN|RECORDS]...")(
        command
    )


@click.group(
    epilog=examples(
        "pubench leaderboard show runs/smoke/records",
        "pubench leaderboard build runs/smoke/records --out site",
    )
)
def leaderboard() -> None:
    """Rank the records of runs, publish the board, verify it.

    RECORDS is a folder of records that 'pubench bench' wrote; the default is leaderboard/records. RUN is the folder of a
    run of 'pubench tune' or 'pubench bench', of which records/ is read.
    """


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard show runs/smoke/records",
        "pubench leaderboard show runs/smoke/records --json",
        "pubench leaderboard show --markdown --into leaderboard/README.md",
    )
)
@runs_argument
@click.option("--markdown", is_flag=True, help="Print a table in Markdown.")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --markdown: insert the table between the marks in this document.",
)
@json_option
def show(folders: Sequence[Path], *, markdown: bool, into: Path | None, as_json: bool) -> None:
    """Show the ranking.

    Mean ranks with their intervals, AUL_PU, AUC if true labels are known, failures and times.
    """
    from pubench.cli.render import leaderboard_view as view  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.board import load_board, read_folder  # noqa: PLC0415
    from pubench.leaderboard.export import (  # noqa: PLC0415
        insert_table,
        to_document,
        to_markdown,
    )

    if into is not None and not markdown:
        raise click.UsageError("--into goes with --markdown.")
    # An empty board is not an error for the README, which says that there are no records yet.
    places = folders or (Path(_RECORDS),)
    is_empty = markdown and all(read_folder(place) == ([], []) for place in places)
    board = None if is_empty else load_board(*places)
    _warn_unreadable([one.reason for one in board.unreadable] if board else [])
    if markdown and into is not None:
        changed = insert_table(into, to_markdown(board))
        terminal.notice(f"{into} is {'updated' if changed else 'unchanged'}.")
    elif markdown:
        click.echo(to_markdown(board), nl=False)
    elif as_json and board:
        terminal.print_json(to_document(board))
    elif board:
        view.print_ranking(board)


def _warn_unreadable(reasons: Sequence[str]) -> None:
    """Warn in one line about files that are left out; the page names all of them."""
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used

    if len(reasons) == 1:
        terminal.warn(reasons[0])
    elif reasons:
        terminal.warn(f"{len(reasons)} files are left out; the first of them: {reasons[0]}")


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard build runs/smoke/records --out site",
        "pubench leaderboard build runs/customers runs/cards --out site",
    )
)
@runs_argument
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="The folder of the site."
)
@json_option
def build(folders: Sequence[Path], *, out: Path, as_json: bool) -> None:
    """Build the site: pages that need no server and no network.

    An older site in DIR is replaced when the new one is complete; a folder with other files is refused.
    """
    from pubench.cli.render import leaderboard_view as view  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.board import load_board  # noqa: PLC0415
    from pubench.leaderboard.site.build import build_site, check_own  # noqa: PLC0415

    check_own(out)
    with terminal.busy("Building the site"):
        board = load_board(*(folders or (Path(_RECORDS),)))
        site = build_site(board, out)
    _warn_unreadable([one.reason for one in board.unreadable])
    if as_json:
        terminal.print_json(
            asdict(site) | {"folder": str(out), "unreadable": [one.reason for one in board.unreadable]}
        )
    else:
        view.print_site(site)


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard publish site --to /var/www/leaderboard",
        "pubench leaderboard publish site --to git:git@github.com:me/board.git#gh-pages --dry-run",
    )
)
@click.argument("site", type=click.Path(path_type=Path))
@click.option(
    "--to", required=True, metavar="DIR|git:REMOTE#BRANCH", help="A folder, or a branch of a repository."
)
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@json_option
def publish(site: Path, *, to: str, dry_run: bool, as_json: bool) -> None:
    """Copy a built site to a folder or a branch.

    Files of an older site are replaced or removed, other files stay. A branch gets one new commit; nothing is forced.
    """
    from pubench.cli.render import leaderboard_view as view  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.publish import publish as publish_to  # noqa: PLC0415

    with terminal.busy("Publishing"):
        result = publish_to(site, to, dry_run=dry_run)
    if as_json:
        changes = asdict(result)
        terminal.print_json({"place": changes.pop("target"), **changes, "dry_run": dry_run})
    else:
        view.print_publication(result, dry_run=dry_run)


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard add runs/smoke/records/*.json",
        "pubench leaderboard add theirs/*.json --to leaderboard/records",
    )
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RECORD...")
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    default=_RECORDS,
    show_default=True,
    metavar="DIR",
    help="The folder of records.",
)
@json_option
def add(files: Sequence[Path], *, to: Path, as_json: bool) -> None:
    """Check records and add them to a folder.

    Refused are files that are not records, runs that are there already, and runs on other rows of a data set that is
    there. Either all records are added or none.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.submission import add_records  # noqa: PLC0415

    added = add_records(files, to)
    if as_json:
        terminal.print_json({"to": str(to), "added": [path.stem for path in added]})
    else:
        click.echo(f"{len(added)} record{'' if len(added) == 1 else 's'} added to {to}.")


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard verify runs/smoke/records --sample 3",
        "pubench leaderboard verify --record 721617be22648828e10eff2264409e70",
    )
)
@records_argument
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of records, drawn at random from those not verified yet.",
)
@click.option(
    "--record",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Verify this record, even if it was verified before; may be repeated.",
)
@click.option(
    "--tolerance",
    type=float,
    default=0.005,
    show_default=True,
    help="Largest accepted difference of a metric.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the sample."
)
@click.option(
    "--time-limit",
    type=Duration(),
    default="1h",
    show_default=True,
    metavar="TIME",
    help="Time limit of each run, as 90s, 5m or 1h.",
)
@threads_option
@plugin_options
@json_option
def verify(  # noqa: PLR0913 - a command's options
    records: Path,
    *,
    sample: int,
    keys: Sequence[str],
    tolerance: float,
    seed: int,
    time_limit: float,
    threads: int | None,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Run records again and compare.

    Each is run from its own specification and seed, in a process with limits. The result is written beside RECORDS, to
    verified/KEY.json, whether it agrees or not. Exit code 1: something differs.
    """
    from pubench.cli.plugins import open_registry  # noqa: PLC0415
    from pubench.cli.render import leaderboard_view as view  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.verification import (  # noqa: PLC0415
        VerifyRequest,
        rerun_in_process,
        verify_folder,
    )
    from pubench.system.machine import cores  # noqa: PLC0415

    open_registry(plugin_files, strict=strict_plugins)  # warns about plugins that fail before hours are spent
    request = VerifyRequest(tuple(keys), sample, seed, tolerance)
    with rerun_in_process(threads or cores(), plugin_files, time_limit) as rerun:
        report = (lambda _: None) if as_json else view.print_verification
        result = verify_folder(records, request, rerun, report)
    if as_json:
        terminal.print_json(view.verify_json(result))
    else:
        view.print_verify(result)
    if not all(verification.agrees for verification in result.verifications):
        raise click.exceptions.Exit(1)
