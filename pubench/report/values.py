"""Every value that the report of a tuning run shows, and how it is computed from the run's result."""

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from pubench.api.method import FittedMethod
from pubench.decision.calibration import Calibration, ReliabilityBin, reliability
from pubench.decision.hidden_positives import HiddenPositives
from pubench.metrics.scar_diagnostic import SCARDiagnostic
from pubench.neighbors.k_choice import KChoice
from pubench.tuning.final_models import DEFAULT, TUNED, HoldoutResult
from pubench.tuning.result import TuneResult
from pubench.types import BoolVector, FloatVector, PUData, Split, Table

if TYPE_CHECKING:
    import optuna

#: Importance compares the best tenth of the trials with all; with fewer trials that tenth is one or two.
_MIN_TRIALS = 20
#: With more features the SCAR diagnostic takes a noticeable share of a run's time: it solves equations of 3 x n_features.
_MAX_DIAGNOSED_FEATURES = 200
#: Groups of fewer labelled rows say nothing about the share of positives; more groups are not seen better.
_LABELLED_PER_GROUP, _MOST_GROUPS = 10, 8
#: Enough to reject at 5%, and a matter of seconds at any number of rows.
_PERMUTATIONS = 49


@dataclass(frozen=True)
class ReportSubject:
    """The data set that a report is about.

    Attributes:
        name: of the data set.
        title: one line that describes its rows and positives; empty for a file.
        stand_in: it is synthetic and replaces data that is not public.
        note: what a reader of the results has to know; empty if there is nothing.
        source: where the data comes from; empty for a file.
        file: the data set's file, as it was named; empty for a registered data set.
    """

    name: str
    title: str = ""
    stand_in: bool = False
    note: str = ""
    source: str = ""
    file: str = ""


@dataclass(frozen=True)
class Provenance:
    """What is needed to repeat a run.

    Attributes:
        day: on which the run ended.
        command: the command line, word by word; secrets in URLs are masked when it is shown.
        versions: of Python and the libraries, by name.
        machine: a short description.
        configuration: the tuned configuration as TOML.
    """

    day: date
    command: tuple[str, ...]
    versions: Mapping[str, str]
    machine: str
    configuration: str


@dataclass(frozen=True)
class ReportFacts:
    """The data in numbers.

    Attributes:
        rows, labelled: number of all rows, and of the labelled ones.
        searched, searched_labelled: the same of the rows that the search used.
        kinds: number of features of each kind.
        missing: share of missing values.
        incomplete: number of features with missing values.
    """

    rows: int
    labelled: int
    searched: int
    searched_labelled: int
    kinds: Mapping[str, int]
    missing: float
    incomplete: int


@dataclass(frozen=True, eq=False)
class NeighbourCurve:
    """E_k of a model whose similarity counts neighbours.

    Attributes:
        contender: name of the contender that the model belongs to.
        k: number of neighbours in use.
        choice: the curve, and the k that the rule chooses from it.
    """

    contender: str
    k: int
    choice: KChoice

    @property
    def is_given(self) -> bool:
        """Whether k is a parameter's value that differs from the rule's choice."""
        return self.k != self.choice.k


@dataclass(frozen=True, eq=False)
class Report:
    """Every value on the page.

    Attributes:
        subject: the data set.
        provenance: what is needed to repeat the run.
        facts: the data in numbers.
        result: of the run.
        s: which rows of the holdout are labelled.
        features: name -> importance in the tuned model; empty if unknown.
        parameters: name -> share of all parameters' importance; empty if there are too few trials.
        neighbours: None if no similarity counts neighbours.
        scar: whether labelling looks random; None if it was not tested.
        reliability: probabilities beside what labelled positives imply, on the holdout; empty without probabilities.
    """

    subject: ReportSubject
    provenance: Provenance
    facts: ReportFacts
    result: TuneResult
    s: BoolVector
    features: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    neighbours: NeighbourCurve | None = None
    scar: SCARDiagnostic | None = None
    reliability: tuple[ReliabilityBin, ...] = ()


