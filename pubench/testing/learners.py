"""What every learner promises, as checks: run `check_learner`, or the `LEARNER_CHECKS` one by one.

    from pubench.testing.learners import check_learner
    check_learner(MyLearner(trees=20))

Each check raises `PluginError` with the promise that is broken, and lets through whatever the learner itself raises.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pubench.errors import DataError, NotApplicableError
from pubench.plugin_api import Learner, Model
from pubench.seeds import Seed
from pubench.testing.learner_subjects import LearnerSubject, hard
from pubench.testing.model_files import MODEL_FILE_CHECKS
from pubench.testing.plugins import BLIND_CHECKS, expect_no_data
from pubench.testing.promises import Remark, declined, expect, expect_better_than_chance, expect_equal
from pubench.testing.running import Check
from pubench.testing.surroundings import expect_untouched
from pubench.testing.tables import numeric_trial, rare_trial
from pubench.types import Feature, FloatVector, Resources, Table, Tags

_ONE, _TWO = Resources(n_threads=1), Resources(n_threads=2)
_MANY = 10_000


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
    share, mean = float(subject.trial.positive.mean()), float(found.mean())
    expect(
        share / 2 < mean < 2 * share,
        f"Where {share:.1%} are positive the mean probability is about that; it is {mean:.1%}.",
    )


def check_quality(subject: LearnerSubject) -> None:
    """Positives get higher probabilities than other rows, those of new rows too, and with float32 values."""
    expect_better_than_chance(subject.trial.positive, subject.probabilities, "On an easy set")
    easy = numeric_trial()
    single = Table(easy.data.X.values.astype(np.float32), easy.data.X.features)
    model = _trained(subject.plugin, single, hard(easy.positive))
    expect_better_than_chance(
        easy.fresh_positive, model.predict(easy.fresh, _ONE), "On new rows of an easy set"
    )


def check_rare_positives(subject: LearnerSubject) -> None:
    """One positive in a thousand rows is found."""
    rare = rare_trial()
    model = _trained(subject.plugin, rare.data.X, hard(rare.positive))
    found = model.predict(rare.fresh, _ONE)
    expect_better_than_chance(rare.fresh_positive, found, "With one positive in a thousand rows")


def check_seed(subject: LearnerSubject) -> None:
    """Equal seeds give equal models; those of another seed are as valid."""
    again = subject.predicted(subject.tags)
    expect(np.array_equal(subject.probabilities, again), "Equal rows, tags and seed give equal models.")
    other = subject.predicted(subject.tags, seed=1)
    expect_better_than_chance(subject.trial.positive, other, "With another seed")


def check_threads(subject: LearnerSubject) -> None:
    """The number of threads changes nothing."""
    other = subject.train(subject.tags, resources=_TWO).predict(subject.X, _TWO)
    expect_equal(subject.probabilities, other, "The number of threads changes nothing.")


def check_weights(subject: LearnerSubject) -> None:
    """Rows of weight 0 are as good as absent, and a greater weight makes itself felt."""
    positive = subject.trial.positive.astype(np.float64)
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
    positive = subject.trial.positive
    high, low = (subject.predicted(Tags(np.where(positive, share, 0.01))) for share in (0.9, 0.2))
    expect(high[positive].mean() > low[positive].mean(), "A greater share gives higher probabilities.")
    expect_better_than_chance(positive, high, "With soft tags")


def check_prepared(subject: LearnerSubject) -> None:
    """What was prepared serves every training, also one with other parameters, and stays as it was."""
    positive = subject.trial.positive
    subject.train(hard(~positive))
    subject.train(hard(positive, np.where(positive, 9.0, 1.0)))
    promise = "What was prepared serves every training and stays as it was."
    expect(np.array_equal(subject.predicted(subject.tags), subject.probabilities), promise)
    prepared = type(subject.plugin)().prepare(subject.X, _ONE)
    other = subject.plugin.train(prepared, subject.tags, Seed(0), _ONE).predict(subject.X, _ONE)
    expect(
        np.array_equal(other, subject.probabilities),
        "`prepare` depends on the rows alone, not on parameters.",
    )


def check_side_by_side(subject: LearnerSubject) -> None:
    """Trainings and predictions in several threads at once give what they give in turn."""
    positive = subject.trial.positive
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
    expect(np.array_equal(alone, together), "Trainings at once give what they give in turn.")
    for found in predicted:
        expect_equal(subject.probabilities, found, "One model serves many threads.")


def check_importances(subject: LearnerSubject) -> None:
    """Importances: one per feature, none negative, 1 in all; a feature that matters has the greater part."""
    easy = numeric_trial()
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
    """Who takes missing values learns from rows that have some, from empty features, and from new gaps."""
    if not subject.plugin.takes.missing:
        return Remark("It takes none (`takes`): they are filled in before it sees them.")
    easy = numeric_trial()
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
    """Who takes categories does not take them for quantities."""
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
    easy = numeric_trial()
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
        "Where rows can not be told apart the share of positives is predicted.",
    )
    return None


def check_inputs(subject: LearnerSubject) -> None:
    """Tables and tags stay as they were."""
    easy = numeric_trial()
    share, weight = np.where(easy.positive, 0.9, 0.1), np.where(easy.positive, 2.0, 1.0)
    given = (easy.data.X.values, easy.fresh.values, share, weight)
    before = [array.copy() for array in given]
    _trained(subject.plugin, easy.data.X, Tags(share, weight)).predict(easy.fresh, _ONE)
    for array, kept in zip(given, before, strict=True):
        expect(np.array_equal(array, kept), "Tables and tags stay as they were; work on a copy.")


def check_surroundings(subject: LearnerSubject) -> None:
    """Global random state, the environment and the learner itself stay as they were."""
    _ = subject.probabilities  # libraries are loaded
    with expect_untouched():
        _trained(subject.plugin, subject.X, subject.tags).predict(subject.X, _ONE)
    expect_no_data(subject.plugin)


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
    """How long ten thousand rows take; a figure, not a promise."""
    _ = subject.probabilities  # libraries are loaded, and what compiles is compiled
    trial = numeric_trial(_MANY)
    began = time.perf_counter()
    model = _trained(subject.plugin, trial.data.X, hard(trial.positive))
    between = time.perf_counter()
    model.predict(trial.fresh, _ONE)
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
    "inputs": check_inputs,
    "surroundings": check_surroundings,
    **MODEL_FILE_CHECKS,
    "cuda": check_cuda,
    "speed": check_speed,
}


def _trained(learner: Learner, X: Table, tags: Tags) -> Model:
    return learner.train(learner.prepare(X, _ONE), tags, Seed(0), _ONE)
