"""The board: everything that its pages and files show, computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pubench.errors import DataError
from pubench.leaderboard.evidence import Evidence, gather
from pubench.leaderboard.pairs import MOST_COMPARED, Pair, compare_pairs
from pubench.leaderboard.posthoc import MOST_TESTED, PostHoc, post_hoc
from pubench.leaderboard.ranking import RankedTask, Standing, rank_tasks, standings
from pubench.leaderboard.regret import Regret, regrets
from pubench.leaderboard.results import results_of
from pubench.leaderboard.verification import Verification
from pubench.records.files import Unreadable
from pubench.records.record import Record

#: Methods that are given every true label: what can be reached, not who is best. They are shown and not ranked.
CEILINGS = frozenset({"oracle"})


@dataclass(frozen=True, eq=False)
class View:
    """The standings on some of the tasks.

    Attributes:
        dataset: number of the data set; None: all.
        theta: place in `Board.thetas`; None: all.
        standings: best first.
    """

    dataset: int | None
    theta: int | None
    standings: tuple[Standing, ...]


@dataclass(frozen=True, eq=False)
class Board:
    """A board.

    Attributes:
        evidence: what it is made of.
        ceilings: the runs that were given every true label; not ranked.
        tasks: with their ranks.
        thetas: the values of theta_O that occur, None for labels as observed.
        views: all tasks first; then by data set, by theta_O, and by both, where that is something else.
        pairs: who beats whom among the best `MOST_COMPARED`.
        tests: over data sets; None where there are too few to test.
        regrets: of choosing without truth.
        verifications: record key -> what came of running it again.
        unreadable: files that hold no record, and why.
    """

    evidence: Evidence
    ceilings: Evidence
    tasks: tuple[RankedTask, ...]
    thetas: tuple[float | None, ...]
    views: tuple[View, ...]
    pairs: tuple[Pair, ...]
    tests: PostHoc | None
    regrets: tuple[Regret, ...]
    verifications: Mapping[str, Verification] = field(default_factory=dict)
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Those on all tasks."""
        return self.views[0].standings


def make_board(
    records: Sequence[Record],
    verifications: Mapping[str, Verification] | None = None,
    unreadable: Sequence[Unreadable] = (),
) -> Board:
    """Return the board of some records.

    Raises:
        DataError: there is no contender, or more on a task than a board can hold.
        PubenchError: scikit-posthocs is not installed.
    """
    contenders = [record for record in records if record.spec.method not in CEILINGS]
    if not contenders:
        raise DataError("There is no record of a method that could be ranked.")
    evidence = gather(contenders)
    tasks = rank_tasks(evidence, results_of(evidence))
    views = _views(evidence, tasks)
    compared = [standing.entry for standing in views[0].standings[:MOST_COMPARED]]
    return Board(
        evidence,
        gather([record for record in records if record.spec.method in CEILINGS]),
        tasks,
        thetas_of(evidence),
        views,
        compare_pairs(evidence, tasks, compared),
        post_hoc(tasks, compared[:MOST_TESTED]),
        regrets(tasks),
        verifications or {},
        tuple(unreadable),
    )


def thetas_of(evidence: Evidence) -> tuple[float | None, ...]:
    """Return the values of theta_O that occur, ascending, None last."""
    return tuple(
        sorted({task.theta_o for task in evidence.tasks}, key=lambda theta: (theta is None, theta or 0))
    )


def _views(evidence: Evidence, tasks: Sequence[RankedTask]) -> tuple[View, ...]:
    thetas = {theta: i for i, theta in enumerate(thetas_of(evidence))}
    groups: dict[tuple[int | None, int | None], list[int]] = {(None, None): []}
    for number, task in enumerate(evidence.tasks):
        theta = thetas[task.theta_o]
        for dataset in (None, task.dataset):
            for share in (None, theta):
                groups.setdefault((dataset, share), []).append(number)
    done: dict[tuple[int, ...], tuple[Standing, ...]] = {}
    views = []
    for (dataset, share), numbers in groups.items():
        chosen = tuple(numbers)
        if chosen not in done:
            done[chosen] = standings(evidence, tasks, chosen)
        views.append(View(dataset, share, done[chosen]))
    return tuple(views)
