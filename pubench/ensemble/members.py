"""Steps 2 and 3 of ProbTagging: a member for each tagging, and their mean."""

from collections.abc import Iterator
from dataclasses import replace

from pubench.api.plugin import Model
from pubench.api.trainer import Trainer
from pubench.ensemble.convergence import Convergence
from pubench.ensemble.tagging import Tagging, member_tags
from pubench.seeds import Seed
from pubench.types import Affinity, BoolVector, Resources, Tags


def train_members(
    trainer: Trainer,
    s: BoolVector,
    affinity: Affinity,
    tagging: Tagging,
    count: int,
    seed: Seed,
    resources: Resources,
) -> Iterator[Model]:
    """Yield members 0 to `count` - 1, each trained on a tagging of its own, or fewer after the deadline.

    See `Trainer.members`.
    """
    chances = tagging.chances(s, affinity)

    def tags_of(member: int) -> Tags:
        return member_tags(chances, tagging, seed, member)

    return trainer.members(tags_of, count, seed, resources, fewest=1)


def until_settled(
    members: Iterator[Model], trainer: Trainer, enough: float, resources: Resources
) -> Iterator[Model]:
    """Yield members until the order of rows by their mean is as reliable as `enough`; see `Convergence`."""
    # One thread, like the members that are trained meanwhile: some libraries have one number of threads per process.
    convergence = Convergence(trainer.X, replace(resources, n_threads=1))
    for member in members:
        yield member
        convergence.add(member)
        if convergence.reliability >= enough:
            return
