"""What all plugins are, and the contracts of the parts that methods are made of: Similarity, Learner.

A plugin is a class with a name, a table of parameters and one or two methods. Its instances are configurations:
they hold parameters, never data, so they can be compared, stored and sent to other processes. What was learned
is in the object that `fit` or `train` returns.

Promises of every plugin:
- Deterministic: equal data, parameters and seed give equal results, whatever `Resources.n_threads` is, up to the
  rounding of sums in float32. All randomness comes from the `Seed` that is passed in.
- Contained: it uses at most `n_threads` threads, starts no process, writes no file, opens no connection, and leaves
  its inputs, global random state and the environment as they were.
- Blind: it sees features and PU labels. True labels cannot reach it: these modules do not import them.
- Light to import: heavy libraries are imported inside methods, so that listing plugins is instant.
- A task it cannot do raises `NotApplicableError` with a sentence that says why.

Methods have their contract in `pubench.api.method`, because they are given parts. That of data sets is in
`pubench.api.dataset`, because they carry true labels.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

from pubench.api.spaces import Choice, Space, Value, resolve
from pubench.neighbors.k_choice import KChoice
from pubench.seeds import Seed
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
        name: on the command line and in files: lower-case letters, digits and hyphens.
        space: its parameters; see `pubench.api.spaces`.
        searched: a search tries it by default; a plugin that is equivalent to another one or much slower is tried only
            where a user names it.
    """

    kind: ClassVar[Kind]
    name: ClassVar[str]
    space: ClassVar[Space] = MappingProxyType({})
    searched: ClassVar[bool] = True

    def __init__(self, **params: Value) -> None:
        self._params = resolve(self.space, params, f"{self.kind} '{self.name}'")
        self._open = frozenset(
            name for name in self._params if self.space[name].derived and name not in params
        )

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that apply, defaults filled in, each of the type its space declares; read-only."""
        return MappingProxyType(self._params)

    @property
    def stated(self) -> Mapping[str, Any]:
        """The same without those that are left to the size of the data: made of these, a plugin is equal to this one."""
        return {name: value for name, value in self._params.items() if name not in self._open}

    def draft(self) -> Self:
        """Return the configuration that a search judges in place of this one: quicker where a parameter has a draft value."""
        return type(self)(**{name: self._draft_value(name, value) for name, value in self.stated.items()})

    def _draft_value(self, name: str, value: Any) -> Value:
        dimension = self.space[name]
        if dimension.draft is None or isinstance(dimension, Choice):
            return value if dimension.draft is None else dimension.draft
        return dimension.cast(min(value, dimension.cast(dimension.draft)))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (other._params, other._open) == (self._params, self._open)

    def __hash__(self) -> int:
        return hash((type(self), tuple(self._params.items())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.stated.items())})"


@dataclass(frozen=True)
class DataSize:
    """The size of PU data: what a learner may derive defaults from."""

    n_rows: int
    n_features: int
    n_labelled: int

    @classmethod
    def of(cls, data: PUData) -> Self:
        """Return the size of `data`."""
        return cls(data.X.n_rows, data.X.n_features, data.n_labelled)


@dataclass(frozen=True)
class Takes:
    """What a learner takes as it is; anything else is imputed or encoded before training."""

    missing: bool = False
    categorical: bool = False


class FittedSimilarity(ABC):
    """A similarity fitted on a data set."""

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

    @property
    def k_choice(self) -> KChoice | None:
        """The curve E_k and the k that the rule reads off it; None for a similarity that counts no neighbours.

        The k in use is `chosen["k"]`; it differs from this one where it was given as a parameter.
        """
        return None


class Similarity(Plugin):
    """The similarity of each unlabeled row to the labelled positives, as a probability: Step 1 of ProbTagging."""

    kind = Kind.SIMILARITY

    @abstractmethod
    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedSimilarity:
        """Relate every row of `data` to its labelled positives.

        `data.X` is embedded (see `pubench.Embedding`): float32, no value missing, no categories, and Euclidean
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
        asked: BoolVector | None = None,  # noqa: ARG002 - for subclasses
    ) -> Iterator[FittedSimilarity]:
        """Yield what `fit` returns for `data.take(rows)`, for each of the `folds`, ascending row numbers.

        Override it where folds can share work; the results must stay equal to those of `fit` on each fold alone. Only
        the values of the rows in `asked` are used, all if it is None; those of others may be 0, and `chosen` may depend on
        the rows in `asked` alone.
        """
        for number, rows in enumerate(folds):
            part = resources.part(number / len(folds), (number + 1) / len(folds))
            yield self.fit(data.take(rows), seed, part)


