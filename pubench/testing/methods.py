"""What every method promises, as checks: run `check_method`, or the `METHOD_CHECKS` one by one.

    from pubench.testing.methods import check_method
    check_method(MyMethod(members=5), Parts(learner=LightGBM()))

Each check raises `PluginError` with the promise that is broken, and does not catch exceptions of the method.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pubench.api.method import FittedMethod, Method, Parts
from pubench.api.spaces import Value
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
    expect_k_choice,
    expect_no_data,
    expect_progress,
    expect_untouched,
)
from pubench.testing.sample_tables import (
    SampleTable,
    constant_features,
    mixed_sample,
    numeric_sample,
    one_constant_feature,
    ten_rows,
    with_one_label,
)
from pubench.types import FloatVector, PUData, Resources, Table

_ONE, _TWO = Resources(n_threads=1), Resources(n_threads=2)


@dataclass(frozen=True, eq=False)
class MethodSubject:
    """A method to be checked and the parts it is given; one that is quick to fit makes quick checks."""

    method: Method
    parts: Parts

    @property
    def plugin(self) -> Method:
        """The method."""
        return self.method

    def fit(self, data: PUData, seed: int = 0, resources: Resources = _ONE) -> FittedMethod:
        """Fit the method."""
        return self.method.fit(data, self.parts, Seed(seed), resources)

    def data(self, sample: SampleTable) -> PUData:
        """Return the data that an evaluation would give to the method."""
        return sample.complete if self.method.wants_all_labels else sample.data

    @cached_property
    def mixed(self) -> SampleTable:
        """Rows of all kinds."""
        return mixed_sample()

    @cached_property
    def fitted(self) -> FittedMethod:
        """The method, fitted on them by one thread with seed 0."""
        return self.fit(self.data(self.mixed))

    @cached_property
    def scores(self) -> FloatVector:
        """Its scores of rows that it was not trained on."""
        return self.fitted.score(self.mixed.fresh, _ONE).values


def check_method(method: Method, parts: Parts) -> None:
    """Run every check.

    Raises:
        PluginError: a promise is broken; the message says which.
    """
    subject = MethodSubject(method, parts)
    for check in METHOD_CHECKS.values():
        check(subject)


def check_scores(subject: MethodSubject) -> None:
    """Rows that were not trained on get a finite score each, and not all the same."""
    scores = subject.scores
    expect(scores.shape == (subject.mixed.fresh.n_rows,), "Every row gets one score.")
    expect(len(np.unique(scores)) > 1, "Scores differ between rows.")


def check_quality(subject: MethodSubject) -> None:
    """Hidden positives score above negatives on an easy set, of numbers and of mixed features."""
    easy = numeric_sample()
    numeric = subject.fit(subject.data(easy)).score(easy.fresh, _ONE).values
    for sample, scores in ((easy, numeric), (subject.mixed, subject.scores)):
        expect_better_than_chance(sample.fresh_positive, scores, "On an easy set")


def check_seed(subject: MethodSubject) -> None:
    """Equal seeds give equal scores; those of another seed are as finite."""
    again = subject.fit(subject.data(subject.mixed)).score(subject.mixed.fresh, _ONE).values
    expect(np.array_equal(subject.scores, again), "Equal data, parameters and seed give equal scores.")
    subject.fit(subject.data(subject.mixed), seed=1).score(subject.mixed.fresh, _ONE)


def check_threads(subject: MethodSubject) -> None:
    """The number of threads does not change the scores."""
    other = subject.fit(subject.data(subject.mixed), resources=_TWO).score(subject.mixed.fresh, _TWO).values
    expect_equal(subject.scores, other, "The number of threads changes nothing about the scores.")


def check_rows_alone(subject: MethodSubject) -> None:
    """A row's score depends on that row alone: not on which rows are scored with it, nor on their order."""
    few = np.arange(subject.mixed.fresh.n_rows)[::-7]
    alone = subject.fitted.score(subject.mixed.fresh.take(few), _ONE).values
    expect_equal(subject.scores[few], alone, "A row's score depends on that row alone.")
    single = subject.fitted.score(subject.mixed.fresh.take(few[:1]), _ONE).values
    expect_equal(subject.scores[few[:1]], single, "A row that is scored by itself gets the same score.")


def check_inputs(subject: MethodSubject) -> None:
    """What is passed in stays as it was."""
    sample = mixed_sample()
    data = subject.data(sample)
    values, s, fresh = data.X.values.copy(), data.s.copy(), sample.fresh.values.copy()
    subject.fit(data).score(sample.fresh, _ONE)
    same = all(
        np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
        for before, after in ((values, data.X.values), (s, data.s), (fresh, sample.fresh.values))
    )
    expect(same, "Tables and labels stay as they were.")


def check_environment(subject: MethodSubject) -> None:
    """Global random state, the environment and the method itself stay as they were."""
    _ = subject.scores  # libraries are loaded
    with expect_untouched():
        subject.fit(subject.data(subject.mixed)).score(subject.mixed.fresh, _ONE)
    expect_no_data(subject.method)


