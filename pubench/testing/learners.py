"""What every learner promises, as checks: run `check_learner`, or the `LEARNER_CHECKS` one by one.

    from pubench.testing.learners import check_learner
    check_learner(MyLearner(trees=20))

Each check raises `PluginError` with the promise that is broken, and does not catch exceptions of the learner.
"""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pubench.api.early_stopping import hold_out
from pubench.api.plugin import DataSize, Learner, Model
from pubench.api.trainer import Trainer
from pubench.errors import DataError, NotApplicableError
from pubench.seeds import Seed
from pubench.testing.checks import (
    BLIND_CHECKS,
    Check,
    Remark,
    declined,
    expect,
    expect_better_than_chance,
    expect_equal,
    expect_json,
    expect_no_data,
    expect_untouched,
)
from pubench.testing.sample_tables import SampleTable, mixed_sample, numeric_sample, rare_sample
from pubench.types import BoolVector, Feature, FloatVector, Resources, Table, Tags

_ONE, _TWO = Resources(n_threads=1), Resources(n_threads=2)
_MANY = 10_000
_ROWS = 1_000
#: From the smallest data to a million rows.
_SIZES = (
    DataSize(n_rows=10, n_features=1, n_labelled=1),
    DataSize(n_rows=1_000, n_features=20, n_labelled=30),
    DataSize(n_rows=3_000, n_features=50_000, n_labelled=100),
    DataSize(n_rows=2_000_000, n_features=170, n_labelled=20_000),
)
_JUNK = (b"", b"\x00" * 100, b"{}", b"[1, 2]", b"tree\n", b'{"form": 1}', b"\xff\xfe", b"\x80\x04N.")
#: How pickles of protocols 2 to 5 begin.
_PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def hard(positive: BoolVector, weight: FloatVector | None = None) -> Tags:
    """Return hard tags: 1 for positive rows, 0 for others."""
    return Tags(positive.astype(np.float64), weight)


@dataclass(frozen=True, eq=False)
class LearnerSubject:
    """A learner to be checked, and rows as it sees them: with missing values and categories if it takes these."""

    plugin: Learner

    @cached_property
    def sample(self) -> SampleTable:
        """Rows with features of all kinds."""
        return mixed_sample(_ROWS)

    @cached_property
    def trainer(self) -> Trainer:
        """The learner with the rows of the sample; the embedding replaced what it does not take."""
        return Trainer.of(self.plugin, self.sample.data.X, _ONE)

    @property
    def X(self) -> Table:  # noqa: N802 - the name of the feature table everywhere
        """The rows as the learner sees them."""
        return self.trainer.X

    @property
    def tags(self) -> Tags:
        """Hard tags of the positive rows."""
        return hard(self.sample.positive)

    def train(self, tags: Tags, seed: int = 0, resources: Resources = _ONE) -> Model:
        """Train on the rows of the sample."""
        return self.trainer.train(tags, Seed(seed), resources)

    def predicted(self, tags: Tags, seed: int = 0) -> FloatVector:
        """Train, and predict the same rows."""
        return self.train(tags, seed).predict(self.X, _ONE)

    @cached_property
    def model(self) -> Model:
        """A model of the positive rows, trained by one thread with seed 0."""
        return self.train(self.tags)

    @cached_property
    def probabilities(self) -> FloatVector:
        """Its predictions for the rows it was trained on."""
        return self.model.predict(self.X, _ONE)


def check_learner(learner: Learner) -> None:
    """Run every check.

    Raises:
        PluginError: a promise is broken; the message says which.
    """
    subject = LearnerSubject(learner)
    for check in LEARNER_CHECKS.values():
        check(subject)


