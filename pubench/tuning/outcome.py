"""What a search comes to: models on rows that it never saw, with intervals, and a plain sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter

from pubench.method_api import FittedMethod
from pubench.metrics.comparison import AULComparison, compare_aul
from pubench.metrics.inference import AULInterval, aul_pu_interval
from pubench.saving.configuration import Configuration
from pubench.seeds import Seed
from pubench.tuning.sharing import Memory
from pubench.types import FloatVector, PUData, Resources

TUNED = "tuned"
DEFAULT = "default"
#: A difference counts where there would be one like it by chance in at most so many cases.
_DOUBT = 0.05


@dataclass(frozen=True, eq=False)
class Contender:
    """A configuration that was trained on all rows of the search and judged on the holdout.

    Attributes:
        configuration: in full, no draft.
        fitted: the model.
        scores: of the holdout's rows.
        interval: of its AUL_PU there.
        seconds: training took.
        is_cut: it has fewer members than it was to have, for want of time.
    """

    configuration: Configuration
    fitted: FittedMethod
    scores: FloatVector
    interval: AULInterval
    seconds: float
    is_cut: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """Contenders by name, `tuned` first, and how the others compare with it."""

    contenders: Mapping[str, Contender]
    comparisons: Mapping[str, AULComparison]
    n_labelled: int

    @property
    def verdict(self) -> str:
        """In plain sentences: whether tuning helped, and whether something simpler would have been better."""
        return " ".join([self._against_default(), *self._rivals_cut(), *self._controls_ahead()])

    def _against_default(self) -> str:
        comparison = self.comparisons.get(DEFAULT)
        if comparison is None:
            return "The model is the default configuration; tuning did not change it."
        change = f"{comparison.difference:+.4f} [{comparison.low:+.4f}, {comparison.high:+.4f}]"
        if comparison.p_value > _DOUBT:
            return (
                f"On {self.n_labelled:,} labelled rows it never saw, the tuned configuration can not be told from the default "
                f"({change}, p = {comparison.p_value:.2g}): tuning did not help, as far as these rows show."
            )
        better = "better" if comparison.difference > 0 else "worse"
        return (
            f"On {self.n_labelled:,} labelled rows it never saw, the tuned configuration is {better} than the default "
            f"({change}, p = {comparison.p_value:.2g})."
        )

    def _rivals_cut(self) -> list[str]:
        cut = [f"'{name}'" for name in self.comparisons if self.contenders[name].is_cut]
        if not cut:
            return []
        return [
            f"Mind that there was no time for all members of {' and '.join(cut)}; a longer --timeout is fairer."
        ]

    def _controls_ahead(self) -> list[str]:
        return [
            f"Mind that '{name}' ranks these rows better than the tuned model ({-one.difference:+.4f}, "
            f"p = {one.p_value:.2g})."
            for name, one in self.comparisons.items()
            if name != DEFAULT and one.difference < 0 and one.p_value <= _DOUBT
        ]


def contend(
    configuration: Configuration, memory: Memory, test: PUData, seed: Seed, resources: Resources
) -> Contender:
    """Train a configuration on all rows of the search and judge it on the holdout, from PU labels alone."""
    start = perf_counter()
    fitted = configuration.method.fit(
        memory.training[0], memory.parts(0, configuration.parts), seed, resources
    )
    seconds = perf_counter() - start
    scores = fitted.score(test.X, resources).values
    return Contender(configuration, fitted, scores, aul_pu_interval(test.s, scores), seconds)


def compare(contenders: Mapping[str, Contender], test: PUData) -> Outcome:
    """Return how the tuned contender compares with each of the others; those of an equal configuration are left out."""
    tuned = contenders[TUNED]
    others = {name: one for name, one in contenders.items() if one is not tuned}
    comparisons = {name: compare_aul(test.s, tuned.scores, one.scores) for name, one in others.items()}
    return Outcome(contenders, comparisons, int(test.s.sum()))
