"""PU-AUC: a sum of basis functions that minimises an estimate of 1 - AUC, in closed form (Sakai et al. 2018)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pubench import (
    Choice,
    FloatVector,
    Int,
    Method,
    Parts,
    PUData,
    Resources,
    Scores,
    Seed,
    Table,
)
from pubench_plugins.learners.model_files import expect, floats
from pubench_plugins.methods.class_prior import PRIOR_SPACE, resolve_prior
from pubench_plugins.methods.embedded_method import EmbeddedFit, fit_embedding, in_blocks
from pubench_plugins.methods.pu_auc_risk import Basis, Matrix
from pubench_plugins.methods.pu_auc_validation import Validation

#: Widths of Gaussians to choose between, in median distances between centres.
WIDTHS = (2.0, 1.0, 1 / 2, 1 / 4, 1 / 8)
#: Bounds of a median distance of embedded rows; their squares are neither 0 nor infinite.
_NARROWEST, _WIDEST = 1e-60, 1e60


@dataclass(frozen=True, eq=False)
class FittedPUAUC(EmbeddedFit):
    """A weighted sum of basis functions.

    Attributes:
        basis: the functions.
        weights: shape (n_functions,): w.
    """

    method = "pu-auc"

    basis: Basis
    weights: FloatVector

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return w' phi(x)."""

        def score(block: Matrix) -> Matrix:
            with np.errstate(over="ignore", invalid="ignore"):  # `Scores` refuses what is not finite
                # Not `@`: a product with a vector adds in another order at the end of a block.
                return np.asarray(np.einsum("ij,j->i", self.basis(block), self.weights))

        return Scores(in_blocks(score, self.embedding.transform(X).values, resources))

    def save(self, folder: Path) -> None:
        """Write all of it as JSON; numbers keep every bit."""
        centres = None if self.basis.centres is None else self.basis.centres.tolist()
        self.write(folder, weights=self.weights.tolist(), centres=centres, sigma=self.basis.sigma)

    @classmethod
    def load(cls, folder: Path) -> "FittedPUAUC":
        """Read back what `save` wrote; raises `DataError` for anything else."""
        with cls.opened(folder) as (document, embedding, decided):
            n_features = len(embedding.features)
            basis = _read_basis(document["centres"], document["sigma"], n_features)
            weights = floats(document["weights"], basis.size(n_features))
        return cls(embedding, decided, basis, weights)


def _read_basis(centres: object, sigma: object, n_features: int) -> Basis:
    width = float(floats([sigma], 1)[0])
    expect(_NARROWEST < width < _WIDEST, "a width should be one of Gaussians")
    if centres is None:
        return Basis(None, width)
    expect(isinstance(centres, list) and centres, "there should be centres")
    assert isinstance(centres, list)  # noqa: S101 - for mypy: the line above checks it
    return Basis(np.stack([floats(centre, n_features) for centre in centres]), width)


class PUAUC(Method):
    """A kernel or linear ranker that minimises the PU estimate of 1 - AUC, and needs the share of positives."""

    name = "pu-auc"
    uses = frozenset()
    needs_prior = True
    space = {
        **PRIOR_SPACE,
        "basis": Choice(
            ("gaussian", "linear"), default="gaussian", help="functions whose weighted sum is the score"
        ),
        "centres": Int(
            10,
            2000,
            default=200,
            log=True,
            tuned=False,
            help="rows with a Gaussian",
            when=("basis", "gaussian"),
        ),
    }

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedPUAUC:
        """Find the prior, choose penalty and width by cross-validation, and solve on all rows."""
        embedding = fit_embedding(data.X)
        embedded = PUData(embedding.transform(data.X), data.s)
        prior = resolve_prior(self.params, data, parts, seed, resources.part(0.0, 0.2))
        validation = Validation.of(embedded, prior.prior_in_unlabeled, seed)
        bases = self._bases(embedded.X.values, seed.child("centres"))
        candidates = validation.candidates(bases, resources.part(0.2, 1.0))
        best = min(candidates, key=lambda candidate: candidate.risk)
        weights = best.moments.minimisers(prior.prior_in_unlabeled, [best.penalty])[0]
        decided = prior.decided | {"penalty": best.penalty, "validation_risk": best.risk}
        if best.basis.centres is not None:
            decided["sigma"] = best.basis.sigma
        return FittedPUAUC(embedding, decided, best.basis, weights)

    def load(self, folder: Path, parts: Parts) -> FittedPUAUC:  # noqa: ARG002 - the contract's signature
        """Read back what `FittedPUAUC.save` wrote."""
        return FittedPUAUC.load(folder)

    def _bases(self, values: Matrix, seed: Seed) -> list[Basis]:
        """Return the functions to choose between: Gaussians around rows drawn from all, in several widths."""
        if self.params["basis"] == "linear":
            return [Basis()]
        from scipy.spatial.distance import pdist  # noqa: PLC0415 - heavy imports happen when used

        rows = np.sort(seed.generator().permutation(len(values))[: self.params["centres"]])
        centres = values[rows].astype(np.float64)
        distances = pdist(centres)
        apart = distances[distances > 0]
        median = float(np.median(apart)) if len(apart) else 1.0
        return [Basis(centres, median * width) for width in WIDTHS]
