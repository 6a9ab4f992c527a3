"""The ranking as a Markdown table, as in the README of a folder of records."""

from collections.abc import Sequence
from pathlib import Path

from pubench.errors import DataError
from pubench.leaderboard.board import Board
from pubench.leaderboard.ranking import Standing
from pubench.system.files import write_whole

#: The lines of a document between which the table is written.
BEGIN, END = "<!-- ranking: begin -->", "<!-- ranking: end -->"
#: Characters with a meaning in Markdown, or in HTML within it.
_SPECIAL = "<>&|[]*`\\!#~"
_HEAD = ("#", "method", "mean rank", "95% interval", "AUL_PU", "AUC", "failed", "tasks")


def to_markdown(board: Board | None) -> str:
    """Return the ranking as a table; None is a board without records."""
    if board is None:
        return "There are no records yet.\n"
    lines = [_row(_HEAD), _row(["--:", ":--", *["--:"] * (len(_HEAD) - 2)])]
    lines += [
        _row(_cells(board, position, standing)) for position, standing in enumerate(board.standings, start=1)
    ]
    stand_ins = [dataset.label for dataset in board.ranked.datasets if dataset.stand_in]
    note = (
        f"\nSynthetic stand-ins among the data sets: {', '.join(map(_escaped, stand_ins))}.\n"
        if stand_ins
        else ""
    )
    return "\n".join(lines) + "\n" + note


def _cells(board: Board, position: int, standing: Standing) -> list[str]:
    return [
        str(position),
        _escaped(board.ranked.entries[standing.entry].label),
        "" if standing.rank is None else f"{standing.rank:.2f}{'†' if standing.imputed else ''}",
        "" if standing.low is None else f"{standing.low:.2f} to {standing.high:.2f}",
        "" if standing.aul_pu is None else f"{standing.aul_pu:.4f}",
        "" if standing.auc is None else f"{standing.auc:.4f}",
        f"{standing.failures:.0%}",
        str(standing.tasks),
    ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Return a text in which special characters of Markdown and HTML are escaped."""
    return "".join(f"&#{ord(character)};" if character in _SPECIAL else character for character in text)


def insert_table(path: Path, table: str) -> bool:
    """Write the table between the lines `BEGIN` and `END` of a document; return whether that changed it.

    Raises:
        DataError: the document has no such lines, or cannot be read or written.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read.") from error
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 or end < start:
        raise DataError(f"{path} has no lines '{BEGIN}' and '{END}' to write the table between.")
    new = f"{text[: start + len(BEGIN)]}\n{table}{text[end:]}"
    if new == text:
        return False
    with write_whole(path) as temporary:
        temporary.write_text(new, encoding="utf-8")
    return True
