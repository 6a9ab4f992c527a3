"""Chooses the configurations that a search tries first, and judges the choice on tables left out.

    python benchmarks/portfolio.py --library LIBRARY          (made by trial_library.py)

A search ends in a blend of its trials, so the portfolio is chosen for its blend: the next configuration is the one that most
improves the mean AUC, over the development tables, of the plain mean rank by all so far, per second that it takes.
Configurations that are the best single ones (TabArena, auto-sklearn 2) make worse blends: they err on the same rows. A table
counts as much as any other, however many numbers of labelled rows it has. The list begins with what --first names.

Each table is then judged by a portfolio that was chosen without it: its trials are blended by the rule of `pubench tune`,
from PU labels alone, and the AUC of the blend is that of true labels on rows held out.

    python benchmarks/portfolio.py --faint

fits what `pubench/tuning/portfolio.py` holds where positives are one in a thousand and their signal is faint. The defaults of
the libraries collapse there (.55), and so do forests with leaves of one row (.57 to .58); no configuration of the portfolio may.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from learner_structure import faint
from pubench import Resources, Seed, auc
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.system.machine import cores
from pubench.tuning.ensemble_selection import select_blend
from pubench.tuning.portfolio import first_trials
from pubench.tuning.space import SearchSpace
from pubench.types import FloatVector
from trial_library import CONFIGURATIONS, JudgedCell, read_library

#: Added to the seconds of a trial: what is over in no time is not worth infinitely much.
_LEAST_SECONDS = 0.3
_DEFAULT = "knn-drawn lightgbm"


class RankedCells:
    """The ranks that all configurations give the rows held out, for cells in which each was judged or counts as chance."""

    def __init__(self, cells: Sequence[JudgedCell]) -> None:
        self.names = [name for name in CONFIGURATIONS if any(name in cell.auc for cell in cells)]
        self._cells = cells
        self._weights = _weights(cells)
        self._ranks = [
            np.array(
                [
                    cell.ranks(name) if name in cell.auc else np.full(len(cell.y_test), 0.5)
                    for name in self.names
                ]
            )
            for cell in cells
        ]
        seconds = [[cell.seconds.get(name, np.nan) for name in self.names] for cell in cells]
        self.cost = np.exp(np.nanmean(np.log(np.array(seconds) + _LEAST_SECONDS), axis=0))

    def value(self, chosen: Sequence[int]) -> float:
        """Return the mean over tables of the AUC of the plain mean of the chosen ones' ranks."""
        means = (ranks[list(chosen)].sum(axis=0) for ranks in self._ranks)
        return float(
            self._weights @ [auc(cell.y_test, mean) for cell, mean in zip(self._cells, means, strict=True)]
        )


def greedy(cells: Sequence[JudgedCell], size: int, first: Sequence[str]) -> list[str]:
    """Return the names of a portfolio in the order of value per second, those in `first` before all."""
    ranked = RankedCells(cells)
    chosen = [ranked.names.index(name) for name in first]
    while len(chosen) < min(size, len(ranked.names)):
        before = ranked.value(chosen) if chosen else 0.5
        gains = np.array(
            [
                -np.inf if i in chosen else ranked.value([*chosen, i]) - before
                for i in range(len(ranked.names))
            ]
        )
        # What gains nothing in a plain mean may still be what a table needs: the choice is among these by gain alone.
        worth = gains / ranked.cost if gains.max() > 0 else gains
        chosen.append(int(np.argmax(worth)))
    return [ranked.names[i] for i in chosen]


def _weights(cells: Sequence[JudgedCell]) -> FloatVector:
    tables = [cell.cell.table for cell in cells]
    weights = np.array([1 / tables.count(table) for table in tables])
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def chosen_auc(cell: JudgedCell, names: Sequence[str]) -> float:
    """Return the AUC, by true labels, of the blend of these trials that PU labels choose."""
    known = [name for name in names if name in cell.auc]
    weights = select_blend(cell.ranked(known), Seed(0))
    return cell.blended({name: w for name, w in zip(known, weights, strict=True) if w})


def check_faint() -> None:
    """Print the AUC and the seconds of each first trial on a faint signal, as a draft with all threads."""
    registry, resources, case = load_registry(), Resources(n_threads=cores()), faint()
    kinds = (Kind.METHOD, Kind.SIMILARITY, Kind.LEARNER)
    space = SearchSpace(registry, {kind: registry.names(kind) for kind in kinds})
    for params in first_trials(space):
        configuration = space.configuration(params, draft=True)
        start = perf_counter()
        fitted = configuration.method.fit(case.train, configuration.parts, Seed(0), resources)
        seconds, area = perf_counter() - start, auc(case.truth, fitted.score(case.test, resources).values)
        print(f"{area:.4f}{seconds:>8.1f} s  {configuration}  {dict(params)}", flush=True)


def main() -> None:
    """Print the portfolio, and a line per table left out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--library", type=Path, help="made by trial_library.py")
    parser.add_argument("--size", type=int, default=12)
    parser.add_argument("--first", nargs="*", default=["naive lightgbm", _DEFAULT])
    parser.add_argument("--faint", action="store_true", help="check the portfolio on a faint signal instead")
    options = parser.parse_args()
    if options.faint or options.library is None:
        check_faint()
        return
    cells = read_library(options.library)
    portfolio = partial(greedy, size=options.size, first=options.first)
    for name in portfolio(cells):
        print(f"{name:<28}{CONFIGURATIONS[name]}")
    sizes = [n for n in (2, 4, 6, 8, 12, 16, 24) if n <= options.size]
    head = "".join(f"{f'first {n}':>10}" for n in sizes)
    print(f"\n{'table left out':<24}{'default':>9}{'best':>9}{head}{'all':>10}")
    lines = []
    for cell in cells:
        others = [other for other in cells if other.cell.table != cell.cell.table]
        names = portfolio(others) if others else portfolio(cells)
        values = [
            cell.auc[_DEFAULT],
            max(cell.auc.values()),
            *(chosen_auc(cell, names[:n]) for n in sizes),
            chosen_auc(cell, cell.names),
        ]
        lines.append(values)
        print(_line(f"{cell.cell.table} {cell.cell.labelled}", values), flush=True)
    print(_line("mean over tables", list(_weights(cells) @ np.array(lines))))


def _line(name: str, values: Sequence[float]) -> str:
    return f"{name:<24}{values[0]:>9.4f}{values[1]:>9.4f}" + "".join(f"{v:>10.4f}" for v in values[2:])


if __name__ == "__main__":
    main()
