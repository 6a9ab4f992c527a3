"""The simulated rows of the pictures, with true labels."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import Labelling, Seed, Table, Truth, aul_from_auc, aul_pu_score, draw_view

Rows: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_PRIOR = 0.05
_SHIFT = 1.5  # of the scores of positives, in standard deviations
#: AUC = Phi(shift / sqrt 2) for Gaussian scores.
_TRUE_AUC = 0.8556
TRUE_AUL = aul_from_auc(_TRUE_AUC, _PRIOR)
SEARCHES = 120


_SEED = Seed(0).child("docs")


def customers() -> tuple[Rows, Flags, Flags]:
    """Return points in the plane, their true labels, and their observed labels: half of the positives."""
    generator = _SEED.child("customers").generator()
    truth = np.arange(1200) < 60
    rows = generator.normal(size=(1200, 2))
    rows[truth] = generator.normal([1.9, 1.7], 0.5, size=(60, 2))
    labelled = np.zeros(1200, dtype=np.bool_)
    labelled[generator.permutation(60)[:30]] = True
    return rows, truth, labelled


def two_models() -> tuple[Flags, Flags, Rows, Rows]:
    """Return truth, labels, and the scores of a good and of a weak model."""
    generator = _SEED.child("two models").generator()
    truth = generator.random(20_000) < 0.02
    labelled = truth & (generator.random(20_000) < 0.5)
    return truth, labelled, generator.normal(2.0 * truth), generator.normal(0.8 * truth)


def models_of_all_kinds(prior: float) -> Iterator[tuple[Flags, Flags, Rows]]:
    """Yield truth, labels and scores of models from useless to nearly perfect."""
    for number, shift in enumerate(np.linspace(0.1, 4.0, 9)):
        generator = _SEED.child("kinds", number, str(prior)).generator()
        truth = generator.random(40_000) < prior
        labelled = truth & (generator.random(40_000) < 0.5)
        yield truth, labelled, generator.normal(shift * truth)


def tables_with(labelled_rows: int) -> Iterator[tuple[Flags, Rows]]:
    """Yield labels and scores of eight tables with this number of labelled positives, of a model of `TRUE_AUL`."""
    for number in range(8):
        generator = _SEED.child("few", labelled_rows, number).generator()
        rows = max(4000, 40 * labelled_rows)
        truth = np.arange(rows) < round(_PRIOR * rows)
        yield np.arange(rows) < labelled_rows, generator.normal(_SHIFT * truth)


def models_under(labelling: str) -> Iterator[tuple[Flags, Flags, Rows]]:
    """Yield truth, labels and scores of models of a table that is labelled at random, or by class probability."""
    generator = _SEED.child("scar").generator()
    X = generator.normal(size=(15_000, 2))
    truth = Truth(generator.random(15_000) < 1 / (1 + np.exp(4.5 - 1.5 * X.sum(axis=1))))
    kind = (
        Labelling(0.4)
        if labelling == "scar"
        else Labelling(0.4, "probability", "rising" if labelling == "rising" else "falling")
    )
    labelled = draw_view(Table.from_array(X), truth, kind, Seed(0)).data.s
    for noise in (8.0, 3.0, 1.6, 0.9, 0.0):
        yield truth.y, labelled, X.sum(axis=1) + noise * generator.normal(size=15_000)


def searches() -> tuple[list[int], list[float], list[float]]:
    """Return numbers of trials and the winner's mean AUL_PU, in the search and on a holdout, over `SEARCHES` searches.

    The trials are equally good models of `TRUE_AUL` with independent errors; they are evaluated on 40 labelled positives
    in the search, and the winner on 40 others on the holdout.
    """
    counts = [1, 3, 10, 50]
    winners = np.array([_winners(counts, number) for number in range(SEARCHES)])
    inner, outer = winners.mean(axis=0).T
    return counts, inner.tolist(), outer.tolist()


def _winners(counts: list[int], number: int) -> list[tuple[float, float]]:
    seed = _SEED.child("search", number)
    inner = [_score_of_trial(seed.child("trial", trial)) for trial in range(counts[-1])]
    return [(max(inner[:count]), _score_of_trial(seed.child("holdout", count))) for count in counts]


def _score_of_trial(seed: Seed) -> float:
    """Return the AUL_PU of a trial on rows of which half of the positives are labelled."""
    truth = np.arange(round(80 / _PRIOR)) < 80
    return aul_pu_score(np.arange(len(truth)) < 40, seed.generator().normal(_SHIFT * truth))
