"""What `pubench leaderboard` answers."""

from dataclasses import asdict
from typing import Any

import click
from rich.text import Text

from pubench.cli.render.terminal import bold, console, notice, table
from pubench.leaderboard.board import Board
from pubench.leaderboard.publishing import Published
from pubench.leaderboard.ranking import Standing
from pubench.leaderboard.site.writing import Built
from pubench.leaderboard.verification import Verification
from pubench.leaderboard.verifying import Outcome
from pubench.reporting import figures

_MOST_LISTED = 20


def ranking(board: Board) -> None:
    """Print the ranking, what is to be known about it, and what choosing without truth costs."""
    out, evidence = console(), board.evidence
    rows = table(
        "#", "method", "mean rank", "95% interval", "AUL_PU", "AUC", "win rate", "failed", "fit", "tasks"
    )
    for place, one in enumerate(board.standings, start=1):
        label = evidence.entries[one.entry].label
        rows.add_row(str(place), label, *_cells(one))
    for column in (*rows.columns[:1], *rows.columns[2:]):
        column.justify = "right"
    out.print(rows)
    stand_ins = [one.label for one in evidence.datasets if one.stand_in]
    told = f"{figures.counted(len(evidence.runs), 'run')} on {figures.counted(len(evidence.datasets), 'data set')}"
    if stand_ins:
        told += f"; {', '.join(stand_ins)}: synthetic stand-in{'' if len(stand_ins) == 1 else 's'}"
    out.print(f"\n{told}.")
    if any(one.imputed for one in board.standings):
        out.print("† Failed folds count as a random order, or as the lowest value; see docs/leaderboard.md.")
    if board.ceilings.runs:
        names = ", ".join(entry.label for entry in board.ceilings.entries)
        out.print(f"Not ranked, as they are given every true label: {names}.")
    if board.regrets:
        lost = sum(one.lost for one in board.regrets) / len(board.regrets)
        out.print(f"Choosing by AUL_PU instead of truth loses {lost:.4f} AUC on average.")


def _cells(one: Standing) -> list[str | Text]:
    return [
        bold(figures.NOTHING if one.rank is None else f"{one.rank:.2f}{'†' if one.imputed else ''}"),
        figures.NOTHING if one.low is None else f"{one.low:.2f} to {one.high:.2f}",
        figures.NOTHING if one.aul_pu is None else figures.area(one.aul_pu),
        figures.NOTHING if one.auc is None else figures.area(one.auc),
        figures.NOTHING if one.win_rate is None else f"{one.win_rate:.0%}",
        f"{one.failures:.0%}",
        figures.NOTHING if one.fit_seconds is None else figures.seconds(one.fit_seconds),
        str(one.tasks),
    ]


def built(site: Built) -> None:
    """Say what was built."""
    size = f"{site.bytes / 2**20:.1f} MiB"
    click.echo(f"{site.folder / 'index.html'}: {figures.counted(site.pages, 'page')}, {size} in all.")


def published(change: Published, *, dry_run: bool) -> None:
    """Say what changed."""
    if not change.is_change:
        click.echo(f"{change.place} has this site already.")
        return
    counts = f"{len(change.added)} added, {len(change.changed)} changed, {len(change.removed)} removed"
    click.echo(f"{change.place}: {counts}{' if it were done' if dry_run else ''}.")
    if dry_run:
        for kind in ("added", "changed", "removed"):
            for name in getattr(change, kind)[:_MOST_LISTED]:
                click.echo(f"  {kind}: {name}")


def verified_one(one: Verification) -> None:
    """Say what came of one record."""
    if one.agrees:
        click.echo(f"{one.key}: agrees within {one.tolerance:g}")
        return
    told = "; ".join(
        f"{difference.what} {difference.recorded} became {difference.found}" for difference in one.differences
    )
    click.echo(f"{one.key}: differs: {told}")


def verified(outcome: Outcome) -> None:
    """Say how many agree, and what could not be run."""
    for sentence in outcome.impossible:
        notice(sentence)
    agree = sum(one.agrees for one in outcome.verifications)
    click.echo(
        f"{agree} of {figures.counted(len(outcome.verifications), 'record')} agree; {outcome.left} are not verified yet."
    )


def verified_json(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as JSON values."""
    found = [
        {"key": one.key, "agrees": one.agrees, "tolerance": one.tolerance}
        | {"differences": [asdict(difference) for difference in one.differences]}
        for one in outcome.verifications
    ]
    return {"verified": found, "impossible": list(outcome.impossible), "left": outcome.left}
