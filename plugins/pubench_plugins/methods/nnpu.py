"""nnPU: a net that minimises a non-negative estimate of the PU risk (Kiryo et al. 2017)."""

from dataclasses import dataclass
from pathlib import Path

from pubench import (
    Choice,
    DataError,
    Float,
    Int,
    Json,
    Method,
    NotApplicableError,
    Parts,
    PUData,
    Resources,
    Scores,
    Seed,
    Table,
    aul_pu_score,
    holdout,
)
from pubench_plugins.learners.model_files import expect
from pubench_plugins.methods.class_prior import PRIOR_SPACE, resolve_prior
from pubench_plugins.methods.embedded_method import EmbeddedFit, fit_embedding
from pubench_plugins.methods.nnpu_nets import ARCHITECTURES, Net
from pubench_plugins.methods.nnpu_training import NetTraining, on_device, train_net

_NET = "net.npy"
#: The share of rows, labelled and unlabeled alike, by which a net is selected.
_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class FittedNNPU(EmbeddedFit):
    """A trained net, and the embedding of its rows."""

    method = "nnpu"

    net: Net

    def score(self, X: Table, resources: Resources) -> Scores:
        """Return g(x), positive where the net takes a row for positive; needs no JAX."""
        return Scores(self.net.outputs(self.embedding.transform(X).values, resources))

    def save(self, folder: Path) -> None:
        """Write the net's numbers in NumPy's format, all else as JSON."""
        self.net.save(folder / _NET)
        self.write(folder, widths=self.net.widths)

    @classmethod
    def load(cls, folder: Path) -> "FittedNNPU":
        """Read back what `save` wrote; raises `DataError` for anything else."""
        with cls.opened(folder) as (document, embedding, decided):
            widths = document["widths"]
            net = Net.load(folder / _NET, widths)
            expect(widths[0] == len(embedding.features), "the net should take what the embedding gives")
        return cls(embedding, decided, net)


class NNPU(Method):
    """A neural net on a non-negative estimate of its risk, which needs the share of positives."""

    name = "nnpu"
    uses = frozenset()
    needs_prior = True
    space = {
        **PRIOR_SPACE,
        "net": Choice(
            ("best", "linear", "3lp", "mlp"), default="best", help="best: by AUL_PU of held-out rows"
        ),
        "risk": Choice(
            ("nnpu", "imbalanced"), default="nnpu", help="imbalanced: both classes weigh one half"
        ),
        "learning_rate": Float(1e-5, 0.1, default=1e-3, log=True, help="of Adam"),
        "decay": Float(0.0, 0.1, default=0.005, help="L2 penalty, added to the gradient"),
        "beta": Float(0.0, 1.0, default=0.0, tuned=False, help="how negative the negatives' risk may be"),
        "gamma": Float(0.0, 1.0, default=1.0, tuned=False, help="how far a step goes back from there"),
        "batch": Int(16, 1_000_000, default=30_000, log=True, tuned=False, help="rows of a batch"),
        "epochs": Int(1, 10_000, default=100, log=True, tuned=False, help="how often each row is seen"),
        # 100 epochs of Credit Card, the larger public set of the paper, are 1000 steps: nothing is cut there. At 1.4
        # million rows they are 4600, and `mlp` alone would take over an hour on two cores.
        "steps": Int(
            1,
            1_000_000,
            default=1000,
            log=True,
            tuned=False,
            help="largest number of steps, whatever `epochs` is",
        ),
    }

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedNNPU:
        """Find the prior, choose a net if none is named, and train it on all rows."""
        on_device(resources.device)  # raises at once if JAX or the device is missing
        prior = resolve_prior(self.params, data, parts, seed, resources.part(0.0, 0.1))
        embedding = fit_embedding(data.X)
        embedded = PUData(embedding.transform(data.X), data.s)
        share = prior.prior_in_unlabeled
        decided = prior.decided | {"net": self.params["net"], "steps": self.descent.n_steps(data.s)}
        if decided["net"] == "best":
            decided |= self._best(embedded, share, seed, resources.part(0.1, 0.6))
        net = self._train(str(decided["net"]), embedded, share, seed, resources.part(0.6, 1.0))
        return FittedNNPU(embedding, decided, net)

    def load(self, folder: Path, parts: Parts) -> FittedNNPU:  # noqa: ARG002 - the contract's signature
        """Read back what `FittedNNPU.save` wrote; needs no JAX."""
        return FittedNNPU.load(folder)

    @property
    def descent(self) -> NetTraining:
        """How nets are trained."""
        names = ("risk", "beta", "gamma", "learning_rate", "decay", "batch", "epochs", "steps")
        return NetTraining(**{name: self.params[name] for name in names})

    def _best(self, data: PUData, prior: float, seed: Seed, resources: Resources) -> dict[str, Json]:
        """Return the net that ranks held-out rows best, by AUL_PU, and the AUL_PU of each.

        Not by the held-out risk: a net that calls every row negative has a risk of pi, almost 0 at one positive in
        a thousand, however it ranks them; and scores are used for their ranking.
        """
        try:
            split = holdout(data.s, _HELD_OUT, seed)
        except DataError as error:
            raise NotApplicableError(f"{error} Name a net, such as net = mlp.") from error
        training, held_out = data.take(split.train), data.take(split.test)
        reached: dict[str, Json] = {}
        for number, name in enumerate(ARCHITECTURES):
            part = resources.part(number / len(ARCHITECTURES), (number + 1) / len(ARCHITECTURES))
            net = self._train(name, training, prior, seed, part)
            outputs = net.outputs(held_out.X.values, resources)
            reached[name] = aul_pu_score(held_out.s, Scores(outputs).values)
        best = max(ARCHITECTURES, key=lambda name: float(str(reached[name])))
        return {"net": best, "aul_pu_held_out": reached}

    def _train(self, name: str, data: PUData, prior: float, seed: Seed, resources: Resources) -> Net:
        return train_net(
            ARCHITECTURES[name], data.X.values, data.s, prior, self.descent, seed.child(name), resources
        )
