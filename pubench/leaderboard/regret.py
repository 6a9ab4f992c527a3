"""What choosing without truth costs: contenders are chosen by AUL_PU and judged by AUC."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pubench.leaderboard.ranking import RankedTask


@dataclass(frozen=True)
class Regret:
    """The regret on one task whose truth is known.

    Attributes:
        task: number of the task.
        contenders: number of contenders with both AUL_PU and AUC; those that failed on a fold are excluded.
        best_auc: the highest mean AUC.
        chosen_auc: mean AUC of the contender with the highest mean AUL_PU; if there are several, their mean.
        tau: Kendall's tau-b between AUL_PU and AUC; None if one of them is constant.
    """

    task: int
    contenders: int
    best_auc: float
    chosen_auc: float
    tau: float | None

    @property
    def lost(self) -> float:
        """The AUC that is lost by choosing without truth, at least 0."""
        return self.best_auc - self.chosen_auc


def regrets(tasks: Sequence[RankedTask]) -> tuple[Regret, ...]:
    """Return the regrets on the tasks whose truth is known and that have at least two contenders."""
    candidates = (_regret(number, task) for number, task in enumerate(tasks))
    return tuple(regret for regret in candidates if regret is not None)


def _regret(number: int, task: RankedTask) -> Regret | None:
    from scipy.stats import kendalltau  # noqa: PLC0415 - heavy imports happen when used

    known = np.isfinite(task.aul) & np.isfinite(task.auc) & ~task.results.failed.any(axis=1)
    aul, auc = task.aul[known], task.auc[known]
    if len(aul) < 2:
        return None
    varied = np.ptp(aul) > 0 and np.ptp(auc) > 0
    tau = float(kendalltau(aul, auc).statistic) if varied else None
    return Regret(number, len(aul), float(auc.max()), float(auc[aul == aul.max()].mean()), tau)