def check_probabilities(subject: LearnerSubject) -> None:
    """Every row gets a probability, float64 in [0, 1], and their mean is about the share of positives."""
    found = subject.probabilities
    expect(found.shape == (subject.X.n_rows,), "Every row gets one probability.")
    expect(found.dtype == np.float64, f"Probabilities are float64; got {found.dtype}.")
    expect(bool(np.all((found >= 0) & (found <= 1))), "Probabilities lie in [0, 1].")
    share, mean = float(subject.sample.positive.mean()), float(found.mean())
    expect(
        share / 2 < mean < 2 * share,
        f"Where {share:.1%} are positive the mean probability is about that; it is {mean:.1%}.",
    )


def check_quality(subject: LearnerSubject) -> None:
    """Positives get higher probabilities than other rows, those of new rows too, and with float32 values."""
    expect_better_than_chance(subject.sample.positive, subject.probabilities, "On an easy set")
    easy = numeric_sample()
    single = Table(easy.data.X.values.astype(np.float32), easy.data.X.features)
    model = _trained(subject.plugin, single, hard(easy.positive))
    expect_better_than_chance(
        easy.fresh_positive, model.predict(easy.fresh, _ONE), "On new rows of an easy set"
    )


def check_rare_positives(subject: LearnerSubject) -> None:
    """One positive in a thousand rows is found."""
    rare = rare_sample()
    model = _trained(subject.plugin, rare.data.X, hard(rare.positive))
    found = model.predict(rare.fresh, _ONE)
    expect_better_than_chance(rare.fresh_positive, found, "With one positive in a thousand rows")


def check_seed(subject: LearnerSubject) -> None:
    """Equal seeds give equal models; those of another seed are as valid."""
    again = subject.predicted(subject.tags)
    expect(np.array_equal(subject.probabilities, again), "Equal rows, tags and seed give equal models.")
    other = subject.predicted(subject.tags, seed=1)
    expect_better_than_chance(subject.sample.positive, other, "With another seed")


def check_threads(subject: LearnerSubject) -> None:
    """The number of threads changes nothing."""
    other = subject.train(subject.tags, resources=_TWO).predict(subject.X, _TWO)
    expect_equal(subject.probabilities, other, "The number of threads changes nothing.")


def check_weights(subject: LearnerSubject) -> None:
    """Rows of weight 0 have no influence, and a greater weight has more influence."""
    positive = subject.sample.positive.astype(np.float64)
    present = np.arange(len(positive)) < 0.7 * len(positive)
    counted = present.astype(np.float64)
    for soft in (positive, np.where(positive == 1, 0.8, 0.01)):
        expect(
            np.array_equal(
                subject.predicted(Tags(soft, counted)),
                subject.predicted(Tags(np.where(present, soft, 1 - soft), counted)),
            ),
            "Rows of weight 0 have no influence.",
        )
    heavy, light = (
        subject.predicted(Tags(positive, np.where(positive == 1, weight, 1.0))).mean()
        for weight in (50.0, 0.02)
    )
    expect(heavy > light, "The more positives weigh, the higher the probabilities.")


def check_soft_tags(subject: LearnerSubject) -> None:
    """A tag may be a share: the greater it is for positives, the higher the probabilities."""
    positive = subject.sample.positive
    high, low = (subject.predicted(Tags(np.where(positive, share, 0.01))) for share in (0.9, 0.2))
    expect(high[positive].mean() > low[positive].mean(), "A greater share gives higher probabilities.")
    expect_better_than_chance(positive, high, "With soft tags")


def check_prepared(subject: LearnerSubject) -> None:
    """Prepared rows serve every training, also one with other parameters, and stay as they were."""
    positive = subject.sample.positive
    subject.train(hard(~positive))
    subject.train(hard(positive, np.where(positive, 9.0, 1.0)))
    promise = "Prepared rows serve every training and stay as they were."
    expect(np.array_equal(subject.predicted(subject.tags), subject.probabilities), promise)
    prepared = type(subject.plugin)().prepare(subject.X, _ONE)
    trainer = replace(subject.trainer, prepared=prepared)
    other = trainer.train(subject.tags, Seed(0), _ONE).predict(subject.X, _ONE)
    expect(
        np.array_equal(other, subject.probabilities),
        "`prepare` depends on the rows alone, not on parameters.",
    )


