"""Scores a file with a saved model."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pubench.data.columns import plain
from pubench.data.features import is_number, is_text
from pubench.data.files import shown
from pubench.data.schema import Encoder
from pubench.errors import DataError, ParameterError
from pubench.saving.models import SavedModel
from pubench.scoring.pieces import Piece, has_column, read_pieces
from pubench.scoring.ranking import ScoredRows, best
from pubench.scoring.writing import Write, writing
from pubench.types import Resources, Table, tell_nobody

if TYPE_CHECKING:
    import pyarrow

#: Told how many rows are scored.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Wish:
    """What to score, and what to write of it.

    Attributes:
        path: the file.
        out: where scores go; see `pubench.scoring.writing`.
        id: the column that names rows; None: the one of the training data, if it is there, else their numbers from 1.
        top: only so many rows, the best ones, the best first; None: all, in their order.
        evidence: name so many labelled positives nearest to each row; 0: none.
    """

    path: Path
    out: Path
    id: str | None = None
    top: int | None = None
    evidence: int = 0

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ParameterError(f"--top is a number of rows, at least 1; got {self.top}.")
        if self.evidence < 0:
            raise ParameterError(f"--evidence is a number of labelled positives; got {self.evidence}.")


@dataclass(frozen=True)
class Done:
    """What was scored.

    Attributes:
        n_rows: rows of the file.
        n_written: rows that were written.
        n_expected: rows that score as high as those the model took for positive in training; None: unknown.
        id: the column that names rows; None: their numbers.
        notices: what is worth knowing of the file, a sentence each.
    """

    n_rows: int
    n_written: int
    n_expected: int | None
    id: str | None
    notices: tuple[str, ...]


def score_file(model: SavedModel, wish: Wish, resources: Resources, progress: Progress = tell_nobody) -> Done:
    """Score a file and write the result; the file may be larger than memory, and rows keep their order.

    Columns are the id, or `row`, and `score`; of the best also `rank` and `share`, the share of all rows that the rank
    is; with evidence `nearest_1`, `distance_1` and so on.

    Raises:
        DataError: one sentence that names the file, column or row at fault; nothing is written then.
    """
    if wish.out.exists() and wish.path.exists() and wish.out.samefile(wish.path):
        raise DataError(f"{wish.out} is the file to be scored; write the scores to another one.")
    if wish.evidence and model.evidence is None:
        raise DataError("The model was saved without evidence; score without --evidence.")
    wish = replace(wish, id=_id_column(model, wish))
    features = model.manifest.features
    encoder = Encoder(features)
    names = [*(feature.name for feature in features), *([] if wish.id is None else [wish.id])]
    pieces = read_pieces(wish.path, names)
    counting = _Counting(model.manifest.thresholds.get("expected"))
    with writing(wish.out) as write:
        scored = counting.of(_scored(pieces, model, encoder, wish.id, resources), progress)
        n_written = _write_all(scored, model, wish, write, counting)
    return Done(counting.n_rows, n_written, counting.n_expected, wish.id, encoder.notices())


def _id_column(model: SavedModel, wish: Wish) -> str | None:
    known = model.manifest.id_column
    if wish.id is None and known is not None and has_column(wish.path, known):
        return known
    return wish.id


class _Counting:
    """Counts the rows that pass, and those that reach a score."""

    def __init__(self, threshold: float | None) -> None:
        self.n_rows = 0
        self._reached = 0
        self._threshold = threshold

    @property
    def n_expected(self) -> int | None:
        return None if self._threshold is None else self._reached

    def of(self, pieces: Iterator[ScoredRows], progress: Progress) -> Iterator[ScoredRows]:
        for piece in pieces:
            self.n_rows += len(piece.scores)
            if self._threshold is not None:
                self._reached += int(np.sum(piece.scores >= self._threshold))
            progress(self.n_rows)
            yield piece


def _scored(
    pieces: Iterator[Piece], model: SavedModel, encoder: Encoder, id_column: str | None, resources: Resources
) -> Iterator[ScoredRows]:
    def encoded() -> Iterator[tuple[Table, "pyarrow.ChunkedArray | None"]]:
        for piece in pieces:
            yield encoder.encode(piece), None if id_column is None else _ids(piece[id_column], id_column)

    start = 1
    for X, ids in _ahead(encoded()):
        scores = model.score(X, resources).values
        yield ScoredRows(np.arange(start, start + X.n_rows), scores, X, ids)
        start += X.n_rows


def _ids(column: "pyarrow.ChunkedArray", name: str) -> "pyarrow.ChunkedArray":
    from pyarrow import types  # noqa: PLC0415 - heavy imports happen when used

    column = plain(column)
    kind = column.type
    if not (is_text(kind) or is_number(kind) or types.is_temporal(kind) or types.is_boolean(kind)):
        raise DataError(
            f"Column '{shown(name)}' holds {shown(str(kind))}, which can not be an id; name another one."
        )
    return column


def _ahead(
    items: Iterator[tuple[Table, "pyarrow.ChunkedArray | None"]],
) -> Iterator[tuple[Table, "pyarrow.ChunkedArray | None"]]:
    """Yield the items; the next one is made in a thread of its own while the caller works on this one."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item


def _write_all(
    scored: Iterator[ScoredRows], model: SavedModel, wish: Wish, write: Write, counting: _Counting
) -> int:
    """Write what is wished for and return how many rows that were."""
    if wish.top is None:
        for piece in scored:
            write(_columns(piece, model, wish, None))
        return counting.n_rows
    kept: ScoredRows | None = None
    for piece in scored:
        kept = best(piece if kept is None else kept.joined(best(piece, wish.top)), wish.top)
    if kept is None:
        return 0
    write(_columns(kept, model, wish, counting.n_rows))
    return len(kept.scores)


def _columns(rows: ScoredRows, model: SavedModel, wish: Wish, n_rows: int | None) -> "pyarrow.Table":
    """Return rows as they are written; with the number of all rows, those of a ranking."""
    import pyarrow  # noqa: PLC0415 - heavy imports happen when used

    columns = {"score": pyarrow.array(rows.scores)}
    if n_rows is not None:
        rank = np.arange(1, len(rows.scores) + 1)
        columns |= {"rank": pyarrow.array(rank), "share": pyarrow.array(rank / n_rows)}
    if wish.evidence and model.evidence is not None:
        nearest = model.evidence.nearest(rows.X, wish.evidence)
        for number in range(nearest.positives.shape[1]):
            names = model.evidence.called(nearest.positives[:, number])
            columns[f"nearest_{number + 1}"] = pyarrow.array(names)
            columns[f"distance_{number + 1}"] = pyarrow.array(nearest.distances[:, number])
    if wish.id is None or rows.ids is None:
        return pyarrow.table({"row": pyarrow.array(rows.rows), **columns})
    return pyarrow.table({"id" if wish.id in columns else wish.id: rows.ids, **columns})
