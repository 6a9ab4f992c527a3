"""The customers of the synthetic bank, and the bank's table of them in a window.

    segment, factors          attributes of a customer; the factors change from window to window
      -> position             of the customer among all, one per column: factors x loadings + shift + own noise
      -> value                by the column's marginal
      -> table                with gaps: no loan, no loan balance; and some at random

Every draw comes from a stream named after what is drawn, and row i is the i-th draw of each stream. So customer i is
the same person in every window and in every smaller table.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import nan, sqrt
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import Feature, Seed, Table
from pubench_plugins.datasets.bank_marginals import (
    Amount,
    Codes,
    Count,
    Level,
    Marginal,
    Vector,
    evenly,
    flag,
)

Pace: TypeAlias = Literal["slow", "fast"]
Shifts: TypeAlias = tuple[float, float, float, float, float]

ROOT = Seed(1_365_550)  # one fixed table
SEGMENTS = ("young", "salaried", "affluent", "self-employed", "retired")
SEGMENT_SHARES = (0.22, 0.40, 0.12, 0.15, 0.11)
SEGMENT_KNOWN = 0.9  # share of customers whose segment is recorded correctly; the others get one at random
FACTOR_MEMORY = 0.9  # correlation of a customer's factor with itself one window earlier
NO_SHIFT: Shifts = (0.0, 0.0, 0.0, 0.0, 0.0)

#: What customers differ in, standard normal within a segment but for these shifts, in the order of SEGMENTS.
FACTORS: Mapping[str, Shifts] = {
    "wealth": (-0.7, 0.0, 1.4, 0.3, 0.1),
    "spending": (-0.2, 0.1, 0.5, 0.3, -0.6),
    "digital": (0.8, 0.2, 0.1, 0.0, -1.3),
    "borrowing": (0.2, 0.1, -0.7, 0.5, -0.6),
}


@dataclass(frozen=True)
class BankColumn:
    """One attribute of the table.

    Attributes:
        marginal: how positions become values.
        loads: factor -> loading; shared factors correlate columns.
        shifts: added to positions of each segment, in addition to its factors.
        pace: a slow column is the same in every window; a fast one follows the wandering factors, with new noise.
        noise: deviation of the column's own noise; None: that which makes positions standard normal.
        categories: names of the codes, for a categorical column.
        needs: a column of the table above this one; where that is 0, this one is `otherwise`.
        otherwise: NaN, where the value has no meaning, or a number.
        unknown: share of customers whose value is missing at random.
        growth: added with each window.
    """

    marginal: Marginal
    loads: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    shifts: Shifts = NO_SHIFT
    pace: Pace = "fast"
    noise: float | None = None
    categories: tuple[str, ...] = ()
    needs: str | None = None
    otherwise: float = nan
    unknown: float = 0.0
    growth: float = 0.0

    @property
    def own_noise(self) -> float:
        """Deviation of the noise."""
        return sqrt(1 - sum(load**2 for load in self.loads.values())) if self.noise is None else self.noise

    def feature(self, name: str) -> Feature:
        """Return the column as a feature of the table."""
        if self.categories:
            return Feature(name, "categorical", self.categories)
        binary = isinstance(self.marginal, Codes) and len(self.marginal.shares) == 2
        return Feature(name, "boolean" if binary else "numeric")


#: The column that is not drawn from a position: the segment in the bank's records.
SEGMENT = "segment"
REGIONS = ("north", "north-east", "east", "centre", "south", "south-west", "west", "north-west")
DESIGNS = tuple(f"design {number}" for number in range(1, 13))
CHANNELS = ("branch", "post", "call centre", "partner shop", "web", "app")

#: The drawn columns, 29 of the 30, in the order of the table.
COLUMNS: Mapping[str, BankColumn] = {
    # demographics
    "age": BankColumn(Level(41, 12, 18, 88), {}, (-1.3, -0.2, 0.5, 0.2, 2.1), "slow", noise=0.6),
    "male": BankColumn(flag(0.54), pace="slow"),
    "education_level": BankColumn(
        Codes((0.12, 0.3, 0.27, 0.23, 0.08), first=1),
        {"wealth": 0.4, "digital": 0.2},
        pace="slow",
        unknown=0.14,
    ),
    "city_tier": BankColumn(Codes((0.2, 0.28, 0.32, 0.2), first=1), {"wealth": -0.3}, pace="slow"),
    "region": BankColumn(
        Codes((0.1, 0.07, 0.24, 0.13, 0.19, 0.12, 0.06, 0.09)), pace="slow", categories=REGIONS
    ),
    "acquisition_channel": BankColumn(
        Codes((0.31, 0.06, 0.11, 0.14, 0.16, 0.22)), {"digital": 0.5}, pace="slow", categories=CHANNELS
    ),
    "tenure_months": BankColumn(
        Amount(38, 0.8, high=300), {}, (-0.9, 0.0, 0.4, 0.1, 0.8), "slow", noise=0.9, growth=3
    ),
    # credit
    "credit_score": BankColumn(Level(650, 70, 300, 850), {"wealth": 0.4, "borrowing": -0.4}, unknown=0.06),
    "credit_limit": BankColumn(Amount(20_000, 0.8, high=500_000, step=500), {"wealth": 0.7}, pace="slow"),
    # card use
    "card_spend_3m": BankColumn(Amount(6_000, 1.3, zeros=0.12), {"spending": 0.8, "wealth": 0.3}),
    "card_spend_prior_9m": BankColumn(Amount(17_000, 1.3, zeros=0.08), {"spending": 0.75, "wealth": 0.3}),
    "card_transactions_3m": BankColumn(
        Count(24, 1.2, least=1), {"spending": 0.8, "digital": 0.2}, needs="card_spend_3m", otherwise=0
    ),
    "online_share_3m": BankColumn(Level(0.45, 0.3, 0, 1, 0.01), {"digital": 0.7}, needs="card_spend_3m"),
    "foreign_transactions_3m": BankColumn(
        Count(0.3, 0.15), {"wealth": 0.4, "spending": 0.2}, needs="card_spend_3m", otherwise=0
    ),
    "reward_points": BankColumn(Amount(4_000, 1.1, zeros=0.1), {"spending": 0.6}),
    # borrowing
    "cash_advances_12m": BankColumn(Count(0.4, 0.2), {"borrowing": 0.5, "wealth": -0.2}),
    "revolving_balance": BankColumn(Amount(3_000, 1.4, zeros=0.55), {"borrowing": 0.7}),
    "payment_ratio_3m": BankColumn(
        Level(0.7, 0.35, 0, 1, 0.01),
        {"borrowing": -0.6, "wealth": 0.2},
        needs="revolving_balance",
        otherwise=1,
    ),
    "late_payments_12m": BankColumn(Count(0.35, 0.25), {"borrowing": 0.5, "wealth": -0.3}),
    "has_instalment_plan": BankColumn(flag(0.22), {"borrowing": 0.4, "spending": 0.3}),
    "instalment_balance": BankColumn(
        Amount(5_000, 0.9), {"wealth": 0.3, "spending": 0.3}, needs="has_instalment_plan"
    ),
    "has_loan": BankColumn(flag(0.18), {"borrowing": 0.5}, pace="slow"),
    "loan_balance": BankColumn(Amount(40_000, 1.0, step=100), {"wealth": 0.5}, needs="has_loan"),
    "loan_months_left": BankColumn(Level(22, 12, 1, 60), needs="has_loan"),
    # channels
    "has_mobile_app": BankColumn(flag(0.62), {"digital": 0.7}, pace="slow"),
    "app_logins_30d": BankColumn(
        Count(9, 0.7), {"digital": 0.5, "spending": 0.3}, needs="has_mobile_app", otherwise=0, unknown=0.03
    ),
    "service_calls_12m": BankColumn(Count(1.1, 0.6), {"digital": -0.2, "borrowing": 0.2}),
    # noise
    "statement_day": BankColumn(evenly(28, first=1), pace="slow"),
    "card_design": BankColumn(evenly(len(DESIGNS)), pace="slow", categories=DESIGNS),
}
FEATURES = (
    *(column.feature(name) for name, column in COLUMNS.items()),
    Feature(SEGMENT, "categorical", SEGMENTS),
)


@dataclass(frozen=True)
class Streams:
    """The draws of one window for the first `rows` customers; slow ones are the same in every window."""

    rows: int
    window: int

    def normal(self, name: str, pace: Pace) -> Vector:
        """Return standard normal draws."""
        return self._seed(name, pace).generator().standard_normal(self.rows, dtype=np.float32)

    def uniform(self, name: str, pace: Pace) -> Vector:
        """Return uniform draws from [0, 1)."""
        return self._seed(name, pace).generator().random(self.rows, dtype=np.float32)

    def wander(self, name: str) -> tuple[Vector, Vector]:
        """Return a standard normal trait of each person, at first and as it is in this window.

        From window to window it is multiplied by FACTOR_MEMORY and gets new noise, so that it stays standard normal.
        """
        first = self.normal(name, "slow")
        now = first.copy()
        for window in range(1, self.window + 1):
            now *= np.float32(FACTOR_MEMORY)
            step = Streams(self.rows, window).normal(name, "fast")
            step *= np.float32(sqrt(1 - FACTOR_MEMORY**2))
            now += step
        return first, now

    def _seed(self, name: str, pace: Pace) -> Seed:
        return ROOT.child("person", name) if pace == "slow" else ROOT.child("window", self.window, name)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The customers in one window.

    Attributes:
        X: the bank's table.
        segment: shape (n_rows,), the true segment of a customer, as an index of SEGMENTS.
        drivers: column -> shape (n_rows,), never missing: values of flags and categories, positions of anything
            else; 0 where the column is idle, as loan balances are without a loan.
    """

    X: Table
    segment: npt.NDArray[np.int8]
    drivers: Mapping[str, Vector]


