"""Every check of learners finds the learner that breaks its promise."""

from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest

from pubench.api.plugin import DataSize, Learner, Model, Takes
from pubench.api.spaces import Float
from pubench.errors import DataError, PluginError
from pubench.seeds import Seed
from pubench.testing.learners import LEARNER_CHECKS, LearnerSubject, check_learner
from pubench.types import FloatVector, Resources, Table, Tags
from pubench_plugins.learners.logistic import Logistic

ONE = Resources(n_threads=1)


@dataclass(frozen=True, eq=False)
class Wrapped(Model):
    """A model that does what another one does, and can be spoiled."""

    inner: Any

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        found: FloatVector = self.inner.predict(X, resources)
        return found

    def importances(self) -> FloatVector:
        found: FloatVector = self.inner.importances()
        return found

    def save(self, path: Path) -> None:
        self.inner.save(path)


class Mine(Learner):
    """Logistic regression under another name."""

    name = "mine"
    takes = Takes(missing=True)
    suffix = ".json"
    space = {"c": Float(0.1, 1.0, default=1.0, help="inverse strength of the penalty")}
    model: ClassVar[type[Wrapped]] = Wrapped

    def prepare(self, X: Table, resources: Resources) -> Any:
        return Logistic().prepare(X, resources)

    def train(self, prepared: Any, tags: Tags, seed: Seed, resources: Resources) -> Model:
        return self.model(Logistic(c=self.params["c"]).train(prepared, tags, seed, resources))

    @classmethod
    def load(cls, path: Path) -> Model:
        return cls.model(Logistic.load(path))


def learning(model: type[Wrapped]) -> Learner:
    other: type[Mine] = type("Other", (Mine,), {"model": model, "__doc__": "Learns something else."})
    return other()


def broken(check: str, learner: Learner, sentence: str) -> None:
    with pytest.raises(PluginError, match=sentence):
        LEARNER_CHECKS[check](LearnerSubject(learner))


def test_a_learner_that_keeps_its_promises_passes() -> None:
    check_learner(Mine())


class Short(Wrapped):
    def predict(self, X: Table, resources: Resources) -> FloatVector:
        return super().predict(X, resources)[1:]


class Single(Wrapped):
    def predict(self, X: Table, resources: Resources) -> FloatVector:
        return super().predict(X, resources).astype(np.float32)


class LogOdds(Wrapped):
    def predict(self, X: Table, resources: Resources) -> FloatVector:
        return np.log(super().predict(X, resources))


class Boasting(Wrapped):
    def predict(self, X: Table, resources: Resources) -> FloatVector:
        return (1 + super().predict(X, resources)) / 2


class Upside(Wrapped):
    def predict(self, X: Table, resources: Resources) -> FloatVector:
        return 1 - super().predict(X, resources)


@pytest.mark.parametrize(
    ("check", "model", "sentence"),
    [
        ("probabilities", Short, "one probability"),
        ("probabilities", Single, "float64"),
        ("probabilities", LogOdds, r"in \[0, 1\]"),
        ("probabilities", Boasting, "about that"),
        ("quality", Upside, "AUC is above"),
        ("rare positives", Upside, "one positive in a thousand"),
        ("soft tags", Upside, "higher probabilities"),
    ],
)
def test_probabilities_that_are_none_are_found(check: str, model: type[Wrapped], sentence: str) -> None:
    broken(check, learning(model), sentence)


def test_chance_that_no_seed_rules_is_found() -> None:
    numbers = count()

    class Drifting(Wrapped):
        def predict(self, X: Table, resources: Resources) -> FloatVector:
            return super().predict(X, resources) * (1 - 1e-6 * next(numbers))

    broken("seed", learning(Drifting), "seed give equal models")
    broken("prepared", learning(Drifting), "stay as they were")
    broken("side by side", learning(Drifting), "in turn")


def test_threads_that_matter_are_found() -> None:
    class Threaded(Wrapped):
        def predict(self, X: Table, resources: Resources) -> FloatVector:
            return super().predict(X, resources) / resources.n_threads

    broken("threads", learning(Threaded), "number of threads")


class Weighing(Mine):
    """Does with weights as it likes."""

    weight: ClassVar[Any] = None

    def train(self, prepared: Any, tags: Tags, seed: Seed, resources: Resources) -> Model:
        return super().train(prepared, replace(tags, weight=self.weight(tags)), seed, resources)


class BlendChoice(Weighing):
    """Lets every row count."""

    @staticmethod
    def weight(tags: Tags) -> Any:
        return None if tags.weight is None else tags.weight + 0.1


class Levelling(Weighing):
    """Lets all rows that count do so equally."""

    @staticmethod
    def weight(tags: Tags) -> Any:
        return None if tags.weight is None else (tags.weight > 0) + 0.0


def test_weights_that_are_passed_over_are_found() -> None:
    broken("weights", BlendChoice(), "weight 0 have no influence")
    broken("weights", Levelling(), "more positives weigh")


def test_preparing_that_depends_on_parameters_is_found() -> None:
    class Particular(Mine):
        """Prepares for itself."""

        def prepare(self, X: Table, resources: Resources) -> Any:
            return super().prepare(Table(X.values * (1 + self.params["c"]), X.features), resources)

    with pytest.raises(PluginError, match="depends on the rows alone"):
        LEARNER_CHECKS["prepared"](LearnerSubject(Particular(c=0.1)))


