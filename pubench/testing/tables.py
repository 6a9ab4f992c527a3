"""PU tables to try plugins on: small, drawn the same every time, with everything that real tables have."""

from dataclasses import dataclass

import numpy as np

from pubench.embedding import Embedding
from pubench.seeds import Seed
from pubench.types import BoolVector, Feature, PUData, Table

_SHIFT = 2.5
_FEATURES = (
    Feature("amount"),
    Feature("age"),
    Feature("city", "categorical", ("rome", "oslo", "bern", "lima")),
    Feature("member", "boolean"),
    Feature("since", "date"),
)


@dataclass(frozen=True, eq=False)
class Trial:
    """A table to learn from and another one of the same kind, with who is positive in them.

    Attributes:
        data: features and labels; half of the positives are labelled.
        positive: shape (n_rows,): who is positive in `data`.
        fresh: as many rows that were drawn alike.
        fresh_positive: who is positive among them.
    """

    data: PUData
    positive: BoolVector
    fresh: Table
    fresh_positive: BoolVector

    @property
    def complete(self) -> PUData:
        """The same rows with every positive labelled."""
        return PUData(self.data.X, self.positive)

    @property
    def hidden(self) -> BoolVector:
        """Who is positive among the unlabeled rows, in their order: shape (n_unlabeled,)."""
        return self.positive[~self.data.s]

    def embedded(self) -> "Trial":
        """Return the same as similarities are given it: complete numbers of one scale, as float32."""
        embedding = Embedding().fit(self.data.X)
        data = PUData(embedding.transform(self.data.X), self.data.s)
        return Trial(data, self.positive, embedding.transform(self.fresh), self.fresh_positive)


def numeric_trial(rows: int = 400) -> Trial:
    """Return an easy trial of four numbers: positives, one row in ten, lie apart in two of them."""
    return _trial("numeric", rows, every=10)


def mixed_trial(rows: int = 400) -> Trial:
    """Return the same with missing values, categories, flags and dates."""
    return _trial("mixed", rows, every=10, mixed=True)


def rare_trial(rows: int = 20_000) -> Trial:
    """Return a trial of numbers in which one row in a thousand is positive."""
    return _trial("rare", rows, every=1_000)


def with_one_label(trial: Trial) -> PUData:
    """Return the rows of a trial with a single labelled positive."""
    s = np.zeros(trial.data.X.n_rows, dtype=np.bool_)
    s[np.flatnonzero(trial.data.s)[0]] = True
    return PUData(trial.data.X, s)


def ten_rows() -> PUData:
    """Return ten rows, three of them labelled."""
    trial = numeric_trial()
    rows = np.concatenate([np.flatnonzero(trial.data.s)[:3], np.flatnonzero(~trial.data.s)[:7]])
    return trial.data.take(rows)


def constant_features() -> PUData:
    """Return rows that no feature tells apart."""
    s = numeric_trial().data.s
    return PUData(Table.from_array(np.ones((len(s), 3))), s)


def one_constant_feature(trial: Trial) -> PUData:
    """Return the rows of a trial with a feature that never varies."""
    values = trial.data.X.values.copy()
    values[:, -1] = 7.0
    return PUData(Table(values, trial.data.X.features), trial.data.s)


def _trial(name: str, rows: int, *, every: int, mixed: bool = False) -> Trial:
    X, positive = _draw(Seed(0).child(name, "data"), rows, every, mixed=mixed)
    fresh, fresh_positive = _draw(Seed(0).child(name, "fresh"), rows, every, mixed=mixed)
    s = positive & (np.cumsum(positive) % 2 == 0)
    return Trial(PUData(X, s), positive, fresh, fresh_positive)


def _draw(seed: Seed, rows: int, every: int, *, mixed: bool) -> tuple[Table, BoolVector]:
    generator = seed.generator()
    positive = generator.permutation(np.arange(rows) % every == 0)
    values = generator.standard_normal((rows, 4))
    values[positive, :2] += _SHIFT
    if not mixed:
        return Table.from_array(values), positive
    city = np.where(positive & (generator.random(rows) < 0.5), 2, generator.integers(0, 4, rows))
    columns = [values[:, 0], values[:, 1], city, generator.random(rows) < 0.3, 18_000 + 90 * values[:, 2]]
    table = np.column_stack(columns).astype(np.float64)
    table[generator.random(rows) < 0.1, 1] = np.nan
    table[generator.random(rows) < 0.05, 2] = np.nan
    return Table(table, _FEATURES), positive