def check_side_by_side(subject: LearnerSubject) -> None:
    """Trainings and predictions in several threads at once give the same results as in turn."""
    positive = subject.sample.positive
    few = np.where(np.arange(len(positive)) % 5 == 0, 1.0, 0.0)
    kinds = (hard(positive), hard(~positive), hard(positive, few), Tags(np.where(positive, 0.9, 0.02)))
    jobs = [(tags, number) for number in range(2) for tags in kinds]

    def member(job: tuple[Tags, int]) -> FloatVector:
        return subject.predicted(*job)

    def again(number: int) -> FloatVector:
        return subject.model.predict(subject.X, Resources(n_threads=1 + number % 2))

    alone = [member(job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        together, predicted = list(pool.map(member, jobs)), list(pool.map(again, range(8)))
    expect(np.array_equal(alone, together), "Trainings at once give the same results as in turn.")
    for found in predicted:
        expect_equal(subject.probabilities, found, "One model serves many threads.")


def check_importances(subject: LearnerSubject) -> None:
    """Importances: one per feature, none negative, 1 in all; a feature that matters has the greater part."""
    easy = numeric_sample()
    target = easy.data.X.values[:, 0] > 1
    found = _trained(subject.plugin, easy.data.X, hard(target)).importances()
    expect(found.shape == (4,) and bool(np.all(found >= 0)), "Importances: one per feature, none negative.")
    expect(bool(np.isclose(found.sum(), 1)), "Importances are 1 in all.")
    expect(bool(found[0] > 0.5), "The one feature that matters has the greater part of the importance.")


def check_features(subject: LearnerSubject) -> None:
    """A table with other features than those of the training is refused with `DataError`."""
    fewer = Table(subject.X.values[:, :-1], subject.X.features[:-1])
    try:
        subject.model.predict(fewer, _ONE)
    except DataError:
        return
    expect(kept=False, promise="A table with fewer features is refused with DataError.")


def check_missing_values(subject: LearnerSubject) -> Remark | None:
    """A learner that takes missing values learns from rows that have some, from empty features, and from new gaps."""
    if not subject.plugin.takes.missing:
        return Remark("It takes none (`takes`): they are filled in before it sees them.")
    easy = numeric_sample()
    values = easy.data.X.values.copy()
    values[::9, 1] = np.nan
    values[:, 3] = np.nan
    model = _trained(subject.plugin, Table(values, easy.data.X.features), hard(easy.positive))
    gaps = easy.fresh.values.copy()
    gaps[:, 3] = np.nan
    gaps[::7, 0] = np.nan
    found = model.predict(Table(gaps, easy.fresh.features), _ONE)
    expect_better_than_chance(easy.fresh_positive, found, "With missing values")
    expect(model.importances()[3] == 0, "An empty feature has no importance.")
    return None


def check_categories(subject: LearnerSubject) -> Remark | None:
    """A learner that takes categories does not treat them as quantities."""
    if not subject.plugin.takes.categorical:
        return Remark("It takes none (`takes`): they are encoded before it sees them.")
    codes = np.arange(2_000) % 20
    positive = np.isin(codes, [3, 8, 13]) & (np.arange(2_000) % 40 < 20)
    X = Table(
        codes.reshape(-1, 1).astype(np.float64),
        (Feature("city", "categorical", tuple(f"c{code}" for code in range(20))),),
    )
    found = _trained(subject.plugin, X, hard(positive)).predict(X, _ONE)
    expect(
        found[codes == 8].mean() > 5 * found[codes == 9].mean(),
        "A category whose neighbours in number are negative can be positive all the same.",
    )
    return None


def check_constants(subject: LearnerSubject) -> Remark | None:
    """A feature may be constant; where all are, the share of positives is predicted, or the learner declines."""
    easy = numeric_sample()
    values = easy.data.X.values.copy()
    values[:, -1] = 7.0
    X = Table(values, easy.data.X.features)
    found = _trained(subject.plugin, X, hard(easy.positive)).predict(X, _ONE)
    expect_better_than_chance(easy.positive, found, "With a constant feature")
    flat = Table.from_array(np.ones((50, 3)))
    try:
        model = _trained(subject.plugin, flat, hard(np.arange(50) < 10))
    except NotApplicableError as error:
        return declined(error)
    expect(
        bool(np.allclose(model.predict(flat, _ONE), 0.2, rtol=1e-2)),
        "Where all features are constant the share of positives is predicted.",
    )
    return None


def check_derived_defaults(subject: LearnerSubject) -> Remark | None:
    """Defaults for data of a size: the same every time, in their ranges, and never in place of what was given."""
    plugin = type(subject.plugin)
    declared = {name for name, dimension in plugin.space.items() if dimension.derived}
    for size in _SIZES:
        derived = plugin().derive(size)
        expect(set(derived) <= declared, "What is derived is declared with `derived=True`.")
        expect_json(derived, "Derived defaults are plain JSON values.")
        suited = plugin().suited_to(size)
        expect(suited == plugin().suited_to(size), "Data of one size gives the same defaults every time.")
        expect(plugin(**suited.params) == suited, "A suited learner comes again from its parameters.")
        given = subject.plugin.stated
        kept = subject.plugin.suited_to(size).params
        expect(all(kept[name] == given[name] for name in given), "What is given is never replaced.")
    return None if declared else Remark("Its defaults do not depend on the data.")


def check_early_stopping(subject: LearnerSubject) -> Remark | None:
    """Rows to stop early on are not trained on, and `decided` says how long the training was."""
    share = subject.plugin.stop_share
    expect(0 <= share < 1, f"`stop_share` is a share of the rows, at least 0 and below 1; it is {share}.")
    if share == 0:
        return Remark("It holds no rows out to stop early on (`stop_share`).")
    tags = hold_out(subject.tags, share, Seed(0))
    model = subject.plugin.train(subject.trainer.prepared, tags, Seed(0), _ONE)
    found = model.predict(subject.X, _ONE)
    expect_better_than_chance(subject.sample.positive, found, "Where it stopped early")
    expect_json(model.decided, "`decided` holds plain JSON values.")
    same = type(subject.plugin)(**{**subject.plugin.params, **model.decided})
    for stated in (tags, Tags(tags.positive, tags.weight)):
        again = same.train(subject.trainer.prepared, stated, Seed(0), _ONE).predict(subject.X, _ONE)
        expect(
            np.array_equal(found, again),
            "`decided` gives the same model again, also without the rows that told when to stop.",
        )
    return None


def check_inputs(subject: LearnerSubject) -> None:
    """Tables and tags stay as they were."""
    easy = numeric_sample()
    share, weight = np.where(easy.positive, 0.9, 0.1), np.where(easy.positive, 2.0, 1.0)
    given = (easy.data.X.values, easy.fresh.values, share, weight)
    before = [array.copy() for array in given]
    _trained(subject.plugin, easy.data.X, Tags(share, weight)).predict(easy.fresh, _ONE)
    for array, kept in zip(given, before, strict=True):
        expect(np.array_equal(array, kept), "Tables and tags stay as they were; work on a copy.")


def check_environment(subject: LearnerSubject) -> None:
    """Global random state, the environment and the learner itself stay as they were."""
    _ = subject.probabilities  # libraries are loaded
    with expect_untouched():
        _trained(subject.plugin, subject.X, subject.tags).predict(subject.X, _ONE)
    expect_no_data(subject.plugin)


def check_files(subject: LearnerSubject) -> None:
    """A model that was saved loads and predicts the same, bit for bit, also when it is saved again."""
    with _folder() as folder:
        first, second = (folder / f"{name}{subject.plugin.suffix}" for name in ("first", "second"))
        subject.model.save(first)
        expect([*folder.iterdir()] == [first], "`save` writes the one file whose name it is given.")
        expect(not first.read_bytes().startswith(_PICKLES), "A model is never saved as a pickle.")
        loaded = subject.plugin.load(first)
        loaded.save(second)
        again = subject.plugin.load(second)
    for model in (loaded, again):
        found = model.predict(subject.X, _ONE)
        expect(
            np.array_equal(found, subject.probabilities),
            "A model that was saved predicts the same, bit for bit.",
        )
    expect(
        bool(np.allclose(loaded.importances(), subject.model.importances(), rtol=1e-5)),
        "A model that was saved has the same importances.",
    )


def check_damaged_files(subject: LearnerSubject) -> None:
    """Files that are missing, damaged or of another kind are refused with `DataError`."""
    with _folder() as folder:
        path = folder / f"model{subject.plugin.suffix}"
        _expect_refused(subject, path, "a file that is not there")
        subject.model.save(path)
        content = path.read_bytes()
        for damaged in (*_JUNK, content[: len(content) // 10], content[: len(content) // 2]):
            path.write_bytes(damaged)
            _expect_refused(
                subject, path, f"a file that begins with {damaged[:20]!r}, of {len(damaged)} bytes,"
            )


def check_cuda(subject: LearnerSubject) -> Remark | None:
    """It says whether it can use CUDA here."""
    problem = subject.plugin.cuda_problem()
    expect(problem is None or bool(problem.strip()), "`cuda_problem` is None or a phrase that says why not.")
    expect(
        subject.plugin.supports_cuda or problem is not None,
        "A learner that can train on CUDA says so in `supports_cuda`.",
    )
    return Remark(f"CUDA: {problem}.") if problem and subject.plugin.supports_cuda else None


def check_speed(subject: LearnerSubject) -> Remark:
    """The time that ten thousand rows take; a figure, not a promise."""
    _ = subject.probabilities  # libraries are loaded, and what compiles is compiled
    sample = numeric_sample(_MANY)
    began = time.perf_counter()
    model = _trained(subject.plugin, sample.data.X, hard(sample.positive))
    between = time.perf_counter()
    model.predict(sample.fresh, _ONE)
    end = time.perf_counter()
    return Remark(
        f"{_MANY:,} rows with one thread: {between - began:.2f} s to train, {end - between:.2f} s to predict."
    )


#: Every check, by the name of what it checks.
LEARNER_CHECKS: Mapping[str, Check[LearnerSubject]] = {
    **BLIND_CHECKS,
    "probabilities": check_probabilities,
    "quality": check_quality,
    "rare positives": check_rare_positives,
    "seed": check_seed,
    "threads": check_threads,
    "weights": check_weights,
    "soft tags": check_soft_tags,
    "prepared": check_prepared,
    "side by side": check_side_by_side,
    "importances": check_importances,
    "features": check_features,
    "missing values": check_missing_values,
    "categories": check_categories,
    "constants": check_constants,
    "derived defaults": check_derived_defaults,
    "early stopping": check_early_stopping,
    "inputs": check_inputs,
    "environment": check_environment,
    "files": check_files,
    "damaged files": check_damaged_files,
    "cuda": check_cuda,
    "speed": check_speed,
}


def _trained(learner: Learner, X: Table, tags: Tags) -> Model:
    return learner.train(learner.prepare(X, _ONE), tags, Seed(0), _ONE)


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def _expect_refused(subject: LearnerSubject, path: Path, what: str) -> None:
    try:
        subject.plugin.load(path)
    except DataError:
        return
    expect(kept=False, promise=f"`load` refuses {what} with DataError.")
