"""Evaluates scores on PU labels: AUL_PU with its interval, and which of several models is better.

No true labels are needed; the `notes` of a result say what it cannot tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pubench.data.label_columns import parse_labels, parse_scores, read_columns
from pubench.errors import ParameterError
from pubench.metrics.comparison import PairwiseComparison, compare_models
from pubench.metrics.intervals import AULInterval, aul_pu_interval
from pubench.metrics.prior_corrected import PriorBand, corrected_auc, lee_liu_score, precision_at, recall_at
from pubench.types import BoolVector, FloatVector, Sampling

_MEANING = (
    "AUL_PU is the probability that a labelled positive scores above a random row. It orders models as AUC does if "
    "positives were labelled at random (SCAR); these columns cannot show whether they were."
)


@dataclass(frozen=True)
class EvaluationRequest:
    """Which columns to evaluate, and how.

    Attributes:
        label: the column that marks labelled positives.
        scores: the columns of scores; the first one is compared with the others.
        positive: the label of positives; None if it is 1 or true.
        confidence: of the intervals.
        share: also evaluate the top of the ranking: this share of rows.
        prior: the share of positives, if known: adds figures that depend on it.
        sampling: how the labelled rows were sampled; None: report both ways, as confusing them would be misleading.
    """

    label: str
    scores: tuple[str, ...]
    positive: str | None = None
    confidence: float = 0.95
    share: float | None = None
    prior: float | None = None
    sampling: Sampling | None = None

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ParameterError(
                f"--confidence lies between 0 and 1, for example 0.95; got {self.confidence:g}."
            )
        if self.share is not None and not 0 < self.share <= 1:
            raise ParameterError(f"--share is a share of rows above 0 and up to 1; got {self.share:g}.")
        if self.prior is not None and not 0 < self.prior < 1:
            raise ParameterError(f"--prior is a share between 0 and 1; got {self.prior:g}.")
        if self.sampling is not None and self.prior is None:
            raise ParameterError("--sampling says what --prior is a share of; give --prior too.")
        if len(set(self.scores)) < len(self.scores):
            raise ParameterError("The same score column is named twice; there is nothing to compare.")
        if self.label in self.scores:
            raise ParameterError(f"Column '{self.label}' cannot be both the label and a score.")


@dataclass(frozen=True)
class TopShare:
    """The metrics of the top `share` of rows of one model."""

    share: float
    recall: float
    lee_liu: float
    precision: PriorBand | None


@dataclass(frozen=True)
class ModelEvaluation:
    """The metrics of one model."""

    interval: AULInterval
    auc: Mapping[Sampling, PriorBand]
    top: TopShare | None


@dataclass(frozen=True)
class EvaluationResult:
    """The answer to an `EvaluationRequest`; `verdicts` has a sentence per comparison."""

    n_rows: int
    n_labelled: int
    models: Mapping[str, ModelEvaluation]
    comparisons: tuple[PairwiseComparison, ...]
    verdicts: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ScoreColumns:
    """Labels and the scores of each model, read from a file."""

    s: BoolVector
    scores: Mapping[str, FloatVector]


def read_scores(path: Path, request: EvaluationRequest) -> ScoreColumns:
    """Read the columns that a request names; raises `DataError` with the column and row at fault."""
    columns = read_columns(path, [request.label, *request.scores])
    s = parse_labels(columns[request.label], request.label, request.positive)
    return ScoreColumns(s, {name: parse_scores(columns[name], name) for name in request.scores})


def evaluate(columns: ScoreColumns, request: EvaluationRequest) -> EvaluationResult:
    """Evaluate every model on its own and, if there are several, compare all pairs.

    Raises:
        ParameterError: the requested top share is less than one row.
    """
    if request.share is not None and request.share * len(columns.s) < 1:
        raise ParameterError(f"--share {request.share:g} is less than one of the {len(columns.s):,} rows.")
    models = {name: _evaluate_model(columns.s, scores, request) for name, scores in columns.scores.items()}
    comparisons = (
        tuple(compare_models(columns.s, columns.scores, request.confidence)) if len(models) > 1 else ()
    )
    first = next(iter(models.values())).interval
    return EvaluationResult(
        n_rows=len(columns.s),
        n_labelled=int(columns.s.sum()),
        models=models,
        comparisons=comparisons,
        verdicts=tuple(verdict(pair, len(comparisons)) for pair in comparisons),
        notes=_notes(first, request),
    )


def _evaluate_model(s: BoolVector, scores: FloatVector, request: EvaluationRequest) -> ModelEvaluation:
    return ModelEvaluation(
        interval=aul_pu_interval(s, scores, request.confidence),
        auc={} if request.prior is None else _corrected(s, scores, request.prior, request.sampling),
        top=None if request.share is None else _top(s, scores, request.share, request.prior),
    )


def _corrected(
    s: BoolVector, scores: FloatVector, prior: float, sampling: Sampling | None
) -> dict[Sampling, PriorBand]:
    ways = get_args(Sampling) if sampling is None else (sampling,)
    return {way: corrected_auc(s, scores, prior, sampling=way) for way in ways}


def _top(s: BoolVector, scores: FloatVector, share: float, prior: float | None) -> TopShare:
    return TopShare(
        share=share,
        recall=recall_at(s, scores, share),
        lee_liu=lee_liu_score(s, scores, share),
        precision=None if prior is None else precision_at(s, scores, share, prior),
    )


def verdict(pair: PairwiseComparison, pairs: int = 1) -> str:
    """Return a sentence that says which of two models is better, or that it cannot be told.

    With several `pairs` only Holm's p-value counts, which corrects for the number of comparisons.
    """
    result = pair.comparison
    evidence = (
        f"{percent(result.confidence)} interval of the difference {result.low:+.4f} to {result.high:+.4f}"
    )
    if pairs == 1:
        evidence += f", p = {pair.p_holm:.2g}"
    else:
        evidence += f" for this pair alone; p = {pair.p_holm:.2g} after Holm's correction for {pairs} pairs"
    if pair.p_holm < 1 - result.confidence:
        better, worse = (pair.a, pair.b) if result.difference > 0 else (pair.b, pair.a)
        return f"{better} ranks positives higher than {worse} by {abs(result.difference):.4f} ({evidence})."
    return f"It cannot be told whether {pair.a} or {pair.b} is better ({evidence})."


def percent(share: float) -> str:
    """Return 0.95 as 95% and 0.999 as 99.9%."""
    return f"{100 * share:.6g}%"


def _notes(interval: AULInterval, request: EvaluationRequest) -> tuple[str, ...]:
    notes = [_MEANING]
    if interval.note:
        notes.append(interval.note)
    if request.prior is not None:
        notes.append(
            f"AUC and precision depend on the given share of positives ({request.prior:g}). Their ranges are the values for "
            "other shares, from half of it (or the labelled share, if that is more) to twice; sampling error, the width "
            "of AUL_PU's interval, comes in addition."
        )
    return tuple(notes)
