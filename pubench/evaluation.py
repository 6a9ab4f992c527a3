"""Judges scores on PU labels alone: how good, how sure, which of two is better.

What the answer says without truth is here; what it cannot say is in its `notes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pubench.data.columns import as_labels, as_scores, read_columns
from pubench.errors import ParameterError
from pubench.metrics.comparison import PairwiseComparison, compare_models
from pubench.metrics.inference import AULInterval, aul_pu_interval
from pubench.metrics.prior import PriorBand, corrected_auc, lee_liu_score, precision_at, recall_at
from pubench.types import BoolVector, FloatVector, Sampling

_MEANING = (
    "AUL_PU is the chance that a labelled positive scores above a random row. It orders models as AUC does if "
    "positives were labelled at random (SCAR); nothing in these columns can check that."
)


@dataclass(frozen=True)
class Question:
    """What to judge and how.

    Attributes:
        label: the column that tells labelled from unlabeled rows.
        scores: the columns to judge, the first one against the others.
        positive: the label of positives; None where it is plain.
        confidence: of the intervals.
        share: also judge the top of the list: this share of rows.
        prior: the share of positives, if somebody knows it: adds figures that depend on it.
        sampling: how the labelled rows came to be; None: both ways, since mixing them up misleads.
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
                f"--confidence lies between 0 and 1, for instance 0.95; got {self.confidence:g}."
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
            raise ParameterError(f"Column '{self.label}' can not be both the label and a score.")


@dataclass(frozen=True)
class TopShare:
    """The top `share` of the rows of one model, judged."""

    share: float
    recall: float
    lee_liu: float
    precision: PriorBand | None


@dataclass(frozen=True)
class Judgement:
    """What can be said of one model."""

    interval: AULInterval
    auc: Mapping[Sampling, PriorBand]
    top: TopShare | None


@dataclass(frozen=True)
class Evaluation:
    """The answer to a `Question`."""

    n_rows: int
    n_labelled: int
    models: Mapping[str, Judgement]
    comparisons: tuple[PairwiseComparison, ...]
    verdicts: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Scored:
    """Labels and the scores of each model, read from a file."""

    s: BoolVector
    scores: Mapping[str, FloatVector]


def read_scored(path: Path, question: Question) -> Scored:
    """Read the columns that a question names; raises `DataError` with the column and row at fault."""
    columns = read_columns(path, [question.label, *question.scores])
    s = as_labels(columns[question.label], question.label, question.positive)
    return Scored(s, {name: as_scores(columns[name], name) for name in question.scores})


def judge(scored: Scored, question: Question) -> Evaluation:
    """Judge every model on its own and, where there are several, against each other.

    Raises:
        ParameterError: the top share that was asked for is less than a row.
    """
    if question.share is not None and question.share * len(scored.s) < 1:
        raise ParameterError(f"--share {question.share:g} is less than one of the {len(scored.s):,} rows.")
    models = {name: _judge_one(scored.s, scores, question) for name, scores in scored.scores.items()}
    comparisons = (
        tuple(compare_models(scored.s, scored.scores, question.confidence)) if len(models) > 1 else ()
    )
    first = next(iter(models.values())).interval
    return Evaluation(
        n_rows=len(scored.s),
        n_labelled=int(scored.s.sum()),
        models=models,
        comparisons=comparisons,
        verdicts=tuple(verdict(pair, len(comparisons)) for pair in comparisons),
        notes=_notes(first, question),
    )


def _judge_one(s: BoolVector, scores: FloatVector, question: Question) -> Judgement:
    return Judgement(
        interval=aul_pu_interval(s, scores, question.confidence),
        auc={} if question.prior is None else _corrected(s, scores, question.prior, question.sampling),
        top=None if question.share is None else _top(s, scores, question.share, question.prior),
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
    """Say in one sentence which of two models is better, or that it cannot be told.

    With several `pairs` the p-value is Holm's, which accounts for looking at all of them; it alone decides.
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


def _notes(interval: AULInterval, question: Question) -> tuple[str, ...]:
    notes = [_MEANING]
    if interval.note:
        notes.append(interval.note)
    if question.prior is not None:
        notes.append(
            f"AUC and precision rest on the given share of positives ({question.prior:g}). Their ranges are what other "
            "shares would give, from half of it (or the labelled share, if that is more) to twice; sampling error, the "
            "width of AUL_PU's interval, comes on top."
        )
    return tuple(notes)
