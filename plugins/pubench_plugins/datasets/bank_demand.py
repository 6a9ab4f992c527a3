"""Demand for a savings card: the model of demand, and the part of it that the bank observes.

    utility = INDEX_WEIGHT x (levels + slopes + pairs + bends) + POCKET_LIFT x pockets + trait + shock

The customers of the greatest utility have demand in the window: a probit model with exact counts. Index and pockets
follow what the bank's table shows, but only roughly: a count of 0 hides how far a customer is from 1, and some values
are missing. The trait stays with a person through the windows, the shock is new in each, and neither is in the table.
Positions, on the scale of a standard normal, are what the numbers below multiply, so that a weight means the same for
ages and for amounts; flags enter as 0 and 1.

The index has a small effect on every customer; pockets are small groups of similar customers with more demand. Their two
weights set the difficulty, and were chosen by it alone: pubench's boosted trees at their defaults reach an AUL_PU of
about 0.60. No PU method was consulted.

Of those with demand, a third takes the card within the window, independent of everything else: labels are missing completely at
random given demand (SCAR).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from pubench_plugins.datasets.bank_customers import SEGMENTS, Shifts, Snapshot, Streams, by_segment
from pubench_plugins.datasets.bank_marginals import Vector

#: Share of true demand that becomes an observed positive within the window.
OBSERVED_SHARE = 1 / 3
#: How much the index and the pockets count, where all that is not in the table has deviation 1.
INDEX_WEIGHT = 0.22
POCKET_LIFT = 0.75
#: Share of the variance beyond the table that stays with a person; the rest is new in each window.
TRAIT_SHARE = 0.7

# Each tuple below is in the order of SEGMENTS: young, salaried, affluent, self-employed, retired.
#: Additional demand of each segment.
SEGMENT_LEVELS: Shifts = (0.3, 0.0, -0.2, 0.2, -0.4)
#: Slopes of demand in each segment: some drivers have the same in all, most do not, a few change sign.
SLOPES: Mapping[str, Shifts] = {
    "tenure_months": (-0.25, -0.25, -0.25, -0.25, -0.25),
    "credit_score": (0.15, 0.15, 0.15, 0.15, 0.15),
    "has_loan": (0.3, 0.3, 0.3, 0.3, 0.3),
    "card_spend_3m": (0.1, 0.2, -0.3, 0.5, 0.0),
    "card_spend_prior_9m": (0.0, -0.2, 0.1, -0.4, 0.2),
    "app_logins_30d": (0.4, 0.3, 0.1, 0.0, -0.1),
    "revolving_balance": (0.2, -0.3, -0.2, 0.4, -0.3),
    "credit_limit": (0.0, 0.1, 0.4, -0.3, 0.3),
    "service_calls_12m": (-0.1, 0.0, 0.2, 0.1, 0.4),
    "city_tier": (0.2, 0.1, 0.0, -0.2, -0.2),
}
#: Additional demand of the customers of each code, in the order of the column's categories.
CATEGORY_LEVELS: Mapping[str, tuple[float, ...]] = {
    "region": (0.2, -0.4, 0.1, 0.3, -0.1, -0.3, 0.4, 0.0),
    "acquisition_channel": (0.3, 0.1, -0.2, 0.2, -0.2, 0.0),
}
#: Products of two positions: being high in one counts more, or less, with the other.
PAIRS: Mapping[tuple[str, str], float] = {
    ("credit_limit", "revolving_balance"): -0.25,
    ("tenure_months", "app_logins_30d"): 0.25,
    ("card_spend_3m", "late_payments_12m"): -0.2,
    ("age", "card_transactions_3m"): 0.2,
}


@dataclass(frozen=True)
class Pocket:
    """Customers near `centre` have more demand: lift (1 - (d / radius)^4), 0 beyond the radius; flat in the middle.

    Attributes:
        centre: column -> position; distance d is Euclidean in these alone.
        radius: how far the pocket reaches.
        lift: by how much in the middle; negative for less.
        segment: the one segment that has this pocket; None: all have it.
    """

    centre: Mapping[str, float]
    radius: float
    lift: float = 1.0
    segment: str | None = None


#: Pockets of the index, in one direction: an age with more demand, a score with less.
BENDS = (
    Pocket({"age": -1.0}, radius=0.7, lift=0.5),
    Pocket({"reward_points": 0.3}, radius=0.8, lift=0.4),
    Pocket({"credit_score": -1.5}, radius=0.8, lift=-0.6),
)
#: Groups of similar customers; each holds about half a percent of all.
POCKETS = (
    Pocket({"age": 0.3, "credit_limit": 1.2, "card_spend_prior_9m": 1.0}, radius=0.42),
    Pocket({"tenure_months": -0.8, "revolving_balance": 1.3, "late_payments_12m": 0.2}, radius=0.46),
    Pocket({"credit_score": 0.9, "card_spend_3m": -0.9, "tenure_months": 0.8}, radius=0.46),
    Pocket({"card_transactions_3m": 0.8, "app_logins_30d": 1.2}, radius=0.36, segment="young"),
    Pocket({"card_spend_3m": 1.2, "revolving_balance": 0.9}, radius=0.36, segment="self-employed"),
    Pocket({"service_calls_12m": 0.7, "reward_points": -0.8}, radius=0.42, segment="retired"),
)
DRIVERS = frozenset(
    [*SLOPES, *CATEGORY_LEVELS]
    + [name for pair in PAIRS for name in pair]
    + [name for pocket in BENDS + POCKETS for name in pocket.centre]
)


def signal(customers: Snapshot) -> Vector:
    """Return the part of utility that follows the table: shape (n_rows,).

    Each row's depends on that row alone, in a fixed order of sums, so that it is the same on every machine.
    """
    total = _index(customers)
    total *= np.float32(INDEX_WEIGHT)
    for pocket in POCKETS:
        total += np.float32(POCKET_LIFT) * _within(pocket, customers)
    return total


def _index(customers: Snapshot) -> Vector:
    drivers = customers.drivers
    total = by_segment(SEGMENT_LEVELS, customers.segment)
    for name, slopes in SLOPES.items():
        total += by_segment(slopes, customers.segment) * drivers[name]
    for name, levels in CATEGORY_LEVELS.items():
        total += np.asarray(levels, dtype=np.float32)[drivers[name].astype(np.int8)]
    for (one, other), weight in PAIRS.items():
        total += np.float32(weight) * drivers[one] * drivers[other]
    for bend in BENDS:
        total += _within(bend, customers)
    return total


def _within(pocket: Pocket, customers: Snapshot) -> Vector:
    squares: Vector = np.zeros(len(customers.segment), dtype=np.float32)
    for name, position in pocket.centre.items():
        squares += ((customers.drivers[name] - np.float32(position)) / np.float32(pocket.radius)) ** 2
    lift: Vector = np.float32(pocket.lift) * np.maximum(1 - squares * squares, 0)
    if pocket.segment is not None:
        lift[customers.segment != SEGMENTS.index(pocket.segment)] = 0
    return lift


def with_demand(streams: Streams, customers: Snapshot, count: int) -> npt.NDArray[np.bool_]:
    """Return True for the customers with demand in the window: exactly `count` of them."""
    utility = signal(customers).astype(np.float64)
    utility += sqrt(TRAIT_SHARE) * streams.normal("thrift", "slow")
    utility += sqrt(1 - TRAIT_SHARE) * streams.normal("shock", "fast")
    return _greatest(utility, count)


def with_label(streams: Streams, demand: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.bool_]:
    """Return True for the customers with demand that are observed to take the card: exactly `count`, drawn at random."""
    lot = streams.uniform("lot", "fast").astype(np.float64)
    return _greatest(np.where(demand, lot, -1.0), count)


def _greatest(values: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.bool_]:
    """Mark the `count` greatest values; of equal ones, the first.

    Decided by a threshold, not by the order after a partition, which differs between processors.
    """
    threshold = np.partition(values, len(values) - count)[len(values) - count]
    marked: npt.NDArray[np.bool_] = values > threshold
    marked[np.flatnonzero(values == threshold)[: count - int(marked.sum())]] = True
    return marked
