"""Scores a file with a saved model: what `pubench predict` does.

    file -> batches of rows -> encoded features -> scores -> all rows, or the best ones -> file of scores

The file may be larger than memory: one batch is in memory at a time, and with `top` the best rows so far.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pubench.data.batches import Batch, has_column, read_batches
from pubench.data.column_types import is_number, is_text
from pubench.data.label_columns import plain
from pubench.data.new_rows import Encoder
from pubench.decision.hidden_positives import Hidden, Withheld, hidden_from_prior
from pubench.errors import DataError, ParameterError, shown
from pubench.model.saved import SavedModel
from pubench.model.score_file import PredictColumns, RowWriter, ScoredRows, best_rows, open_writer
from pubench.types import Resources, Table, ignore_progress

if TYPE_CHECKING:
    import pyarrow

#: Called with the number of rows scored so far.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class PredictRequest:
    """Which file to score, and what to write.

    Attributes:
        path: the file.
        out: the file of scores, Parquet or CSV; see `score_file` for its columns.
        id: the column of row ids; None: that of the training data if the file has it, else row numbers from 1.
        top: write only this number of rows, best first; None: all rows, in the order of the file.
        evidence: number of nearest labelled positives to name for each row; 0: none.
        unlabeled_only: leave out the labelled rows that the model was trained on.
        prior: the share of positives among all rows of the training data, for probabilities; None: the number of hidden positives
            that the model has, if it was not withheld.
    """

    path: Path
    out: Path
    id: str | None = None
    top: int | None = None
    evidence: int = 0
    unlabeled_only: bool = False
    prior: float | None = None

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ParameterError(f"--top is a number of rows, at least 1; got {self.top}.")
        if self.evidence < 0:
            raise ParameterError(f"--evidence is a number of labelled positives; got {self.evidence}.")


@dataclass(frozen=True)
class PredictResult:
    """What was scored.

    Attributes:
        n_rows: number of rows in the file.
        n_written: number of rows written.
        n_expected: number of rows that reach the score of the expected positives in training; None: unknown.
        id: the column of row ids; None: row numbers.
        notices: notices about the file, a sentence each.
        n_own: number of rows that the model was trained on; their scores are by models that were not.
        n_left_out: number of labelled training rows that were left out.
        hidden: the number of hidden positives among the training rows that probabilities rest on, or why there are none.
    """

    n_rows: int
    n_written: int
    n_expected: int | None
    id: str | None
    notices: tuple[str, ...]
    n_own: int
    n_left_out: int
    hidden: Hidden


def score_file(
    model: SavedModel, request: PredictRequest, resources: Resources, progress: Progress = ignore_progress
) -> PredictResult:
    """Score a file and write the result; rows keep their order, and the file may be larger than memory.

    Columns are the id, or `row`, and `score`; `share`, that of the unlabeled training rows which score lower; `probability` where
    the number of hidden positives is known; with `top` `rank`; with evidence `nearest_1`, `distance_1` and so on.

    Raises:
        DataError: one sentence that names the file, column or row at fault; nothing is written then.
    """
    if request.out.exists() and request.path.exists() and request.out.samefile(request.path):
        raise DataError(f"{request.out} is the file to be scored; write the scores to another one.")
    if request.evidence and model.evidence is None:
        raise DataError("The model was saved without evidence; score without --evidence.")
    if request.unlabeled_only and (model.own_rows is None or model.own_rows.labelled is None):
        raise DataError(
            "The model does not know which rows are labelled, for want of scores of its training rows or because an older version "
            "saved it; fit it again, or score without --unlabeled-only."
        )
    hidden = _hidden_positives(model, request.prior)
    request = replace(request, id=_id_column(model, request))
    features = model.manifest.features
    encoder = Encoder(features)
    names = [*(feature.name for feature in features), *([] if request.id is None else [request.id])]
    batches = read_batches(request.path, names)
    counter = _RowCounter(model.manifest.thresholds.get("expected"))
    with open_writer(request.out) as writer:
        scored = counter.count(_score_batches(batches, model, encoder, request.id, resources), progress)
        if request.unlabeled_only:
            scored = _unlabeled(scored, counter)
        n_written = _write_rows(
            scored,
            PredictColumns(model, hidden, request.id, request.evidence, ranked=request.top is not None),
            request.top,
            writer,
        )
        if n_written == 0:
            raise DataError(
                f"All rows of {request.path} are labelled rows of the training data; none is left."
            )
    return PredictResult(
        n_rows=counter.n_rows,
        n_written=n_written,
        n_expected=counter.n_expected,
        id=request.id,
        notices=(*encoder.notices(), *_own_rows_notice(counter)),
        n_own=counter.n_own,
        n_left_out=counter.n_left_out,
        hidden=hidden,
    )


def _hidden_positives(model: SavedModel, prior: float | None) -> Hidden:
    """Return the number of hidden positives that probabilities rest on.

    Raises:
        DataError: a prior is given to a model that has no calibration, or it is impossible.
    """
    manifest = model.manifest
    if model.calibration is None:
        if prior is not None:
            raise DataError(
                "The model was saved without calibration, so that --prior is of no use; fit it again."
            )
        return Withheld("The model was saved without calibration; fit it again.")
    if prior is not None:
        return hidden_from_prior(prior, manifest.n_rows, manifest.n_labelled)
    return manifest.hidden_positives or Withheld("The model has no estimate; give a prior.")


def _own_rows_notice(counter: "_RowCounter") -> list[str]:
    if not counter.n_own:
        return []
    which = "All" if counter.n_own == counter.n_rows else f"{counter.n_own:,} of the"
    notice = (
        f"{which} {counter.n_rows:,} rows were in the training data: their scores are by models that were not trained on them, "
        "because a model remembers that its own rows counted as negative."
    )
    return [notice]


def _id_column(model: SavedModel, request: PredictRequest) -> str | None:
    known = model.manifest.id_column
    if request.id is None and known is not None and has_column(request.path, known):
        return known
    return request.id


class _RowCounter:
    """Counts the rows that pass through it, and those that reach the threshold of the expected positives."""

    def __init__(self, threshold: float | None) -> None:
        self.n_rows = 0
        self.n_own = 0
        self.n_left_out = 0
        self._n_above = 0
        self._threshold = threshold

    @property
    def n_expected(self) -> int | None:
        return None if self._threshold is None else self._n_above

    def count(self, batches: Iterator[ScoredRows], progress: Progress) -> Iterator[ScoredRows]:
        for batch in batches:
            self.n_rows += len(batch.scores)
            self.n_own += int(batch.is_own.sum())
            if self._threshold is not None:
                self._n_above += int(np.sum(batch.scores >= self._threshold))
            progress(self.n_rows)
            yield batch


def _unlabeled(scored: Iterator[ScoredRows], counter: _RowCounter) -> Iterator[ScoredRows]:
    """Yield the rows that are not known to be labelled, and count the others."""
    for batch in scored:
        kept = np.flatnonzero(~batch.is_labelled)
        counter.n_left_out += len(batch.scores) - len(kept)
        if len(kept):
            yield batch.take(kept)


def _score_batches(
    batches: Iterator[Batch], model: SavedModel, encoder: Encoder, id_column: str | None, resources: Resources
) -> Iterator[ScoredRows]:
    def encoded() -> Iterator[tuple[Table, "pyarrow.ChunkedArray | None"]]:
        for batch in batches:
            yield encoder.encode(batch), None if id_column is None else _ids(batch[id_column], id_column)

    start = 1
    for X, ids in _prefetched(encoded()):
        honest = model.honest_scores(X, resources)
        rows = np.arange(start, start + X.n_rows)
        yield ScoredRows(rows, honest.scores.values, honest.is_own, honest.is_labelled, X, ids)
        start += X.n_rows


def _ids(column: "pyarrow.ChunkedArray", name: str) -> "pyarrow.ChunkedArray":
    from pyarrow import types  # noqa: PLC0415 - heavy imports happen when used

    column = plain(column)
    kind = column.type
    if not (is_text(kind) or is_number(kind) or types.is_temporal(kind) or types.is_boolean(kind)):
        raise DataError(
            f"Column '{shown(name)}' contains {shown(str(kind))}, which cannot be an id; name another column."
        )
    return column


def _prefetched(
    items: Iterator[tuple[Table, "pyarrow.ChunkedArray | None"]],
) -> Iterator[tuple[Table, "pyarrow.ChunkedArray | None"]]:
    """Yield the items; a thread prepares the next one while the caller processes the current one."""
    with ThreadPoolExecutor(1) as pool:
        upcoming = pool.submit(next, items, None)
        while (item := upcoming.result()) is not None:
            upcoming = pool.submit(next, items, None)
            yield item


def _write_rows(
    scored: Iterator[ScoredRows], columns: PredictColumns, top: int | None, writer: RowWriter
) -> int:
    """Write all rows or the best ones, and return their number."""
    written = 0
    if top is None:
        for batch in scored:
            writer(columns.of(batch))
            written += len(batch.scores)
        return written
    best: ScoredRows | None = None
    for batch in scored:
        best = best_rows(batch if best is None else best.joined(best_rows(batch, top)), top)
    if best is None:
        return 0
    writer(columns.of(best))
    return len(best.scores)
