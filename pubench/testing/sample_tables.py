"""PU tables on which plugins are checked: small, the same in every run, with features of all kinds."""

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
class SampleTable:
    """A table to learn from and a new one of the same distribution, with their true labels.

    Attributes:
        data: features and labels; half of the positives are labelled.
        positive: shape (n_rows,): true where a row of `data` is positive.
        fresh: new rows, as many, of the same distribution.
        fresh_positive: true where one of them is positive.
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
        """True where an unlabeled row is positive: shape (n_unlabeled,)."""
        return self.positive[~self.data.s]

    def embedded(self) -> "SampleTable":
        """Return the same as similarities are given it: complete numbers of one scale, as float32."""
        embedding = Embedding().fit(self.data.X)
        data = PUData(embedding.transform(self.data.X), self.data.s)
        return SampleTable(data, self.positive, embedding.transform(self.fresh), self.fresh_positive)


def numeric_sample(rows: int = 400) -> SampleTable:
    """Return an easy sample of four numbers: positives, one row in ten, lie apart in two of them."""
    return _sample_table("numeric", rows, every=10)


def mixed_sample(rows: int = 400) -> SampleTable:
    """Return the same with missing values, categories, flags and dates."""
    return _sample_table("mixed", rows, every=10, mixed=True)


def rare_sample(rows: int = 20_000) -> SampleTable:
    """Return a sample of numbers in which one row in a thousand is positive."""
    return _sample_table("rare", rows, every=1_000)


def with_one_label(sample: SampleTable) -> PUData:
    """Return the rows of a sample with a single labelled positive."""
    s = np.zeros(sample.data.X.n_rows, dtype=np.bool_)
    s[np.flatnonzero(sample.data.s)[0]] = True
    return PUData(sample.data.X, s)


def ten_rows() -> PUData:
    """Return ten rows, three of them labelled."""
    sample = numeric_sample()
    rows = np.concatenate([np.flatnonzero(sample.data.s)[:3], np.flatnonzero(~sample.data.s)[:7]])
    return sample.data.take(rows)


def constant_features() -> PUData:
    """Return rows whose features are all constant."""
    s = numeric_sample().data.s
    return PUData(Table.from_array(np.ones((len(s), 3))), s)


def one_constant_feature(sample: SampleTable) -> PUData:
    """Return the rows of a sample with a feature that never varies."""
    values = sample.data.X.values.copy()
    values[:, -1] = 7.0
    return PUData(Table(values, sample.data.X.features), sample.data.s)


def _sample_table(name: str, rows: int, *, every: int, mixed: bool = False) -> SampleTable:
    X, positive = _draw(Seed(0).child(name, "data"), rows, every, mixed=mixed)
    fresh, fresh_positive = _draw(Seed(0).child(name, "fresh"), rows, every, mixed=mixed)
    s = positive & (np.cumsum(positive) % 2 == 0)
    return SampleTable(PUData(X, s), positive, fresh, fresh_positive)


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
