"""`pubench leaderboard`: from records to a public board, and the proof that they can be made again."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click

from pubench.cli.durations import Duration
from pubench.cli.options import examples, json_option, plugin_options
from pubench.cli.training import threads_option

Command = TypeVar("Command", bound=Callable[..., Any])

_RECORDS = "leaderboard/records"


def records_argument(command: Command) -> Command:
    """Add the folder of records, that of this repository unless another one is named."""
    return click.argument("records", type=click.Path(path_type=Path), default=_RECORDS, metavar="[RECORDS]")(
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

    RECORDS is a folder of records, as 'pubench bench' leaves one; leaderboard/records unless another one is named.
    """


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard show runs/smoke/records",
        "pubench leaderboard show runs/smoke/records --json",
        "pubench leaderboard show --markdown --into leaderboard/README.md",
    )
)
@records_argument
@click.option("--markdown", is_flag=True, help="As a table in Markdown.")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --markdown: put the table between the marks of this document.",
)
@json_option
def show(records: Path, *, markdown: bool, into: Path | None, as_json: bool) -> None:
    """Show the ranking.

    Mean ranks with their intervals, AUL_PU, AUC where truth is known, failures and times.
    """
    from pubench.cli.render import leaderboard as render  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.data_files import to_document  # noqa: PLC0415
    from pubench.leaderboard.loading import load_board, read_folder  # noqa: PLC0415
    from pubench.leaderboard.markdown import to_markdown, write_into  # noqa: PLC0415

    if into is not None and not markdown:
        raise click.UsageError("--into goes with --markdown.")
    # A board that begins is no mistake: its README says that there is nothing yet.
    board = None if markdown and read_folder(records) == ([], []) else load_board(records)
    _warn_of([one.reason for one in board.unreadable] if board else [])
    if markdown and into is not None:
        changed = write_into(into, to_markdown(board))
        terminal.notice(f"{into} is {'up to date now' if changed else 'as it was'}.")
    elif markdown:
        click.echo(to_markdown(board), nl=False)
    elif as_json and board:
        terminal.print_json(to_document(board))
    elif board:
        render.ranking(board)


def _warn_of(reasons: Sequence[str]) -> None:
    """Say in one line which files are left out; the page names them all."""
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used

    if len(reasons) == 1:
        terminal.warn(reasons[0])
    elif reasons:
        terminal.warn(f"{len(reasons)} files are left out; the first of them: {reasons[0]}")


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard build runs/smoke/records --out site",
        "pubench leaderboard build --out site --json",
    )
)
@records_argument
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where the site goes."
)
@json_option
def build(records: Path, *, out: Path, as_json: bool) -> None:
    """Build the site: pages that need no server and no network.

    An older site in DIR is replaced when the new one is done; a folder with other files is refused.
    """
    from pubench.cli.render import leaderboard as render  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.loading import load_board  # noqa: PLC0415
    from pubench.leaderboard.site.writing import build_site, check_own  # noqa: PLC0415

    check_own(out)
    with terminal.busy("Building the site"):
        board = load_board(records)
        built = build_site(board, out)
    _warn_of([one.reason for one in board.unreadable])
    if as_json:
        terminal.print_json(
            asdict(built) | {"folder": str(out), "unreadable": [one.reason for one in board.unreadable]}
        )
    else:
        render.built(built)


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
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@json_option
def publish(site: Path, *, to: str, dry_run: bool, as_json: bool) -> None:
    """Bring a built site to a folder or a branch.

    Files of an older site are replaced or removed, all others stay. A branch gets one commit more; nothing is forced.
    """
    from pubench.cli.render import leaderboard as render  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.publishing import publish as publish_to  # noqa: PLC0415

    with terminal.busy("Publishing"):
        published = publish_to(site, to, dry_run=dry_run)
    if as_json:
        terminal.print_json(asdict(published) | {"dry_run": dry_run})
    else:
        render.published(published, dry_run=dry_run)


@leaderboard.command(
    epilog=examples(
        "pubench leaderboard add runs/smoke/records/*.json",
        "pubench leaderboard add theirs/*.json --to leaderboard/records",
    )
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RECORD...")
@click.option("--to", type=click.Path(path_type=Path), default=_RECORDS, show_default=True, metavar="DIR")
@json_option
def add(files: Sequence[Path], *, to: Path, as_json: bool) -> None:
    """Check records and add them to a folder.

    Refused are files that are no records, runs that are there, and runs on other rows of a data set that is there. All
    are added, or none.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.adding import add_records  # noqa: PLC0415

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
    help="So many, drawn from those not verified yet.",
)
@click.option(
    "--record", "keys", multiple=True, metavar="KEY", help="This record, verified or not; may be repeated."
)
@click.option(
    "--tolerance", type=float, default=0.005, show_default=True, help="How far a metric may be off."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Draws the sample.")
@click.option(
    "--time-limit",
    type=Duration(),
    default="1h",
    show_default=True,
    metavar="TIME",
    help="Of a run, as 90s, 5m or 1h.",
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

    Each is run from its own specification and seed, in a process with limits. What comes of it is written beside
    RECORDS, into verified/KEY.json, agreement or not. Exit code 1: something differs.
    """
    from pubench.cli.plugins import open_registry  # noqa: PLC0415
    from pubench.cli.render import leaderboard as render  # noqa: PLC0415
    from pubench.cli.render import terminal  # noqa: PLC0415
    from pubench.leaderboard.rerunning import rerunning  # noqa: PLC0415
    from pubench.leaderboard.verifying import Wish, verify_folder  # noqa: PLC0415
    from pubench.machine import cores  # noqa: PLC0415

    open_registry(plugin_files, strict=strict_plugins)  # says which plugins fail before hours are spent
    wish = Wish(tuple(keys), sample, seed, tolerance)
    with rerunning(threads or cores(), plugin_files, time_limit) as rerun:
        outcome = verify_folder(records, wish, rerun, render.verified_one if not as_json else lambda _: None)
    if as_json:
        terminal.print_json(render.verified_json(outcome))
    else:
        render.verified(outcome)
    if not all(one.agrees for one in outcome.verifications):
        raise click.exceptions.Exit(1)
