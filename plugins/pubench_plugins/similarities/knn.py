"""k nearest neighbours, the paper's similarity: the share of labelled positives among the k nearest rows, exact."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pubench import (
    Affinity,
    BoolVector,
    Choice,
    FittedSimilarity,
    IndexVector,
    Int,
    KChoice,
    PositiveNeighbors,
    PUData,
    Resources,
    Seed,
    Similarity,
    Table,
    choose_k,
    content_key,
)

Array: TypeAlias = npt.NDArray[Any]

#: One search up to here serves every k, so that trials of different k share it.
K_MAX = 50
#: Increased when results change, so that a cache does not mix them.
REVISION = 1


@dataclass(frozen=True, eq=False)
class FittedKNN(FittedSimilarity):
    """The ranks of labelled positives around each row, and a k.

    Attributes:
        data: what it was fitted on.
        neighbors: the ranks, up to `K_MAX`.
        choice: the choice of k; None if it was given.
        k: number of neighbours.
    """

    data: PUData
    neighbors: PositiveNeighbors
    choice: KChoice | None
    k: int

    @property
    def affinity(self) -> Affinity:
        """Cred_k of each row."""
        return Affinity(self.neighbors.credibility(self.k))

    def score_new(self, X: Table, resources: Resources) -> Affinity:
        """Return the share of labelled positives among the k fitted rows nearest to each new one."""
        from pubench import positive_neighbors_of_new  # noqa: PLC0415 - compiled code is loaded when used

        found = positive_neighbors_of_new(
            self.data.X.values,
            self.data.s,
            X.values,
            self.k,
            n_threads=resources.n_threads,
            progress=resources.progress,
        )
        return Affinity(found.credibility(min(self.k, found.k_max)))

    @property
    def chosen(self) -> Mapping[str, int]:
        """The k in use."""
        return {"k": self.k}

    @property
    def k_choice(self) -> KChoice:
        """How k was chosen, or would have been if it was given."""
        return self.choice or choose_k(self.neighbors.expected_positives())


class KNN(Similarity):
    """The share of labelled positives among the k nearest rows (Cred_k in the paper), exact at any size."""

    name = "knn"
    space = {
        "k_rule": Choice(
            ("plateau", "given"), default="plateau", help="read k off the curve E_k, or give it"
        ),
        "k": Int(1, K_MAX, default=18, log=True, help="neighbours", when=("k_rule", "given")),
    }

    def fit(self, data: PUData, seed: Seed, resources: Resources) -> FittedKNN:
        """Search the neighbours of every row; nothing is drawn at random."""
        return next(self.fit_folds(data, [np.arange(data.X.n_rows)], seed, resources))

    def fit_folds(
        self,
        data: PUData,
        folds: Sequence[IndexVector],
        seed: Seed,  # noqa: ARG002 - the contract's signature
        resources: Resources,
        *,
        asked: BoolVector | None = None,
    ) -> Iterator[FittedKNN]:
        """Search once over all rows, around the rows that are asked for, then yield the ranks within each fold."""
        from pubench import positive_neighbors_of_folds  # noqa: PLC0415 - compiled code is loaded when used

        key = content_key(self.name, REVISION, K_MAX, data.X.values, data.s, list(folds), asked)

        def search() -> dict[str, Array]:
            found = positive_neighbors_of_folds(
                data.X.values,
                data.s,
                folds,
                K_MAX,
                n_threads=resources.n_threads,
                progress=resources.progress,
                asked=asked,
            )
            return {
                f"{name}-{number}": array
                for number, result in enumerate(found)
                for name, array in result.to_arrays().items()
            }

        arrays = resources.keep(key, search)
        resources.progress(1.0)  # also when they come from the cache
        for number, rows in enumerate(folds):
            names = ("starts", "ranks", "positives", "k_max")
            found = PositiveNeighbors.from_arrays({name: arrays[f"{name}-{number}"] for name in names})
            yield self._with_k(data.take(rows), found)

    def _with_k(self, data: PUData, neighbors: PositiveNeighbors) -> FittedKNN:
        if self.params["k_rule"] == "given":
            return FittedKNN(data, neighbors, None, min(self.params["k"], neighbors.k_max))
        choice = choose_k(neighbors.expected_positives())
        return FittedKNN(data, neighbors, choice, choice.k)