@pytest.mark.parametrize("values", [[1.0], [0.5, 0.5, 0.5, 0.5], [2.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
def test_importances_that_are_none_are_found(values: list[float]) -> None:
    class Important(Wrapped):
        def importances(self) -> FloatVector:
            return np.array(values)

    broken("importances", learning(Important), "mportance")


def test_a_model_that_takes_any_table_is_found() -> None:
    class Careless(Wrapped):
        def predict(self, X: Table, resources: Resources) -> FloatVector:
            try:
                return super().predict(X, resources)
            except DataError:
                return np.zeros(X.n_rows)

    broken("features", learning(Careless), "fewer features is refused")


def test_what_is_declared_in_takes_is_tried() -> None:
    class Overstating(Mine):
        """Takes codes of categories for numbers."""

        takes = Takes(missing=True, categorical=True)

    class Modest(Mine):
        """Takes nothing but numbers."""

        takes = Takes()

    broken("categories", Overstating(), "neighbours in number")
    for check in ("missing values", "categories"):
        remark = LEARNER_CHECKS[check](LearnerSubject(Modest()))
        assert remark is not None
        assert "It takes none" in remark.text


def test_models_that_do_not_come_back_are_found() -> None:
    class Rounding(Mine):
        """Loses the last digits."""

        @classmethod
        def load(cls, path: Path) -> Model:
            class Rounded(Wrapped):
                def predict(self, X: Table, resources: Resources) -> FloatVector:
                    return np.round(super().predict(X, resources), 6)

            return Rounded(Logistic.load(path))

    broken("files", Rounding(), "bit for bit")


def test_a_pickle_and_more_files_than_one_are_found() -> None:
    class Pickled(Wrapped):
        def save(self, path: Path) -> None:
            path.write_bytes(b"\x80\x04N.")

    class Scattered(Wrapped):
        def save(self, path: Path) -> None:
            super().save(path)
            path.with_suffix(".more").write_text("more")

    broken("files", learning(Pickled), "pickle")
    broken("files", learning(Scattered), "the one file")


def test_files_that_are_trusted_are_found() -> None:
    class Trusting(Mine):
        """Takes any file for a model."""

        @classmethod
        def load(cls, path: Path) -> Model:
            try:
                return super().load(path)
            except DataError:
                return Wrapped(None)

    broken("damaged files", Trusting(), "refuses a file that is not there")


def test_spoiled_inputs_are_found() -> None:
    class Spoiling(Mine):
        """Writes into what it is given."""

        def prepare(self, X: Table, resources: Resources) -> Any:
            X.values.flags.writeable = True
            X.values[0, 0] = 99.0
            return super().prepare(X, resources)

    broken("inputs", Spoiling(), "stay as they were")


def test_cuda_that_is_not_declared_is_found() -> None:
    class Secret(Mine):
        """Can use CUDA and does not say so."""

        @classmethod
        def cuda_problem(cls) -> str | None:
            return None

    broken("cuda", Secret(), "says so in `supports_cuda`")


class Deriving(Mine):
    """Leaves its penalty to the data."""

    space = {"c": Float(0.1, 1.0, default=1.0, derived=True, help="inverse strength of the penalty")}

    def derive(self, size: DataSize) -> dict[str, Any]:
        return {"c": max(0.1, 1 / size.n_features)}


def test_a_learner_that_derives_its_defaults_passes() -> None:
    check_learner(Deriving())


def test_derived_defaults_that_break_the_rules_are_found() -> None:
    numbers = count()

    class Undeclared(Mine):
        """Derives what it did not declare."""

        def derive(self, size: DataSize) -> dict[str, Any]:  # noqa: ARG002
            return {"c": 0.1}

    class Moody(Deriving):
        """Derives another default every time."""

        def derive(self, size: DataSize) -> dict[str, Any]:  # noqa: ARG002
            return {"c": 1 / (1 + next(numbers) % 10)}

    class Overruling(Deriving):
        """Replaces what was given."""

        def suited_to(self, size: DataSize) -> Self:
            return type(self)(**self.derive(size))

    broken("derived defaults", Undeclared(), "declared with")
    broken("derived defaults", Moody(), "every time")
    broken("derived defaults", Overruling(c=0.5), "never replaced")


class Stopping(Mine):
    """Holds rows out."""

    @property
    def stop_share(self) -> float:
        return 0.2


def test_a_learner_that_needs_its_rows_to_stop_on_is_found() -> None:
    class Peeking(Stopping):
        """Trains on them too."""

        def train(self, prepared: Any, tags: Tags, seed: Seed, resources: Resources) -> Model:
            weight = None if tags.stop is None else np.ones(len(tags.positive))
            return super().train(
                prepared, Tags(tags.positive, tags.weight if weight is None else weight), seed, resources
            )

    class Greedy(Stopping):
        """Holds all rows out."""

        @property
        def stop_share(self) -> float:
            return 1.0

    assert LEARNER_CHECKS["early stopping"](LearnerSubject(Stopping())) is None
    broken("early stopping", Peeking(), "without the rows that told when to stop")
    broken("early stopping", Greedy(), "share of the rows")