def observe(streams: Streams, drivers: Collection[str]) -> Snapshot:
    """Return the customers of a window, with these drivers."""
    population = _Population.draw(streams)
    values = np.empty((streams.rows, len(FEATURES)), dtype=np.float32)
    table = dict(zip((feature.name for feature in FEATURES), values.T, strict=True))
    recorded = {}
    for name, column in COLUMNS.items():
        position = population.position(name, column)
        drawn = column.marginal.values(position)
        idle = None if column.needs is None else table[column.needs] == 0
        table[name][:] = _recorded_values(streams, name, column, drawn, idle)
        if name in drivers:
            driver = position if column.feature(name).kind == "numeric" else drawn
            recorded[name] = driver if idle is None else np.where(idle, np.float32(0), driver)
    table[SEGMENT][:] = _recorded_segment(streams, population.segment)
    return Snapshot(Table(values, FEATURES), population.segment, recorded)


@dataclass(frozen=True, eq=False)
class _Population:
    streams: Streams
    segment: npt.NDArray[np.int8]
    factors: Mapping[tuple[str, Pace], Vector]

    @classmethod
    def draw(cls, streams: Streams) -> "_Population":
        segment = _segments(streams.uniform(SEGMENT, "slow"))
        factors: dict[tuple[str, Pace], Vector] = {}
        for name, shifts in FACTORS.items():
            shift = by_segment(shifts, segment)
            first, now = streams.wander(name)
            factors[name, "slow"], factors[name, "fast"] = first + shift, now + shift
        return cls(streams, segment, factors)

    def position(self, name: str, column: BankColumn) -> Vector:
        position = self.streams.normal(name, column.pace)
        position *= np.float32(column.own_noise)
        for factor, load in column.loads.items():
            position += np.float32(load) * self.factors[factor, column.pace]
        if column.shifts != NO_SHIFT:
            position += by_segment(column.shifts, self.segment)
        return position


def by_segment(numbers: Sequence[float], segment: npt.NDArray[np.int8]) -> Vector:
    """Return each customer's number of the five that segments have."""
    return np.asarray(numbers, dtype=np.float32)[segment]


def _segments(uniform: Vector) -> npt.NDArray[np.int8]:
    ends = np.array(list(accumulate(SEGMENT_SHARES[:-1])), dtype=np.float32)
    return np.searchsorted(ends, uniform, side="right").astype(np.int8)


def _recorded_segment(streams: Streams, segment: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    guess = _segments(streams.uniform("segment guessed", "slow"))
    known = streams.uniform("segment known", "slow") < np.float32(SEGMENT_KNOWN)
    return np.where(known, segment, guess)


def _recorded_values(
    streams: Streams, name: str, column: BankColumn, drawn: Vector, idle: npt.NDArray[np.bool_] | None
) -> Vector:
    values = drawn + np.float32(column.growth * streams.window)
    if idle is not None:
        values[idle] = column.otherwise
    if column.unknown:
        values[streams.uniform(f"{name} unknown", column.pace) < np.float32(column.unknown)] = nan
    return values