def check_progress(subject: MethodSubject) -> Remark | None:
    """Progress stays in [0, 1] and never goes back; what it raises ends the work."""
    data = subject.data(subject.mixed)
    return expect_progress(lambda resources: subject.fit(data, resources=resources), "fitting")


def check_reports(subject: MethodSubject) -> None:
    """`chosen`, `expected_positives`, `k_choice` and importances have the promised form."""
    rows, features = subject.mixed.data.X.n_rows, subject.mixed.data.X.n_features
    expected = subject.fitted.expected_positives
    expect(expected is None or 0 < expected <= rows, "`expected_positives` is above 0 and at most all rows.")
    expect_json(subject.fitted.chosen, "`chosen` holds plain JSON values.")
    expect_k_choice(subject.fitted.k_choice)
    found = subject.fitted.importances()
    if found is not None:
        expect(
            found.shape == (features,) and bool(np.all(found >= 0)),
            "Importances: one per feature, none negative.",
        )
        expect(bool(np.isclose(found.sum(), 1) or not found.any()), "Importances are 1 in all, or all 0.")


def check_files(subject: MethodSubject) -> None:
    """A saved model loads and scores the same, bit for bit."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        subject.fitted.save(folder)
        expect(any(folder.iterdir()), "`save` writes what `score` needs.")
        expect(
            not list(folder.rglob("*.pkl")) + list(folder.rglob("*.pickle")), "Nothing is saved as a pickle."
        )
        loaded = subject.method.load(folder, subject.parts)
    scores = loaded.score(subject.mixed.fresh, _ONE).values
    expect(np.array_equal(scores, subject.scores), "A model that was saved scores the same, bit for bit.")
    expect(
        loaded.expected_positives == subject.fitted.expected_positives,
        "A model that was saved expects as many positives.",
    )


def check_damaged_files(subject: MethodSubject) -> None:
    """Files that are missing or damaged are refused with `DataError`, whatever is in them."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        subject.fitted.save(folder)
        for path in _one_of_each_kind(folder):
            content = path.read_bytes()
            for damaged in (None, b"[]", b"\xff\x00", content[: len(content) // 2]):
                path.unlink() if damaged is None else path.write_bytes(damaged)
                _expect_refused(
                    subject, folder, f"{path.relative_to(folder)}, damaged, is refused with DataError."
                )
                path.write_bytes(content)
            if path.suffix == ".json":
                _check_strange_values(subject, folder, path)


def check_one_label(subject: MethodSubject) -> Remark | None:
    """One labelled positive is enough, or the method says that it is not."""
    return _fit_or_decline(subject, with_one_label(subject.mixed), subject.mixed.fresh)


def check_ten_rows(subject: MethodSubject) -> Remark | None:
    """Ten rows are enough, or the method says that they are not."""
    data = ten_rows()
    return _fit_or_decline(subject, data, data.X)


def check_constants(subject: MethodSubject) -> Remark | None:
    """A feature may be constant; where all are, the method may decline."""
    subject.fit(one_constant_feature(numeric_sample())).score(numeric_sample().fresh, _ONE)
    data = constant_features()
    return _fit_or_decline(subject, data, data.X)


#: Every check, by the name of what it checks.
METHOD_CHECKS: Mapping[str, Check[MethodSubject]] = {
    **BLIND_CHECKS,
    "scores": check_scores,
    "quality": check_quality,
    "seed": check_seed,
    "threads": check_threads,
    "rows alone": check_rows_alone,
    "inputs": check_inputs,
    "environment": check_environment,
    "progress": check_progress,
    "reports": check_reports,
    "files": check_files,
    "damaged files": check_damaged_files,
    "one label": check_one_label,
    "ten rows": check_ten_rows,
    "constants": check_constants,
}


def _fit_or_decline(subject: MethodSubject, data: PUData, scored: Table) -> Remark | None:
    try:
        scores = subject.fit(data).score(scored, _ONE).values
    except NotApplicableError as error:
        return declined(error)
    expect(scores.shape == (scored.n_rows,), "Every row gets one score.")
    return None


def _one_of_each_kind(folder: Path) -> list[Path]:
    """Return the files to damage: of members, which differ by a number only, the first."""
    kinds: dict[str, Path] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        kinds.setdefault("".join(character for character in name if not character.isdigit()), path)
    return list(kinds.values())


def _check_strange_values(subject: MethodSubject, folder: Path, path: Path) -> None:
    """A value of another type is refused, or has no effect."""
    content = json.loads(path.read_text(encoding="utf-8"))
    few = subject.mixed.fresh.take(np.arange(3))
    strange: tuple[Value | list[int], ...] = ("x", -1, [])
    for key in content:
        for value in strange:
            path.write_text(json.dumps({**content, key: value}), encoding="utf-8")
            try:
                subject.method.load(folder, subject.parts).score(few, _ONE)
            except DataError:
                continue
    path.write_text(json.dumps(content), encoding="utf-8")


def _expect_refused(subject: MethodSubject, folder: Path, promise: str) -> None:
    try:
        subject.method.load(folder, subject.parts)
    except DataError:
        return
    expect(kept=False, promise=promise)
