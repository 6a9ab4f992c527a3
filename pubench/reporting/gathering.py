"""From a run's values to a report."""

import warnings
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pubench.method_api import FittedMethod
from pubench.neighbors.result import PositiveNeighbors
from pubench.neighbors.selection import KChoice, choose_k
from pubench.reporting.report import Facts, Neighbours, Provenance, Report, Subject
from pubench.tuning.outcome import DEFAULT, TUNED, Outcome
from pubench.tuning.run import Found
from pubench.types import PUData, Split, Table

if TYPE_CHECKING:
    import optuna

    from pubench.metrics.scar import SCARDiagnostic

#: Importance compares the best tenth of the trials with all: with fewer than these, the tenth is one or two.
_FEWEST_TRIALS = 20
#: With more features the diagnostic would be a noticeable part of a run's time: it solves equations of thrice as many.
_MOST_DIAGNOSED = 200
#: Enough to reject at 5%, and seconds at any number of rows.
_PERMUTATIONS = 49


def gather(
    subject: Subject,
    provenance: Provenance,
    data: PUData,
    found: Found,
    parameters: dict[str, float],
    notices: tuple[str, ...] = (),
) -> Report:
    """Return the report of a run over `data`, all rows of it; `parameters` is `parameter_importances` of its study."""
    holdout = data.take(found.split.test)
    tuned = found.outcome.contenders[TUNED]
    return Report(
        subject=subject,
        provenance=provenance,
        facts=facts_of(data, found.split),
        found=found,
        s=holdout.s,
        features=_feature_importances(tuned.fitted, data.X),
        parameters=parameters,
        neighbours=_neighbours(found.outcome),
        scar=_diagnosed(holdout, found.outcome),
        notices=notices,
    )


def facts_of(data: PUData, split: Split) -> Facts:
    """Return the data in numbers."""
    missing = np.isnan(data.X.values)
    return Facts(
        rows=data.X.n_rows,
        labelled=data.n_labelled,
        searched=len(split.train),
        searched_labelled=int(data.s[split.train].sum()),
        kinds=dict(Counter(feature.kind for feature in data.X.features)),
        missing=float(missing.mean()),
        incomplete=int(missing.any(axis=0).sum()),
    )


def parameter_importances(study: "optuna.Study") -> dict[str, float]:
    """Return the share that each parameter has in what sets the best trials apart, largest first, 1 in all.

    Optuna's conditional PED-ANOVA, which knows that a learner's parameters only exist where it is the learner.
    Parameters of no importance are left out; with fewer than 20 trials that have a value, all are.
    """
    from optuna.importance import get_param_importances  # noqa: PLC0415 - heavy imports happen when used
    from optuna.trial import TrialState  # noqa: PLC0415

    if len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))) < _FEWEST_TRIALS:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # it warns of each parameter that a single trial had, and leaves it out
        shares = get_param_importances(study, normalize=False)
    total = sum(shares.values())
    return {name: float(share / total) for name, share in shares.items() if share > 0}


def _feature_importances(fitted: FittedMethod, X: Table) -> dict[str, float]:
    importances = fitted.importances()
    if importances is None or not importances.any():
        return {}
    return {feature.name: float(share) for feature, share in zip(X.features, importances, strict=True)}


def _neighbours(outcome: Outcome) -> Neighbours | None:
    """Return E_k of the tuned model, or else of the default one, if it has a similarity that counts neighbours."""
    for owner in (TUNED, DEFAULT):
        contender = outcome.contenders.get(owner)
        # Any plugin may keep such things under these names; the core knows none of them.
        similarity = getattr(getattr(contender and contender.fitted, "related", None), "similarity", None)
        neighbors, k = getattr(similarity, "neighbors", None), getattr(similarity, "k", None)
        if isinstance(neighbors, PositiveNeighbors) and isinstance(k, int):
            choice = getattr(similarity, "choice", None)
            read_off = choice if isinstance(choice, KChoice) else choose_k(neighbors.expected_positives())
            return Neighbours(owner, k, read_off is not choice, read_off)
    return None


def _diagnosed(holdout: PUData, outcome: Outcome) -> "SCARDiagnostic | None":
    """Return whether labelling looks random on rows that the tuned model never saw; None where that is dear."""
    from pubench.metrics.scar import scar_diagnostic  # noqa: PLC0415 - heavy imports happen when used

    if holdout.X.n_features > _MOST_DIAGNOSED:
        return None
    return scar_diagnostic(
        holdout.X.values, holdout.s, outcome.contenders[TUNED].scores, n_permutations=_PERMUTATIONS
    )
