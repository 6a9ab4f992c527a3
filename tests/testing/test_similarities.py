"""Every check of similarities finds the similarity that breaks its promise."""

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pubench.api.plugin import FittedSimilarity, Similarity
from pubench.api.spaces import Choice, Float, Int
from pubench.errors import NotApplicableError, PluginError
from pubench.seeds import Seed
from pubench.testing.examination import CheckOutcome, run_checks
from pubench.testing.similarities import SIMILARITY_CHECKS, SimilaritySubject, check_similarity
from pubench.types import Affinity, FloatVector, Json, PUData, Resources, Table


@dataclass(frozen=True, eq=False)
class FittedToMean(FittedSimilarity):
    data: PUData
    width: float

    def near(self, X: Table) -> FloatVector:
        mean = self.data.X.values[self.data.s].mean(axis=0, dtype=np.float64)
        return np.asarray(np.exp(-((X.values - mean) ** 2).sum(axis=1) / (2 * self.width**2)))

    @property
    def affinity(self) -> Affinity:
        return Affinity(np.where(self.data.s, 0.0, self.near(self.data.X)))

    def score_new(self, X: Table, resources: Resources) -> Affinity:
        resources.progress(1.0)
        return Affinity(self.near(X))

    @property
    def chosen(self) -> Mapping[str, Json]:
        return {"width": self.width}


class ToMean(Similarity):
    """A similarity that keeps its promises."""

    name = "to-mean"
    space = {"width": Float(0.5, 2.0, default=1.0, help="of the Gaussian")}
    fitted: type[FittedToMean] = FittedToMean

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:  # noqa: ARG002
        resources.progress(0.5)
        resources.progress(1.0)
        return self.fitted(data, self.params["width"])


def broken(check: str, similarity: Similarity, sentence: str) -> None:
    with pytest.raises(PluginError, match=sentence):
        SIMILARITY_CHECKS[check](SimilaritySubject(similarity))


def fitting(fitted: type[FittedToMean]) -> Similarity:
    """Return a similarity that learns this."""
    other: type[ToMean] = type("Other", (ToMean,), {"fitted": fitted, "__doc__": "Learns something else."})
    return other()


def test_a_similarity_that_keeps_its_promises_passes() -> None:
    check_similarity(ToMean())


def test_every_check_says_what_is_promised() -> None:
    for verdict in run_checks(SIMILARITY_CHECKS, SimilaritySubject(ToMean())):
        assert verdict.outcome is CheckOutcome.OK
        assert verdict.promise.endswith((".", "promise."))
        assert verdict.seconds >= 0


class Short(FittedToMean):
    @property
    def affinity(self) -> Affinity:
        return Affinity(super().affinity.values[:-1])


class Tagging(FittedToMean):
    @property
    def affinity(self) -> Affinity:
        return Affinity(self.near(self.data.X))


class Flat(FittedToMean):
    @property
    def affinity(self) -> Affinity:
        return Affinity(np.where(self.data.s, 0.0, 0.5))


class Raw(FittedToMean):
    @property
    def affinity(self) -> Affinity:
        return super().affinity.values  # type: ignore[return-value]  # what this test is about


@pytest.mark.parametrize(
    ("fitted", "sentence"),
    [
        (Short, "one value"),
        (Tagging, "Labelled rows get 0"),
        (Flat, "differ between unlabeled rows"),
        (Raw, "an `Affinity`"),
    ],
)
def test_values_that_are_none_are_found(fitted: type[FittedToMean], sentence: str) -> None:
    broken("values", fitting(fitted), sentence)


def test_values_upside_down_are_found() -> None:
    class Upside(FittedToMean):
        def near(self, X: Table) -> FloatVector:
            return 1 - super().near(X)

    broken("quality", fitting(Upside), "AUC is above")


class Unseeded(FittedToMean):
    def near(self, X: Table) -> FloatVector:
        return np.clip(super().near(X) + np.random.default_rng().random(X.n_rows) / 1000, 0, 1)


def test_chance_that_no_seed_rules_is_found() -> None:
    broken("seed", fitting(Unseeded), "all chance comes from `seed`")


def test_threads_that_matter_are_found() -> None:
    class Threaded(ToMean):
        """Depends on threads."""

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:  # noqa: ARG002
            return FittedToMean(data, 1.0 + resources.n_threads)

    broken("threads", Threaded(), "number of threads")


def test_new_rows_that_depend_on_others_are_found() -> None:
    class Ranked(FittedToMean):
        def score_new(self, X: Table, resources: Resources) -> Affinity:  # noqa: ARG002
            return Affinity(np.argsort(np.argsort(self.near(X))) / max(1, X.n_rows))

    broken("new rows", fitting(Ranked), "that row alone")


class Spoiling(ToMean):
    """Writes into the table it is given."""

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
        values = data.X.values
        values.flags.writeable = True
        values[0] = 99.0
        return super().fit(data, seed, resources)


def test_spoiled_inputs_are_found() -> None:
    broken("inputs", Spoiling(), "stay as they were")


def touch_numpy() -> None:
    np.random.random()  # noqa: NPY002 - what this test is about


def touch_random() -> None:
    random.random()  # noqa: S311 - what this test is about


