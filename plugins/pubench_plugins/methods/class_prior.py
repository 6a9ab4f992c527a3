"""The share of positives, for methods that need it: given, estimated, or equal to the labelled share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pubench import (
    Choice,
    Float,
    Json,
    NotApplicableError,
    Parts,
    PUData,
    Resources,
    Seed,
    Trainer,
    best_bin_prior,
    prior_in_all,
    prior_in_unlabeled,
)
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.methods.out_of_fold import out_of_fold

#: The parameters of a method that needs a prior; not searched, since they are facts of the data.
PRIOR_SPACE: Mapping[str, Choice | Float] = {
    "prior_from": Choice(
        ("estimated", "labelled-share", "given"),
        default="estimated",
        tuned=False,
        help="where the share of positives comes from",
    ),
    "prior": Float(
        1e-6,
        0.999,
        default=0.01,
        log=True,
        tuned=False,
        help="share of positives among all rows, labelled ones included",
        when=("prior_from", "given"),
    ),
}
_FOLDS = 3


@dataclass(frozen=True)
class ResolvedPrior:
    """The share of positives of one table, by both definitions.

    Attributes:
        prior_in_all: among all rows, labelled ones included.
        prior_in_unlabeled: among the unlabeled rows alone, which nnPU and PU-AUC need; strictly between 0 and 1: at
            least one unlabeled row counts as positive, and one as negative.
        source: a sentence on its origin.
    """

    prior_in_all: float
    prior_in_unlabeled: float
    source: str

    @property
    def decided(self) -> dict[str, Json]:
        """The entries of a fitted method's `chosen`."""
        return {
            "prior": self.prior_in_all,
            "prior_in_unlabeled": self.prior_in_unlabeled,
            "prior_source": self.source,
        }


def resolve_prior(
    params: Mapping[str, Any], data: PUData, parts: Parts, seed: Seed, resources: Resources
) -> ResolvedPrior:
    """Return the prior by the parameters of `PRIOR_SPACE`.

    - "given": `prior`, the share of positives among all rows.
    - "estimated": best bin estimation on out-of-fold scores of the learner in `parts`, or of logistic regression where
      there is none.
    - "labelled-share": the share of positives among unlabeled rows is that of labelled rows among all, the paper's choice where
      nothing is known: pi_U = a.

    Raises:
        NotApplicableError: the given prior is below the labelled share, or there are too few rows for an estimate.
    """
    share = data.n_labelled / data.X.n_rows
    origin = params["prior_from"]
    if origin == "given":
        return _given(params["prior"], data, share)
    if origin == "labelled-share":
        source = "The labelled share of the rows is taken for the share of positives among unlabeled rows."
        return _resolved(prior_in_all(share, share), data, source)
    estimate, source = _estimated(data, parts, seed.child("prior"), resources)
    return _resolved(estimate, data, source)


def _given(prior: float, data: PUData, share: float) -> ResolvedPrior:
    if prior < share:
        raise NotApplicableError(
            f"The given prior of {prior:g} is impossible: {share:g} of the rows are labelled positive already."
        )
    return _resolved(prior, data, "The share of positives was given.")


def _estimated(data: PUData, parts: Parts, seed: Seed, resources: Resources) -> tuple[float, str]:
    if parts.learner is None:
        trainer, ranked_by = Trainer.of(Logistic(), data.X, resources), Logistic.name
    else:
        trainer, ranked_by = parts.trainer(data.X, resources), parts.learner.name
    scores = out_of_fold(trainer, data, _FOLDS, seed, resources)
    found = best_bin_prior(data.s, scores, seed)
    source = (
        f"The share of positives was estimated by {found.method} on out-of-fold scores of {ranked_by}: "
        f"{found.prior:.4g}, 95% interval {found.low:.4g} to {found.high:.4g}."
    )
    return found.prior, source


def _resolved(prior: float, data: PUData, source: str) -> ResolvedPrior:
    n_unlabeled = data.X.n_rows - data.n_labelled
    share = data.n_labelled / data.X.n_rows
    one_row = 1 / (n_unlabeled + 1)
    inside = min(max(prior_in_unlabeled(prior, share), one_row), 1 - one_row)
    return ResolvedPrior(prior_in_all(inside, share), inside, source)