#: The result of a learner's `prepare`; only the same learner reads it.
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
        """Return the importance of each feature: shape (n_features,), none negative, 1 in all or all 0."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write the model to the file `path` in the library's own format or as JSON, never as a pickle."""

    @property
    def decided(self) -> Mapping[str, Json]:
        """What training decided by itself: parameters of the learner that give the same model again; none by default.

        Such as the number of trees where the time ran out, or of rounds where training stopped early. A model that was read
        from a file need not know it.
        """
        return MappingProxyType({})


class Learner(Plugin):
    """A binary classifier for tables; its defaults hold at one positive in a thousand rows.

    Attributes:
        takes: the kinds of values that it takes as they are.
        supports_cuda: its library can use CUDA; `cuda_problem` says whether it can here.
        suffix: how the names of its models' files end, with the dot.
        memory: the memory of one training besides the prepared rows, in copies of the table as float64; it limits the
            number of parallel trainings.
        taggings_at_once: the number of taggings that `train_many` trains on faster together than one by one.
    """

    kind = Kind.LEARNER
    takes: ClassVar[Takes] = Takes(missing=True)
    supports_cuda: ClassVar[bool] = False
    memory: ClassVar[float] = 1.0
    taggings_at_once: ClassVar[int] = 1
    suffix: ClassVar[str]

    @abstractmethod
    def prepare(self, X: Table, resources: Resources) -> Prepared:
        """Return what all trainings on `X` share, such as binned rows.

        Depends on `X` alone, not on this learner's parameters: members and trials share the result, and `train`
        does not change it, also when called from several threads at once.
        """

    @abstractmethod
    def train(self, prepared: Prepared, tags: Tags, seed: Seed, resources: Resources) -> Model:
        """Train on the prepared rows with these tags; rows of weight 0 have no influence.

        It may be called from several threads at once, each with its own `resources`.
        """

    def train_many(
        self, prepared: Prepared, taggings: Sequence[Tags], seeds: Sequence[Seed], resources: Resources
    ) -> Sequence[Model]:
        """Train on each tagging, with the seed of the same number, and return the models in this order.

        Override it where taggings can share work, and state `taggings_at_once`: at most this number comes at one go. Each
        model depends on its own tags and seed alone, as if it had been trained by `train`.
        """
        return [
            self.train(prepared, tags, seed, resources) for tags, seed in zip(taggings, seeds, strict=True)
        ]

    @property
    def stop_share(self) -> float:
        """The share of the rows that are held out of each training to stop early on; 0, none, by default.

        A learner that can stop early returns its parameter for it. `Tags.stop` are the rows; `Model.decided` says how long
        the training was, as parameters that give the same model again with the same rows held out.
        """
        return 0.0

    def derive(self, size: DataSize) -> Mapping[str, Value]:  # noqa: ARG002 - for subclasses
        """Return the defaults for data of this size, of parameters declared with `derived=True`; none by default.

        Depends on `size` and on `params` alone, of which those that were given are never replaced. A search calls it for a
        learner of which nothing is given.
        """
        return {}

    def suited_to(self, size: DataSize) -> Self:
        """Return the learner whose parameters are all stated: those that were not given are derived for data of this size.

        Raises:
            ParameterError: what was derived is out of range.
        """
        derived = self.derive(size)
        return type(self)(
            **{**self._params, **{name: derived[name] for name in self._open if name in derived}}
        )

    def member_of(self, count: int) -> "Learner":  # noqa: ARG002 - for subclasses
        """Return the learner of each of `count` members, whose mean is the model; by default this learner.

        A learner that is an ensemble itself, such as a forest, returns one with its share of the trees: so a forest with a
        tagging per tree costs as much as one forest.
        """
        return self

    @classmethod
    @abstractmethod
    def load(cls, path: Path) -> Model:
        """Read a model back from the file `path`: it predicts what the saved one did, bit for bit.

        The file may be hostile: reading it runs no code, and any other content raises `DataError`.
        """

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Return None if this learner can train on CUDA on this machine, else the reason, as a short phrase."""
        return "runs on the CPU only"
