"""What all plugins are, and the contracts of the parts that methods are made of: Similarity, Learner.

A plugin is a class with a name, a table of parameters and one or two methods. Its instances are configurations:
they hold parameters, never data, so they can be compared, stored and sent to other processes. What was learned
lives in the object that `fit` or `train` returns.

Promises of every plugin:
- Deterministic: equal data, parameters and seed give equal results, whatever `Resources.n_threads` is, up to the
  rounding of sums in float32. All randomness comes from the `Seed` that is passed in.
- Contained: it uses at most `n_threads` threads, starts no process, writes no file, opens no connection, and leaves
  its inputs, global random state and the environment as they were.
- Blind: it sees features and PU labels. Truth can not reach it: these modules do not import it.
- Light to import: heavy libraries are imported inside methods, so that listing plugins is instant.
- A task it cannot do raises `NotApplicableError` with a sentence that says why.

Methods have their contract in `pubench.method_api`, because they are given parts. That of data sets stands apart in
`pubench.dataset_api`, because they carry truth.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

from pubench.seeds import Seed
from pubench.spaces import Space, Value, resolve
from pubench.types import Affinity, BoolVector, FloatVector, IndexVector, Json, PUData, Resources, Table, Tags

#: The version of these contracts and hooks; a plugin states the one it was written for as `pubench_api`.
API_VERSION = 1


class Kind(StrEnum):
    """What a plugin is for."""

    SIMILARITY = "similarity"
    LEARNER = "learner"
    METHOD = "method"
    DATASET = "dataset"


class Plugin(ABC):
    """A named, parameterised configuration; see the kinds below.

    Attributes:
        kind: set by the contract that a plugin subclasses.
        name: how people call it: lower-case letters, digits and hyphens.
        space: its parameters; see `pubench.spaces`.
        searched: a search tries it by itself; one that does what another does, or takes many times as long, is tried
            only where a person names it.
    """

    kind: ClassVar[Kind]
    name: ClassVar[str]
    space: ClassVar[Space] = MappingProxyType({})
    searched: ClassVar[bool] = True

    def __init__(self, **params: Value) -> None:
        self._params = resolve(self.space, params, f"{self.kind} '{self.name}'")

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that apply, defaults filled in, each of the type its space declares; read-only."""
        return MappingProxyType(self._params)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._params == self._params

    def __hash__(self) -> int:
        return hash((type(self), tuple(self._params.items())))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._params.items())})"
        )


@dataclass(frozen=True)
class Takes:
    """What a learner digests by itself; what it does not take is imputed or encoded before it sees it."""

    missing: bool = False
    categorical: bool = False


class FittedSimilarity(ABC):
    """A similarity that knows a data set."""

    @property
    @abstractmethod
    def affinity(self) -> Affinity:
        """One value per row of the data it was fitted on, in the same order."""

    @abstractmethod
    def score_new(self, X: Table, resources: Resources) -> Affinity:
        """Return one value per row of `X`, rows that were not fitted on, against the fitted data."""

    @property
    def chosen(self) -> Mapping[str, Json]:
        """What fitting decided by itself, for records and reports, such as {"k": 18}."""
        return MappingProxyType({})


class Similarity(Plugin):
    """How much each unlabeled row resembles the labelled positives, as a probability: Step 1 of ProbTagging."""

    kind = Kind.SIMILARITY

    @abstractmethod
    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
        """Relate every row of `data` to its labelled positives.

        `data.X` is embedded (see `pubench.Embedding`): float32, no value missing, no categories left, and Euclidean
        distances between its rows are meaningful. Memory stays within a small multiple of `data.X`; n_rows x n_rows
        is never held at once.
        """

    def fit_folds(
        self,
        data: PUData,
        folds: Sequence[IndexVector],
        seed: Seed,
        resources: Resources,
        *,
        asked: BoolVector | None = None,  # noqa: ARG002 - for those that override it
    ) -> Iterator[FittedSimilarity]:
        """Yield what `fit` returns for `data.take(rows)`, for each of the `folds`, ascending row numbers.

        Override it where folds can share work; the results must stay equal to those of `fit` on each fold alone. Only
        the values of the rows that are `asked` for are of interest, all if it is None; those of others may be 0, and
        what is chosen by itself may be chosen by the rows that are asked for.
        """
        for number, rows in enumerate(folds):
            part = resources.part(number / len(folds), (number + 1) / len(folds))
            yield self.fit(data.take(rows), seed, part)


#: Whatever a learner's `prepare` returns; only the same learner looks inside.
Prepared: TypeAlias = Any


class Model(ABC):
    """A trained binary classifier; it does not change any more and may be used from several threads."""

    @abstractmethod
    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return P(positive) for each row of `X`: shape (n_rows,), float64 in [0, 1].

        `X` has the features, in order and kind, of the table it was trained on.
        """

    @abstractmethod
    def importances(self) -> FloatVector:
        """Return how much each feature was used: shape (n_features,), none negative, 1 in all or all 0."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write the model to the file `path` in the library's own format or as JSON, never as a pickle."""


class Learner(Plugin):
    """A binary classifier for tables; its defaults hold at one positive in a thousand rows.

    Attributes:
        takes: what it digests by itself.
        supports_cuda: its library can use CUDA; `cuda_problem` says whether it can here.
        suffix: how the names of its models' files end, with the dot.
        memory: how much one training holds beside what is prepared, in copies of the table as float64; so many are
            trained side by side as fit.
    """

    kind = Kind.LEARNER
    takes: ClassVar[Takes] = Takes(missing=True)
    supports_cuda: ClassVar[bool] = False
    memory: ClassVar[float] = 1.0
    suffix: ClassVar[str]

    @abstractmethod
    def prepare(self, X: Table, resources: Resources) -> Prepared:
        """Do once what all trainings on `X` share, such as binning.

        Depends on `X` alone, not on this learner's parameters: members and trials share the result, and `train`
        leaves it as it was, also when called from several threads at once.
        """

    @abstractmethod
    def train(self, prepared: Prepared, tags: Tags, seed: Seed, resources: Resources) -> Model:
        """Train on the prepared rows with these tags; rows of weight 0 have no influence.

        It may be called from several threads at once, each with threads of its own.
        """

    @classmethod
    @abstractmethod
    def load(cls, path: Path) -> Model:
        """Read a model back from the file `path`: it predicts what the saved one did, bit for bit.

        The file may be hostile: reading it runs no code of its own, and what is no such model raises `DataError`.
        """

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Return None if this learner can train on CUDA here and now, else why not, as a short phrase."""
        return "runs on the CPU only"