def touch_environment() -> None:
    os.environ["PUBENCH_TOUCHED"] = os.environ.get("PUBENCH_TOUCHED", "") + "x"


def touch_errors() -> None:
    np.seterr(divide="raise" if np.geterr()["divide"] == "warn" else "warn")


@pytest.mark.parametrize(
    ("touch", "what"),
    [
        (touch_numpy, "NumPy's global random state"),
        (touch_random, "`random`"),
        (touch_environment, "environment"),
        (touch_errors, "treatment of errors"),
    ],
)
def test_a_touched_environment_is_found(touch: Any, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBENCH_TOUCHED", "")

    class Touching(ToMean):
        """Touches what is not its own."""

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
            touch()
            return super().fit(data, seed, resources)

    with np.errstate():
        broken("environment", Touching(), what)


def test_data_in_the_plugin_is_found() -> None:
    class Keeping(ToMean):
        """Keeps what it has seen."""

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
            self.seen = data
            return super().fit(data, seed, resources)

    broken("environment", Keeping(), "never data.* found seen")


@pytest.mark.parametrize(
    ("reported", "sentence"), [((0.5, 0.2), "never goes back"), ((0.5, 1.5), "lies in"), ((), "")]
)
def test_progress_that_is_none_is_found(reported: Sequence[float], sentence: str) -> None:
    class Telling(ToMean):
        """Tells nonsense, or nothing."""

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:  # noqa: ARG002
            for share in reported:
                resources.progress(share)
            return FittedToMean(data, 1.0)

    if sentence:
        broken("progress", Telling(), sentence)
    else:
        remark = SIMILARITY_CHECKS["progress"](SimilaritySubject(Telling()))
        assert remark is not None
        assert not remark.declined
        assert "reports no progress" in remark.text


def test_work_that_can_not_be_stopped_is_found() -> None:
    class Stubborn(ToMean):
        """Goes on."""

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
            try:
                return super().fit(data, seed, resources)
            except Exception:  # noqa: BLE001 - what this test is about
                return FittedToMean(data, 1.0)

    broken("progress", Stubborn(), "ends fitting")


def test_folds_that_differ_from_fitting_alone_are_found() -> None:
    class Sharing(ToMean):
        """Shares too much between folds."""

        def fit_folds(self, *arguments: Any, **options: Any) -> Iterator[FittedSimilarity]:
            for fitted in super().fit_folds(*arguments, **options):
                assert isinstance(fitted, FittedToMean)
                yield FittedToMean(fitted.data, 2.0)

    class Forgetful(ToMean):
        """Leaves a fold out."""

        def fit_folds(self, *arguments: Any, **options: Any) -> Iterator[FittedSimilarity]:
            found = super().fit_folds(*arguments, **options)
            next(found)
            return found

    broken("folds", Sharing(), "on each fold")
    broken("folds", Forgetful(), "one result per fold")


def test_reports_that_are_no_json_are_found() -> None:
    class Odd(FittedToMean):
        @property
        def chosen(self) -> Mapping[str, Json]:
            return {"width": np.float32(1)}  # type: ignore[dict-item]  # what this test is about

    broken("reports", fitting(Odd), "plain JSON")


def test_ends_of_ranges_at_which_it_fails_are_found() -> None:
    class Fragile(ToMean):
        """Fails at one value of what depends on another parameter."""

        space = {
            "rule": Choice(("all", "given"), default="all", help="of rows"),
            "rows": Int(0, 5, default=3, help="rows", when=("rule", "given")),
            "width": Float(0.5, 2.0, default=1.0, help="of the Gaussian"),
        }

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
            1 / self.params.get("rows", 1)
            return super().fit(data, seed, resources)

    with pytest.raises(ZeroDivisionError):
        SIMILARITY_CHECKS["extremes"](SimilaritySubject(Fragile()))


@pytest.mark.parametrize("check", ["one label", "ten rows", "equal rows"])
def test_a_similarity_may_decline_hard_tables_in_a_sentence(check: str) -> None:
    class Declining(ToMean):
        """Needs many labels that differ, or says so."""

        reason = "Ten labelled rows that differ are needed."

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
            if data.n_labelled < 10 or len(np.unique(data.X.values)) == 1:
                raise NotApplicableError(self.reason)
            return super().fit(data, seed, resources)

    remark = SIMILARITY_CHECKS[check](SimilaritySubject(Declining()))
    assert remark is not None
    assert remark.declined
    Declining.reason = "no"
    broken(check, Declining(), "in a sentence")


def test_who_declines_ordinary_tables_can_not_be_checked() -> None:
    class Lazy(ToMean):
        """Declines everything."""

        def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:  # noqa: ARG002
            raise NotApplicableError("Not today, thank you.")

    found = {v.check: v for v in run_checks(SIMILARITY_CHECKS, SimilaritySubject(Lazy()))}
    assert found["values"].outcome is CheckOutcome.BROKEN
    assert found["values"].sentence == "It declines an ordinary task: Not today, thank you."
    assert found["one label"].outcome is CheckOutcome.DECLINED


def test_the_speed_is_stated_as_a_figure() -> None:
    remark = SIMILARITY_CHECKS["speed"](SimilaritySubject(ToMean()))
    assert remark is not None
    assert remark.text.startswith("10,000 rows with one thread: ")
