"""What `leaderboard` prints."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from pubench.cli.render.terminal import bold, console, notice, table
from pubench.html import numbers
from pubench.leaderboard.board import Board
from pubench.leaderboard.publish import PublishResult
from pubench.leaderboard.ranking import Standing
from pubench.leaderboard.site.build import SiteResult
from pubench.leaderboard.verification_files import Verification

if TYPE_CHECKING:
    from pubench.leaderboard.verification import VerifyResult  # heavy: it imports what runs jobs

_MOST_LISTED = 20


def print_ranking(board: Board) -> None:
    """Print the ranking, its notes, and the cost of choosing without true labels."""
    out, ranked = console(), board.ranked
    rows = table(
        "#", "method", "mean rank", "95% interval", "AUL_PU", "AUC", "win rate", "failed", "fit", "tasks"
    )
    for position, standing in enumerate(board.standings, start=1):
        label = ranked.entries[standing.entry].label
        rows.add_row(str(position), label, *_cells(standing))
    for column in (*rows.columns[:1], *rows.columns[2:]):
        column.justify = "right"
    out.print(rows)
    stand_ins = [dataset.label for dataset in ranked.datasets if dataset.stand_in]
    counts = (
        f"{numbers.counted(len(ranked.runs), 'run')} on {numbers.counted(len(ranked.datasets), 'data set')}"
    )
    if stand_ins:
        counts += f"; {', '.join(stand_ins)}: synthetic stand-in{'' if len(stand_ins) == 1 else 's'}"
    out.print(f"\n{counts}.")
    if any(standing.imputed for standing in board.standings):
        out.print("† Failed folds count as a random order, or as the lowest value; see docs/leaderboard.md.")
    if board.ceilings.runs:
        names = ", ".join(entry.label for entry in board.ceilings.entries)
        out.print(f"Not ranked, as they use all true labels: {names}.")
    if board.regrets:
        lost = sum(regret.lost for regret in board.regrets) / len(board.regrets)
        out.print(f"Choosing by AUL_PU instead of true labels loses {lost:.4f} AUC on average.")


def _cells(standing: Standing) -> list[str | Text]:
    return [
        bold(
            numbers.NO_VALUE
            if standing.rank is None
            else f"{standing.rank:.2f}{'†' if standing.imputed else ''}"
        ),
        numbers.NO_VALUE if standing.low is None else f"{standing.low:.2f} to {standing.high:.2f}",
        numbers.NO_VALUE if standing.aul_pu is None else numbers.area(standing.aul_pu),
        numbers.NO_VALUE if standing.auc is None else numbers.area(standing.auc),
        numbers.NO_VALUE if standing.win_rate is None else f"{standing.win_rate:.0%}",
        f"{standing.failures:.0%}",
        numbers.NO_VALUE if standing.fit_seconds is None else numbers.seconds(standing.fit_seconds),
        str(standing.tasks),
    ]


def print_site(site: SiteResult) -> None:
    """Print the number of pages and their size."""
    size = f"{site.bytes / 2**20:.1f} MiB"
    click.echo(f"{site.folder / 'index.html'}: {numbers.counted(site.pages, 'page')}, {size} in total.")


def print_publication(change: PublishResult, *, dry_run: bool) -> None:
    """Print what changed, or would change."""
    if not change.is_change:
        click.echo(f"{change.target} has this site already.")
        return
    counts = f"{len(change.added)} added, {len(change.changed)} changed, {len(change.removed)} removed"
    click.echo(f"{change.target}: {counts}{' (dry run)' if dry_run else ''}.")
    if dry_run:
        for kind in ("added", "changed", "removed"):
            for name in getattr(change, kind)[:_MOST_LISTED]:
                click.echo(f"  {kind}: {name}")


def print_verification(verification: Verification) -> None:
    """Print whether one record agrees, and the differences."""
    if verification.agrees:
        click.echo(f"{verification.key}: agrees within {verification.tolerance:g}")
        return
    differences = "; ".join(
        f"{difference.what} {difference.recorded} became {difference.found}"
        for difference in verification.differences
    )
    click.echo(f"{verification.key}: differs: {differences}")


def print_verify(result: "VerifyResult") -> None:
    """Print the number of records that agree, and those that could not be run."""
    for sentence in result.impossible:
        notice(sentence)
    agree = sum(verification.agrees for verification in result.verifications)
    click.echo(
        f"{agree} of {numbers.counted(len(result.verifications), 'record')} agree; {result.left} are not verified yet."
    )


def verify_json(result: "VerifyResult") -> dict[str, Any]:
    """Return the result as a JSON object."""
    verified = [
        {"key": item.key, "agrees": item.agrees, "tolerance": item.tolerance}
        | {"differences": [asdict(difference) for difference in item.differences]}
        for item in result.verifications
    ]
    return {"verified": verified, "impossible": list(result.impossible), "left": result.left}
