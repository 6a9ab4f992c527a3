"""Every check of methods finds the method that breaks its promise."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench import FloatVector, Json, NotApplicableError, Parts, PUData, Resources, Scores, Seed, Table
from pubench.api.method import FittedMethod, Method
from pubench.api.spaces import Int
from pubench.errors import DataError, PluginError
from pubench.testing.methods import METHOD_CHECKS, MethodSubject, check_method
from pubench.testing.sample_tables import mixed_sample, numeric_sample


@dataclass(frozen=True)
class FittedAmount(FittedMethod):
    """Scores rows by their first feature."""

    factor: float = 1.0
    decided: dict[str, Json] = field(default_factory=lambda: {"expected_positives": 3.0})

    def score(self, X: Table, resources: Resources) -> Scores:  # noqa: ARG002
        return Scores(self.factor * np.nan_to_num(X.values[:, 0].astype(np.float64)))

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text(json.dumps({"factor": self.factor}))

    @property
    def expected_positives(self) -> float | None:
        return float(str(self.decided["expected_positives"]))

    @property
    def chosen(self) -> dict[str, Json]:
        return self.decided

    def importances(self) -> FloatVector | None:
        return None


class Amount(Method):
    """A method that keeps its promises."""

    name = "amount"
    uses = frozenset()
    space = {"unused": Int(1, 2, default=1, help="means nothing")}

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
        resources.progress(0.5)
        resources.progress(1.0)
        return FittedAmount()

    def load(self, folder: Path, parts: Parts) -> FittedMethod:  # noqa: ARG002
        try:
            return FittedAmount(float(json.loads((folder / "model.json").read_text())["factor"]))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DataError("The model is damaged.") from error


def test_a_method_that_keeps_its_promises_passes() -> None:
    check_method(Amount(), Parts())


def broken(check: str, method: Method, sentence: str) -> None:
    with pytest.raises(PluginError, match=sentence):
        METHOD_CHECKS[check](MethodSubject(method, Parts()))


def fitting(fitted: type[FittedAmount]) -> Method:
    """Return a method that learns this."""

    class Other(Amount):
        """Learns something else."""

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
            return fitted()

    return Other()


def test_a_parameter_without_help_is_found() -> None:
    class Silent(Amount):
        """Says nothing about its parameter."""

        space = {"unused": Int(1, 2, default=1)}

    broken("parameters", Silent(), "'unused' has a help text")


def test_scores_that_tell_nothing_are_found() -> None:
    class Flat(FittedAmount):
        def score(self, X: Table, resources: Resources) -> Scores:  # noqa: ARG002
            return Scores(np.zeros(X.n_rows))

    broken("scores", fitting(Flat), "differ between rows")


def test_scores_of_too_few_rows_are_found() -> None:
    class Short(FittedAmount):
        def score(self, X: Table, resources: Resources) -> Scores:
            return Scores(super().score(X, resources).values[:-1])

    broken("scores", fitting(Short), "one score")
    broken("ten rows", fitting(Short), "one score")


def test_scores_upside_down_are_found() -> None:
    class Upside(FittedAmount):
        def score(self, X: Table, resources: Resources) -> Scores:
            return Scores(-super().score(X, resources).values)

    broken("quality", fitting(Upside), "AUC is above")


class Drifting(Amount):
    """Learns something else every time."""

    times: Iterator[int] = count(1)

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
        return FittedAmount(float(next(self.times)))


def test_chance_that_no_seed_rules_is_found() -> None:
    broken("seed", Drifting(), "Equal data, parameters and seed")


def test_threads_that_matter_are_found() -> None:
    class Threaded(Amount):
        """Depends on threads."""

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
            return FittedAmount(float(resources.n_threads))

    broken("threads", Threaded(), "number of threads")


def test_rows_that_depend_on_others_are_found() -> None:
    class Ranked(FittedAmount):
        def score(self, X: Table, resources: Resources) -> Scores:
            return Scores(np.argsort(np.argsort(super().score(X, resources).values)).astype(float))

    broken("rows alone", fitting(Ranked), "that row alone")


def test_spoiled_inputs_are_found() -> None:
    class Spoiling(Amount):
        """Writes into the table."""

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:
            owner: Any = data.X.values.base
            if owner is not None:
                owner[0, 0] = 99.0
            return super().fit(data, parts, seed, resources)

    broken("inputs", Spoiling(), "stay as they were")


@pytest.mark.parametrize(("reported", "sentence"), [([0.5, 0.2], "never goes back"), ([0.5, 1.5], "lies in")])
def test_progress_that_is_none_is_found(reported: list[float], sentence: str) -> None:
    class Telling(Amount):
        """Tells nonsense."""

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
            for share in reported:
                resources.progress(share)
            return FittedAmount()

    broken("progress", Telling(), sentence)


def test_work_that_can_not_be_stopped_is_found() -> None:
    class Stubborn(Amount):
        """Goes on."""

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:
            try:
                return super().fit(data, parts, seed, resources)
            except Exception:  # noqa: BLE001 - what this test is about
                return FittedAmount()

    broken("progress", Stubborn(), "ends fitting")


@pytest.mark.parametrize("expected", [0.0, 1e9])
def test_impossible_numbers_of_positives_are_found(expected: float) -> None:
    class Counting(FittedAmount):
        @property
        def expected_positives(self) -> float | None:
            return expected

    broken("reports", fitting(Counting), "expected_positives")


def test_reports_that_are_no_json_are_found() -> None:
    class Odd(FittedAmount):
        @property
        def chosen(self) -> dict[str, Json]:
            return {"k": float("nan")}

    broken("reports", fitting(Odd), "plain JSON")


@pytest.mark.parametrize("values", [[1.0], [0.5, 0.5, 0.5, 0.5, 0.5], [2.0, -1.0, 0.0, 0.0, 0.0]])
def test_importances_that_are_none_are_found(values: list[float]) -> None:
    class Important(FittedAmount):
        def importances(self) -> FloatVector | None:
            return np.array(values)

    broken("reports", fitting(Important), "Importances")


def test_files_that_bring_back_something_else_are_found() -> None:
    class Forgetful(Amount):
        """Loads another model."""

        def load(self, folder: Path, parts: Parts) -> FittedMethod:  # noqa: ARG002
            return FittedAmount(1.0 + 1e-12)

    broken("files", Forgetful(), "bit for bit")
    broken("damaged files", Forgetful(), "refused with DataError")


def test_a_pickle_is_found() -> None:
    class Pickled(FittedAmount):
        def save(self, folder: Path) -> None:
            super().save(folder)
            (folder / "model.pkl").write_bytes(b"")

    broken("files", fitting(Pickled), "pickle")


def test_strange_values_that_crash_are_found() -> None:
    class Trusting(Amount):
        """Believes what is in its files."""

        def load(self, folder: Path, parts: Parts) -> FittedMethod:
            super().load(folder, parts)
            factor = json.loads((folder / "model.json").read_text())["factor"]
            return FittedAmount([1.0][int(factor) - 1])

    with pytest.raises(IndexError):
        METHOD_CHECKS["damaged files"](MethodSubject(Trusting(), Parts()))


@pytest.mark.parametrize("check", ["one label", "ten rows", "constants"])
def test_a_method_may_decline_hard_tables_in_a_sentence(check: str) -> None:
    class Declining(Amount):
        """Needs many labels, or says so."""

        reason = "Two hundred labelled rows are needed."

        def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:
            if data.n_labelled < 5 or len(np.unique(data.X.values)) == 1:
                raise NotApplicableError(self.reason)
            return super().fit(data, parts, seed, resources)

    METHOD_CHECKS[check](MethodSubject(Declining(), Parts()))
    Declining.reason = "no"
    broken(check, Declining(), "in a sentence")


@pytest.mark.parametrize("sample", [numeric_sample(), mixed_sample()])
def test_trials_are_what_they_say(sample: Any) -> None:
    assert np.all(sample.positive[sample.data.s])
    assert sample.positive.sum() == 2 * sample.data.n_labelled
    assert sample.complete.n_labelled == sample.positive.sum() == sample.fresh_positive.sum()


def test_mixed_trials_have_what_real_tables_have() -> None:
    X = mixed_sample().data.X
    assert {feature.kind for feature in X.features} == {"numeric", "boolean", "categorical", "date"}
    assert np.isnan(X.values).any()
