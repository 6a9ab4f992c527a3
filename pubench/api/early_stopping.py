"""Rows that are held out of a training, so that a learner can stop early on them."""

import numpy as np

from pubench.seeds import Seed
from pubench.types import IndexVector, Tags

#: The fewest rows of a kind that can be divided: one is trained on, one is held out.
_FEWEST = 2


def hold_out(tags: Tags, share: float, seed: Seed) -> Tags:
    """Return the same tags with this share of the rows that count held out, as `Tags.stop`.

    Rows that are positive for certain, the labelled ones among them, and others are drawn apart, at least one of each, so that
    both sides have both. They keep tag and weight. With fewer than two of either, or a share of 0, none is held out.
    """
    if share == 0:
        return tags
    counted = tags.counted
    certain = tags.positive[counted] == 1
    kinds = counted[certain], counted[~certain]
    if min(map(len, kinds)) < _FEWEST:
        return tags
    generator = seed.generator()
    held = np.zeros(len(tags.positive))
    for rows in kinds:
        held[generator.choice(rows, _number(rows, share), replace=False)] = 1.0
    weight = np.ones(len(held)) if tags.weight is None else tags.weight
    return Tags(tags.positive, weight * (1 - held), Tags(tags.positive, weight * held))


def _number(rows: IndexVector, share: float) -> int:
    return min(max(1, round(share * len(rows))), len(rows) - 1)