def make_report(
    subject: ReportSubject,
    provenance: Provenance,
    result: TuneResult,
    parameters: Mapping[str, float],
) -> Report:
    """Return the report of a run.

    Args:
        subject: the data set.
        provenance: what is needed to repeat the run.
        result: of the run.
        parameters: `parameter_importances` of its study.
    """
    holdout = result.data.take(result.split.test)
    return Report(
        subject=subject,
        provenance=provenance,
        facts=_facts(result.data, result.split),
        result=result,
        s=holdout.s,
        features=_feature_importances(result.tuned.fitted, result.data.X),
        parameters=parameters,
        neighbours=_neighbour_curve(result.holdout),
        scar=_scar(holdout, result.tuned.scores),
        reliability=_reliability(result, holdout.s),
    )


def parameter_importances(study: "optuna.Study") -> dict[str, float]:
    """Return each parameter's share in what distinguishes the best trials, largest first; the shares sum to 1.

    Optuna's conditional PED-ANOVA, which knows that a learner's parameters exist only where that learner is chosen.
    Parameters of no importance are omitted; with fewer than 20 complete trials the result is empty.
    """
    from optuna.importance import get_param_importances  # noqa: PLC0415 - heavy imports happen when used
    from optuna.trial import TrialState  # noqa: PLC0415

    if len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))) < _MIN_TRIALS:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it omits each parameter that a single trial had, with a warning
        shares = get_param_importances(study, normalize=False)
    total = sum(shares.values())
    return {name: float(share / total) for name, share in shares.items() if share > 0}


def _facts(data: PUData, split: Split) -> ReportFacts:
    missing = np.isnan(data.X.values)
    return ReportFacts(
        rows=data.X.n_rows,
        labelled=data.n_labelled,
        searched=len(split.train),
        searched_labelled=int(data.s[split.train].sum()),
        kinds=dict(Counter(feature.kind for feature in data.X.features)),
        missing=float(missing.mean()),
        incomplete=int(missing.any(axis=0).sum()),
    )


def _feature_importances(fitted: FittedMethod, X: Table) -> dict[str, float]:
    importances = fitted.importances()
    if importances is None or not importances.any():
        return {}
    return {feature.name: float(share) for feature, share in zip(X.features, importances, strict=True)}


def _neighbour_curve(holdout: HoldoutResult) -> NeighbourCurve | None:
    """Return E_k of the tuned model, or else of the default one, if its similarity counts neighbours."""
    for name in (TUNED, DEFAULT):
        contender = holdout.contenders.get(name)
        choice = None if contender is None else contender.fitted.k_choice
        if contender is not None and choice is not None:
            k = contender.fitted.chosen.get("k")
            return NeighbourCurve(name, k if isinstance(k, int) else choice.k, choice)
    return None


def _scar(holdout: PUData, scores: FloatVector) -> SCARDiagnostic | None:
    """Return whether labelling looks random on rows that the tuned model never saw; None where that is expensive."""
    from pubench.metrics.scar_diagnostic import scar_diagnostic  # noqa: PLC0415 - heavy imports happen when used

    if holdout.X.n_features > _MAX_DIAGNOSED_FEATURES:
        return None
    return scar_diagnostic(holdout.X.values, holdout.s, scores, n_permutations=_PERMUTATIONS)


def _reliability(result: TuneResult, s: BoolVector) -> tuple[ReliabilityBin, ...]:
    """Return the reliability of probabilities that were calibrated on the rows of the search, judged on the holdout."""
    shipped, groups = result.shipped, min(int(s.sum()) // _LABELLED_PER_GROUP, _MOST_GROUPS)
    if not isinstance(result.hidden, HiddenPositives) or shipped.own_scores is None or groups < 2:
        return ()
    rows = ~np.isin(shipped.rows, result.split.test)
    calibration = Calibration.of(shipped.data.s[rows], shipped.own_scores[rows])
    hidden = result.hidden.scaled(calibration.n_unlabeled / result.call_table.n_unlabeled)
    return reliability(calibration, s, result.tuned.scores, hidden, bins=groups)
