"""How often the ranges of a call list hold the truth, on real tables whose hidden positives are known.

    PUBENCH_DATA=... python benchmarks/whom_to_call.py --repetitions 20

In each repetition up to `--rows` rows of a table are drawn with its rate of positives, and half of the positives are labelled. A
model is trained on three quarters of the rows, and its scores of the other quarter give the table of `call_list` with the true
number of hidden positives. All unlabeled rows are then scored by models that were not trained on them, as `pubench predict`
does, and the true positives among the best 1% and 5% are counted. A line has the mean expected and the mean true number of
each, and the share of repetitions in which the range of 95% holds the true one; then how often the number of hidden positives
is estimated from the scores alone, how often the range of the estimate holds the truth, and the median of estimate / truth; then
the expected calibration error, over 15 bins of equal numbers of rows, of the scores as they are and of the probabilities that
a calibration on all rows gives to them with the true prior.
"""

import argparse
import os
from dataclasses import dataclass
from typing import cast

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np

from peer_protocol import PeerTable, read_table
from pubench import PUData, Resources, Seed
from pubench.api.method import Method, Parts
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import load_registry
from pubench.crossfit.cross_fit import own_folds, scores_by_others
from pubench.crossfit.fold_cache import FoldCache
from pubench.data.splits import holdout
from pubench.decision.calibration import Calibration
from pubench.decision.call_list import CallTable, call_list
from pubench.decision.hidden_positives import HiddenPositives, estimate_hidden
from pubench.types import BoolVector, FloatVector

DEPTHS = (0.01, 0.05)
BINS = 15
TABLES = (
    "mammography",
    "pendigits",
    "satimage-2",
    "optdigits",
    "campaign",
    "creditcard",
    "cover",
    "http",
)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A repetition: its rows, and which are truly positive."""

    data: PUData
    y: BoolVector


@dataclass(frozen=True)
class Outcome:
    """What a repetition showed: the table, what is true of its depths, and the estimate of hidden positives."""

    table: CallTable
    true: tuple[int, ...]
    n_hidden: int
    estimated: HiddenPositives | None
    raw_error: float
    calibrated_error: float

    @property
    def held(self) -> tuple[bool, ...]:
        """Whether the range of each depth holds what is true."""
        return tuple(
            row.positives is not None and row.positives.low <= true <= row.positives.high
            for row, true in zip(self.table.rows, self.true, strict=True)
        )


def draw(table: PeerTable, rows: int, seed: Seed) -> Drawn:
    """Draw rows of a table, and label half of their positives."""
    order = seed.child("rows").generator().permutation(table.X.n_rows)[:rows]
    y = table.y[order]
    s = y & (seed.child("labels").generator().random(len(y)) < 0.5)
    return Drawn(PUData(table.X.take(order), s), y)


def honest(drawn: Drawn, method: Method, parts: Parts, seed: Seed, resources: Resources) -> FloatVector:
    """Return the score of every row by models that were not trained on it."""
    folds = own_folds(drawn.data.s, seed)
    return scores_by_others(method, parts, FoldCache(drawn.data, folds, seed), seed, resources)[0]


def repeat(drawn: Drawn, method: Method, parts: Parts, seed: Seed, resources: Resources) -> Outcome:
    """Compare what a holdout promises with what is true of the list."""
    s, y = drawn.data.s, drawn.y
    split = holdout(s, 0.25, seed)
    twin = method.fit(drawn.data.take(split.train), parts, seed, resources)
    test = drawn.data.take(split.test)
    n_hidden = int((y & ~s).sum())
    half = seed.child("halves").generator().random(len(s)) < 0.5
    scores = twin.score(test.X, resources).values
    table = call_list(test.s, scores, int((~s).sum()), hidden=exactly(n_hidden), depths=DEPTHS)
    listed = honest(drawn, method, parts, seed, resources)
    order = np.argsort(-listed[~s], kind="stable")
    true = tuple(int(y[~s][order[: row.rows]].sum()) for row in table.rows)
    estimate = estimate_hidden(s, listed, seed)
    # What calibrates must not know the rows that it is measured on.
    fresh, known = np.flatnonzero(~s & half), np.flatnonzero(s | ~half)
    among = exactly(int((y & ~s & ~half).sum()))
    probabilities = Calibration.of(s[known], listed[known]).probabilities(listed[fresh], among)
    return Outcome(
        table,
        true,
        n_hidden,
        estimate if isinstance(estimate, HiddenPositives) else None,
        calibration_error(listed[fresh], y[fresh]),
        calibration_error(probabilities, y[fresh]),
    )


def exactly(number: int) -> HiddenPositives:
    """Return a number that is known."""
    return HiddenPositives(number, number, number, "truth")


def calibration_error(chances: FloatVector, y: BoolVector) -> float:
    """Return the mean difference between chances and the share of positives, over bins of equal numbers of rows."""
    parts = np.array_split(np.argsort(chances, kind="stable"), BINS)
    return float(sum(len(part) * abs(chances[part].mean() - y[part].mean()) for part in parts) / len(y))


def line(name: str, outcomes: list[Outcome]) -> str:
    """Return the figures of a table."""
    text = f"{name:<12}{np.mean([outcome.n_hidden for outcome in outcomes]):>7.0f}"
    for depth in range(len(DEPTHS)):
        ranges = [outcome.table.rows[depth].positives for outcome in outcomes]
        expected = np.mean([one.estimate for one in ranges if one is not None])
        true = np.mean([outcome.true[depth] for outcome in outcomes])
        held = np.mean([outcome.held[depth] for outcome in outcomes])
        text += f"{expected:>9.1f}{true:>8.1f}{held:>7.0%}"
    given = [(one.estimated, one.n_hidden) for one in outcomes if one.estimated is not None]
    text += f"{len(given) / len(outcomes):>10.0%}"
    covered = f"{np.mean([one.low <= n <= one.high for one, n in given]):.0%}" if given else ""
    ratio = f"{np.median([one.estimate / n for one, n in given]):.2f}" if given else ""
    errors = (np.mean([getattr(one, name) for one in outcomes]) for name in ("raw_error", "calibrated_error"))
    return text + f"{covered:>7}{ratio:>8}" + "".join(f"{error:>9.4f}" for error in errors)


def main() -> None:
    """Print one line per table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--method", default="naive")
    parser.add_argument("--learner", default="lightgbm")
    options = parser.parse_args()
    registry, resources = load_registry(), Resources(n_threads=1)
    method = cast("Method", registry.find(options.method, Kind.METHOD).plugin())
    parts = Parts(learner=cast("Learner", registry.find(options.learner, Kind.LEARNER).plugin()))
    head = "".join(f"{f'top {depth:.0%}':>9}{'true':>8}{'held':>7}" for depth in DEPTHS)
    print(
        f"{'table':<12}{'hidden':>7}{head}{'estimated':>10}{'held':>7}{'ratio':>8}{'ECE raw':>9}{'ours':>9}"
    )
    for name in options.tables:
        table = read_table(name, registry)
        outcomes = [
            repeat(draw(table, options.rows, Seed(number)), method, parts, Seed(number), resources)
            for number in range(options.repetitions)
        ]
        print(line(name, outcomes), flush=True)


if __name__ == "__main__":
    main()
