"""The ranking as a table in Markdown, by itself or in the middle of a document."""

from collections.abc import Sequence
from pathlib import Path

from pubench.atomic import replacing
from pubench.errors import DataError
from pubench.leaderboard.board import Board
from pubench.leaderboard.ranking import Standing

BEGIN, END = "<!-- ranking: begin -->", "<!-- ranking: end -->"
_MEANING = "<>&|[]*`\\!#~"
_HEAD = ("#", "method", "mean rank", "95% interval", "AUL_PU", "AUC", "failed", "tasks")


def to_markdown(board: Board | None) -> str:
    """Return the ranking; None is a board without any record."""
    if board is None:
        return "There are no records yet.\n"
    lines = [_line(_HEAD), _line(["--:", ":--", *["--:"] * (len(_HEAD) - 2)])]
    lines += [_line(_cells(board, place, one)) for place, one in enumerate(board.standings, start=1)]
    stand_ins = [one.label for one in board.evidence.datasets if one.stand_in]
    note = (
        f"\nSynthetic stand-ins among the data sets: {', '.join(map(_plain, stand_ins))}.\n"
        if stand_ins
        else ""
    )
    return "\n".join(lines) + "\n" + note


def _cells(board: Board, place: int, one: Standing) -> list[str]:
    return [
        str(place),
        _plain(board.evidence.entries[one.entry].label),
        "" if one.rank is None else f"{one.rank:.2f}{'†' if one.imputed else ''}",
        "" if one.low is None else f"{one.low:.2f} to {one.high:.2f}",
        "" if one.aul_pu is None else f"{one.aul_pu:.4f}",
        "" if one.auc is None else f"{one.auc:.4f}",
        f"{one.failures:.0%}",
        str(one.tasks),
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return a text without what Markdown, or HTML within it, gives a meaning."""
    return "".join(f"&#{ord(one)};" if one in _MEANING else one for one in text)


def write_into(path: Path, markdown: str) -> bool:
    """Put the table between the marks of a document, and return whether that changed it.

    Raises:
        DataError: the document has no such marks, or can not be read or written.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} can not be read.") from error
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 or end < start:
        raise DataError(f"{path} has no lines '{BEGIN}' and '{END}' to put the table between.")
    new = f"{text[: start + len(BEGIN)]}\n{markdown}{text[end:]}"
    if new == text:
        return False
    with replacing(path) as temporary:
        temporary.write_text(new, encoding="utf-8")
    return True
