"""The board: everything that its pages and files show, computed once from records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pubench.errors import DataError
from pubench.leaderboard.pairs import MAX_COMPARED, Pair, compare_pairs
from pubench.leaderboard.ranking import RankedTask, Standing, rank_tasks, standings
from pubench.leaderboard.regret import Regret, regrets
from pubench.leaderboard.runs import BoardRuns, collect_runs
from pubench.leaderboard.significance import MAX_TESTED, PostHoc, post_hoc
from pubench.leaderboard.task_results import results_of
from pubench.leaderboard.verification_files import Verification, read_verifications, verified_folder
from pubench.record.record import Record
from pubench.record.record_file import Unreadable, read_records

#: Methods that use all true labels. They show what can be reached at best and are not ranked.
CEILINGS = frozenset({"oracle"})


@dataclass(frozen=True, eq=False)
class BoardView:
    """The standings on a subset of the tasks.

    Attributes:
        dataset: number of the data set; None: all.
        theta: index in `Board.thetas`; None: all.
        standings: best first.
    """

    dataset: int | None
    theta: int | None
    standings: tuple[Standing, ...]


@dataclass(frozen=True, eq=False)
class Board:
    """Everything that the leaderboard shows.

    Attributes:
        ranked: the runs of the ranked methods.
        ceilings: the runs of methods that use all true labels, which are not ranked.
        tasks: the tasks of `ranked` with their ranks.
        thetas: the values of theta_O that occur; None for labels as observed.
        views: first that of all tasks; then by data set, by theta_O, and by both.
        pairs: comparisons of the best `MAX_COMPARED` methods.
        tests: over data sets; None if there are too few of them.
        regrets: of choosing without truth.
        verifications: by record key.
        unreadable: files that hold no valid record, with the reason.
    """

    ranked: BoardRuns
    ceilings: BoardRuns
    tasks: tuple[RankedTask, ...]
    thetas: tuple[float | None, ...]
    views: tuple[BoardView, ...]
    pairs: tuple[Pair, ...]
    tests: PostHoc | None
    regrets: tuple[Regret, ...]
    verifications: Mapping[str, Verification] = field(default_factory=dict)
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The standings on all tasks."""
        return self.views[0].standings


def make_board(
    records: Sequence[Record],
    verifications: Mapping[str, Verification] | None = None,
    unreadable: Sequence[Unreadable] = (),
) -> Board:
    """Return the board of records.

    Raises:
        DataError: no method can be ranked, or a task has too many contenders and folds.
        PubenchError: scikit-posthocs is not installed.
    """
    contenders = [record for record in records if record.spec.method not in CEILINGS]
    if not contenders:
        raise DataError("There is no record of a method that can be ranked.")
    ranked = collect_runs(contenders)
    tasks = rank_tasks(ranked, results_of(ranked))
    views = _views(ranked, tasks)
    compared = [standing.entry for standing in views[0].standings[:MAX_COMPARED]]
    return Board(
        ranked,
        collect_runs([record for record in records if record.spec.method in CEILINGS]),
        tasks,
        thetas_of(ranked),
        views,
        compare_pairs(ranked, tasks, compared),
        post_hoc(tasks, compared[:MAX_TESTED]),
        regrets(tasks),
        verifications or {},
        tuple(unreadable),
    )


def thetas_of(board_runs: BoardRuns) -> tuple[float | None, ...]:
    """Return the values of theta_O that occur, ascending, None last."""
    thetas = {task.theta_o for task in board_runs.tasks}
    return tuple(sorted(thetas, key=lambda theta: (theta is None, theta or 0)))


def _views(board_runs: BoardRuns, tasks: Sequence[RankedTask]) -> tuple[BoardView, ...]:
    thetas = {theta: i for i, theta in enumerate(thetas_of(board_runs))}
    groups: dict[tuple[int | None, int | None], list[int]] = {(None, None): []}
    for number, task in enumerate(board_runs.tasks):
        theta = thetas[task.theta_o]
        for dataset in (None, task.dataset):
            for share in (None, theta):
                groups.setdefault((dataset, share), []).append(number)
    ranked: dict[tuple[int, ...], tuple[Standing, ...]] = {}
    views = []
    for (dataset, share), numbers in groups.items():
        selected = tuple(numbers)
        if selected not in ranked:  # views of the same tasks share their standings
            ranked[selected] = standings(board_runs, tasks, selected)
        views.append(BoardView(dataset, share, ranked[selected]))
    return tuple(views)


def records_folder(folder: Path) -> Path:
    """Return the folder of records that is meant: that of a run, if the folder is one, else the folder itself."""
    return folder / "records" if (folder / "records").is_dir() else folder


def read_folder(folder: Path) -> tuple[list[Record], list[Unreadable]]:
    """Return the records in a folder or of a run, and the files in it that hold no valid record.

    Raises:
        DataError: there is no such folder.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder of records; 'pubench bench' and 'pubench tune' write one.")
    return read_records(records_folder(folder))


def load_board(*folders: Path) -> Board:
    """Return the board of folders of records, or of runs, with their verifications; of equal records the first counts.

    Raises:
        DataError: there is no such folder, none holds a record, or a task has too many contenders and folds.
        PubenchError: scikit-posthocs is not installed.
    """
    records: dict[str, Record] = {}
    unreadable: list[Unreadable] = []
    verifications: dict[str, Verification] = {}
    for folder in folders:
        place = records_folder(folder)
        own, invalid = read_folder(folder)
        known, problems = read_verifications(verified_folder(place), own)
        repeated = [record.spec.key for record in own if record.spec.key in records]
        invalid += [Unreadable(verified_folder(place), problem) for problem in problems]
        invalid += [Unreadable(place, f"{place} repeats the record {key}.") for key in repeated]
        unreadable += [Unreadable(file.path, _without_location(file.reason, place)) for file in invalid]
        records = {record.spec.key: record for record in own} | records
        verifications = known | verifications
    if not records:
        reason = (
            f"; the first of {len(unreadable)} invalid files: {unreadable[0].reason}" if unreadable else "."
        )
        raise DataError(f"{', '.join(map(str, folders))} holds no record{reason}")
    return make_board([records[key] for key in sorted(records)], verifications, unreadable)


def _without_location(reason: str, folder: Path) -> str:
    """Return a reason without the path of the folder on this machine, as reasons are published."""
    for parent in (folder.absolute().parent, folder.parent):
        reason = reason.replace(f"{parent}/", "") if parent.name else reason
    return reason
