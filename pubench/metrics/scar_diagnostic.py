"""Does labelling look random among likely positives?

Everything label-free rests on SCAR: P(s=1|x) = c P(y=1|x), a positive is labelled by pure chance. If the score orders
rows by P(y=1|x), then under SCAR s does not depend on x once the score is known. That can be tested: among rows of
about the same score, features must not distinguish labelled from unlabeled rows.

What it cannot detect: labelling that depends on the score itself, for instance of the most obvious cases alone.
It also rejects where the score misses information that the features have.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from pubench.errors import DataError, ParameterError
from pubench.metrics.ranks import check_labels, check_same_length, check_scores
from pubench.seeds import Seed
from pubench.types import BoolVector, FloatVector, IndexVector

_MOST_ROWS = 20_000  # seconds, not minutes, on a table of a million rows
_FEWEST_LABELLED = 10
_FOLDS = 5
_RIDGE = 0.01  # penalty per row on standardised features: enough for twins among the columns
_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class SCARDiagnostic:
    """The answer of `scar_diagnostic`.

    Attributes:
        statistic: AUC of separating labelled from unlabeled likely positives of about the same score; 1/2 is chance.
        p_value: of the hypothesis that they cannot be separated, one-sided.
        n_rows: number of likely positives.
        n_labelled: number of labelled ones among them.
        sentence: what the result means and what it does not mean.
    """

    statistic: float
    p_value: float
    n_rows: int
    n_labelled: int
    sentence: str


def scar_diagnostic(
    X: npt.ArrayLike,
    s: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    n_strata: int = 10,
    likely_factor: float = 20.0,
    n_permutations: int = 199,
    random_state: int = 0,
) -> SCARDiagnostic:
    """Test whether labelling depends on features beyond the score.

    Takes the likely positives: the top rows by score that hold half of the labelled positives, at most
    `likely_factor` rows per labelled positive and 20,000 in all. Cuts them into `n_strata` of about the same score,
    takes the trend along the score out of the features within each, and predicts s out of fold by ridge regression on
    ranked features, their squares and what is missing. The statistic is the AUC within strata. The p-value comes from
    permuting s within strata, the whole procedure repeated for each permutation.

    Args:
        X: shape (n, d), numeric, NaN for missing.
        s: shape (n,), labels as in `aul_pu_score`.
        scores: shape (n,), scores as in `aul_pu_score`; best out-of-fold ones, or they know s too well.
        n_strata: number of strata, at least 1.
        likely_factor: rows per labelled positive at most.
        n_permutations: number of permutations, at least 1; the p-value is at least 1 / (n_permutations + 1).
        random_state: seed; the same seed gives the same answer.

    Raises:
        DataError: the arrays are not as described.
        ParameterError: a number is out of its range.
    """
    if n_strata < 1 or n_permutations < 1 or likely_factor < 1:
        raise ParameterError("n_strata, n_permutations and likely_factor must be at least 1.")
    features, labelled, values = _checked(X, s, scores)
    seed = Seed(random_state).child("scar")
    rows = _likely_positives(labelled, values, likely_factor, seed)
    observed = labelled[rows]
    if observed.sum() < _FEWEST_LABELLED or observed.all():
        return _too_few(observed)
    stratum = np.arange(len(rows)) * n_strata // len(rows)
    permuted = _permuted_labels(observed, stratum, n_permutations, seed)
    predictors = _without_trend(_basis(features[rows].astype(np.float64)), stratum)
    fold = seed.child("fold").generator().permutation(len(rows)) % _FOLDS
    predicted = _out_of_fold(predictors, permuted, stratum, fold)
    statistics = _auc_within(stratum * _FOLDS + fold, predicted, permuted)
    p_value = float(np.mean(statistics >= statistics[0] - 1e-12))
    return _diagnostic(float(statistics[0]), p_value, observed)


def _checked(
    X: npt.ArrayLike, s: npt.ArrayLike, scores: npt.ArrayLike
) -> tuple[npt.NDArray[np.generic], BoolVector, FloatVector]:
    features = np.asarray(X)
    if features.ndim != 2 or features.shape[1] == 0 or features.dtype.kind not in "biuf":
        raise DataError(
            f"X must be a numeric matrix with at least one column; got {features.dtype}, shape {features.shape}."
        )
    labelled, values = check_labels(s), check_scores(scores)
    check_same_length(X=features, s=labelled, scores=values)
    return features, labelled, values


def _likely_positives(labelled: BoolVector, scores: FloatVector, factor: float, seed: Seed) -> IndexVector:
    # Ties fall in random order: in the file's order, labelled rows might come first.
    shuffled = seed.child("ties").generator().permutation(len(scores))
    descending = shuffled[np.argsort(scores[shuffled], kind="stable")[::-1]]
    found = np.cumsum(labelled[descending])
    half = int(np.searchsorted(found, found[-1] / 2)) + 1
    return descending[: min(half, int(factor * found[-1]), _MOST_ROWS)]


def _permuted_labels(
    observed: BoolVector, stratum: IndexVector, n_permutations: int, seed: Seed
) -> FloatVector:
    """Return shape (n, 1 + n_permutations): the observed labels, then permutations of them within strata."""
    keys = seed.child("permutation").generator().random((len(observed), n_permutations))
    order = np.argsort(keys + stratum[:, np.newaxis], axis=0)  # strata are contiguous and stay in place
    return np.column_stack([observed, observed[order]]).astype(np.float64)


def _basis(features: FloatVector) -> FloatVector:
    """Return ranks, their squares and indicators of missing values, standardised; a missing rank is the median."""
    missing = np.isnan(features)
    counts = np.maximum(1, np.sum(~missing, axis=0))
    ranks = rankdata(features, axis=0, nan_policy="omit") / counts - (counts + 1) / (2 * counts)
    ranks = np.where(missing, 0.0, ranks)
    columns = np.hstack([ranks, ranks**2, missing[:, missing.any(axis=0)]])
    spread = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _without_trend(columns: FloatVector, stratum: IndexVector) -> FloatVector:
    # Rows of a stratum still differ a little in score; what follows that line is the score's, not the features'.
    result = np.empty_like(columns)
    for rows in _members(stratum):
        centred = columns[rows] - columns[rows].mean(axis=0)
        line = np.arange(len(rows)) - (len(rows) - 1) / 2
        slope = line @ centred / max(1.0, float(line @ line))
        result[rows] = centred - np.outer(line, slope)
    return result


def _out_of_fold(
    predictors: FloatVector, labels: FloatVector, stratum: IndexVector, fold: IndexVector
) -> FloatVector:
    """Return ridge predictions for each column of labels, each row predicted from the other folds."""
    # Permuting within strata leaves their means as they are: one column of means serves all.
    means = np.bincount(stratum, weights=labels[:, 0]) / np.bincount(stratum)
    targets = labels - means[stratum][:, np.newaxis]
    penalty = _RIDGE * len(labels) * np.eye(predictors.shape[1])
    predicted = np.empty_like(labels)
    for rows in _members(fold):
        train = np.delete(np.arange(len(labels)), rows)
        gram = predictors[train].T @ predictors[train] + penalty
        predicted[rows] = predictors[rows] @ np.linalg.solve(gram, predictors[train].T @ targets[train])
    return predicted


def _auc_within(cell: IndexVector, predicted: FloatVector, labels: FloatVector) -> FloatVector:
    """Return shape (columns,): pairs of one cell won by the labelled row, ties half, over all such pairs."""
    won, pairs = np.zeros(labels.shape[1]), np.zeros(labels.shape[1])
    for rows in _members(cell):
        positives = labels[rows].sum(axis=0)
        ranks = rankdata(predicted[rows], axis=0)
        won += np.sum(ranks * labels[rows], axis=0) - positives * (positives + 1) / 2
        pairs += positives * (len(rows) - positives)
    return np.where(pairs > 0, won / np.maximum(pairs, 1.0), 0.5)


def _members(group: IndexVector) -> list[IndexVector]:
    return [np.flatnonzero(group == value) for value in np.unique(group)]


def _too_few(observed: BoolVector) -> SCARDiagnostic:
    sentence = (
        f"Among the {len(observed)} highest-scored rows {int(observed.sum())} are labelled: "
        "too few of one kind to tell whether labelling is random."
    )
    return SCARDiagnostic(0.5, 1.0, len(observed), int(observed.sum()), sentence)


def _diagnostic(statistic: float, p_value: float, observed: BoolVector) -> SCARDiagnostic:
    n_rows, n_labelled = len(observed), int(observed.sum())
    found = f"Among the {n_rows} highest-scored rows ({n_labelled} labelled), comparing rows of about the same score, "
    figures = f"(AUC {statistic:.3f}, p = {p_value:.3g})"
    if p_value <= _SIGNIFICANT:
        sentence = (
            f"{found}the features tell labelled from unlabeled ones {figures}: either labelling is not random among "
            "positives (SCAR fails), or the score misses something that the features know; do not take label-free "
            "figures at face value before you know which."
        )
    else:
        sentence = (
            f"{found}the features do not tell labelled from unlabeled ones {figures}: no sign against random "
            "labelling (SCAR), which is not a proof of it; labelling that favours high or low scores cannot be seen "
            "this way."
        )
    return SCARDiagnostic(statistic, p_value, n_rows, n_labelled, sentence)
