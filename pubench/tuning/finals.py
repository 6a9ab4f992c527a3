"""The final models: each trained on all rows of the search, within the time that is left, and judged on the holdout."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pubench.saving.configuration import Configuration
from pubench.seeds import Seed
from pubench.tuning.outcome import DEFAULT, TUNED, Contender, Outcome, compare, contend
from pubench.tuning.sharing import Memory
from pubench.types import PUData, Resources

#: Of the time that is left, the default model may take this share; the tuned one, which is kept, has the rest.
_SHARE_OF_DEFAULT = 0.4
#: Of the time that is left, this share is for scoring.
_SHARE_OF_SCORING = 0.15


@dataclass(frozen=True, eq=False)
class Finals:
    """Where final models are trained and judged.

    Attributes:
        memory: the rows of the search.
        test: the holdout.
        seed: of all.
        resources: for training.
        until: on the clock of `time.monotonic`, when everything must be done.
        phase: is told which model is trained, and the share of all that is done.
    """

    memory: Memory
    test: PUData
    seed: Seed
    resources: Resources
    until: float
    phase: Callable[[str, float], None]

    def train(
        self, tuned: Configuration, default: Configuration, controls: Mapping[str, Configuration]
    ) -> Outcome:
        """Train all, and compare.

        Controls come first, since they are quick; then the default model and the tuned one share what time is left:
        an ensemble that would take longer has fewer members, and its configuration says how many. The tuned one comes
        last, because not every method can be cut short: what takes too long must not be at the others' expense.
        """
        wanted = {TUNED: tuned, DEFAULT: default, **controls}
        order = [*controls, DEFAULT, TUNED] if tuned != default else [*controls, TUNED, DEFAULT]
        self._relate([single for configuration in wanted.values() for single in configuration.singles])
        done: dict[str, Contender] = {}
        for number, name in enumerate(order):
            equal = next((other for other in done if wanted[other] == wanted[name]), None)
            done[name] = (
                done[equal] if equal else self._train(name, wanted[name], number / len(order), len(order))
            )
        return compare({name: done[name] for name in wanted}, self.test)

    def _relate(self, configurations: Sequence[Configuration]) -> None:
        """Relate all rows before the time is divided: several models share it, and none can do with a part of it."""
        rows = self.memory.training[0]
        resources = replace(self.resources, progress=partial(self.phase, "final models: similarity"))
        for configuration in configurations:
            scaling = configuration.method.params.get("scaling")
            if configuration.parts.similarity is not None and scaling is not None:
                self.memory.parts(0, configuration.parts).relate(rows, scaling, self.seed, resources)

    def _train(self, name: str, configuration: Configuration, start: float, count: int) -> Contender:
        def progress(share: float) -> None:
            self.phase(f"final models: {name}", start + share / count)

        left = (self.until - time.monotonic()) * (1 - _SHARE_OF_SCORING)
        mine = left * (_SHARE_OF_DEFAULT if name == DEFAULT else 1.0)
        resources = replace(self.resources, progress=progress, until=time.monotonic() + mine)
        found = contend(configuration, self.memory, self.test, self.seed, resources)
        trained = configuration.as_trained(found.fitted.chosen)
        return replace(found, configuration=trained, is_cut=trained != configuration)
