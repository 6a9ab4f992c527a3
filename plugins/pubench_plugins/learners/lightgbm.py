"""LightGBM."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pubench import Choice, Float, FloatVector, Int, Json, Learner, Model, Resources, Seed, Table, Tags, Takes
from pubench_plugins.learners.intercept import intercept
from pubench_plugins.learners.lightgbm_text import checked_text
from pubench_plugins.learners.model_files import check_columns, reading, shares
from pubench_plugins.learners.thread_limits import SharedThreadCount

if TYPE_CHECKING:
    import lightgbm


#: A model has at least this number of trees.
_FEWEST_TREES = 20
#: Training stops after this number of rounds that did not lower the loss.
_PATIENCE = 30
#: LightGBM has one number of threads per process.
_THREADS = SharedThreadCount()


@dataclass(frozen=True)
class LightGBMModel(Model):
    """A LightGBM booster.

    Attributes:
        booster: the trees.
        stopped: number of rounds after which training stopped early; None: it did not, or the model was read from a file.
    """

    booster: "lightgbm.Booster"
    stopped: int | None = None

    @property
    def decided(self) -> Mapping[str, Json]:
        """The number of rounds, where training stopped early."""
        return {} if self.stopped is None else {"trees": self.stopped}

    def predict(self, X: Table, resources: Resources) -> FloatVector:
        """Return the booster's probabilities."""
        check_columns(X, self.booster.num_feature())
        with _THREADS.using(resources.n_threads):
            found = self.booster.predict(X.values, num_threads=resources.n_threads)
        return np.asarray(found, dtype=np.float64)

    def importances(self) -> FloatVector:
        """Return each feature's share of the gain of all splits."""
        return shares(self.booster.feature_importance("gain"))

    def save(self, path: Path) -> None:
        """Write LightGBM's text."""
        path.write_text(self.booster.model_to_string(), encoding="utf-8")


class LightGBM(Learner):
    """Gradient-boosted trees by LightGBM, by default shallow and cut at random, for few positives.

    Trees start from one half where they can. The intercept is corrected afterwards, so that it predicts P(positive) for any number of trees.
    """

    name = "lightgbm"
    takes = Takes(missing=True, categorical=True)
    supports_cuda = True
    suffix = ".txt"
    # At few positives a row's hessian is about its chance to be positive: penalties are counted in positives. From the
    # average, a leaf with one positive makes a huge first step unless `l2` is large; from one half, where every hessian
    # is 1/4, the first steps are at most 2 times the rate. The smallest `l2` is practically none.
    space = {
        "trees": Int(_FEWEST_TREES, 500, default=50, log=True, help="boosting rounds"),
        "learning_rate": Float(0.02, 0.5, default=0.17, log=True, help="shrinkage of each tree"),
        "depth": Int(1, 16, default=3, help="depth of trees"),
        "leaves": Int(
            2, 256, default=256, log=True, before=256, help="most leaves of a tree, within its depth"
        ),
        "l2": Float(0.001, 300.0, default=10.0, log=True, help="L2 penalty on leaf values, in positives"),
        "min_hessian": Float(
            0.001, 30.0, default=0.5, log=True, help="expected positives that a leaf must hold"
        ),
        "min_leaf_rows": Int(1, 1000, default=5, log=True, before=5, help="rows that a leaf must hold"),
        "random_cuts": Choice((True, False), default=True, help="try one random cut per feature, not all"),
        "features": Float(0.3, 1.0, default=1.0, help="share of features per tree"),
        "rows": Float(0.3, 1.0, default=1.0, before=1.0, help="share of rows per tree"),
        "boost_from_average": Choice(
            (False, True),
            default=False,
            before=True,
            help="start from the share of positives, not from one half",
        ),
        "stop_share": Float(
            0.0,
            0.5,
            default=0.0,
            before=0.0,
            tuned=False,
            help="share of rows held out to stop early on; 0: none",
        ),
    }

    @property
    def stop_share(self) -> float:
        """The parameter."""
        return float(self.params["stop_share"])

    def prepare(self, X: Table, resources: Resources) -> "lightgbm.Dataset":
        """Bin the rows once, at most 127 bins per feature: as good as 255 here, and histograms are faster."""
        import lightgbm  # noqa: PLC0415 - heavy imports happen when used

        categorical = [j for j, feature in enumerate(X.features) if feature.kind == "categorical"]
        params = {
            "max_bin": 127,
            "num_threads": resources.n_threads,
            "feature_pre_filter": False,
            "verbose": -1,
        }
        placeholder = np.zeros(X.n_rows)  # LightGBM takes no rows from a data set without labels
        with _THREADS.using(resources.n_threads):
            return lightgbm.Dataset(
                X.values, placeholder, categorical_feature=categorical, params=params
            ).construct()

    def train(
        self, prepared: "lightgbm.Dataset", tags: Tags, seed: Seed, resources: Resources
    ) -> LightGBMModel:
        """Boost on the rows that count; where `tags.stop` has rows, for as many rounds as suit these."""
        params = self._booster_params(seed, resources)
        trees = self.params["trees"]
        with _THREADS.using(resources.n_threads):
            data = _tagged(prepared, tags, resources.n_threads)
            rounds = trees
            if tags.stop is not None:
                watched = _tagged(prepared, tags.stop, resources.n_threads)
                rounds = _rounds(params, data, watched, trees)
            booster = _boosted(params, data, rounds, keep_training_booster=True)
            shift = 0.0
            if not self.params["boost_from_average"]:
                rows = tags.counted
                weight = None if tags.weight is None else tags.weight[rows]
                shift = intercept(_training_scores(booster), tags.positive[rows], weight)
            text = booster.model_to_string()
            booster.model_from_string(text).free_dataset()  # drops what only training needs
        return LightGBMModel(_shifted(booster, text, shift), None if rounds == trees else rounds)

    def _booster_params(self, seed: Seed, resources: Resources) -> dict[str, object]:
        return {
            # For tags of 0 and 1 the same loss as "binary", the same trees, and 5% faster; soft tags need it.
            "objective": "cross_entropy",
            "learning_rate": self.params["learning_rate"],
            "max_depth": self.params["depth"],
            "num_leaves": min(self.params["leaves"], 2 ** self.params["depth"]),
            "min_data_in_leaf": self.params["min_leaf_rows"],
            "min_sum_hessian_in_leaf": self.params["min_hessian"],
            "lambda_l2": self.params["l2"],
            "feature_fraction": self.params["features"],
            "bagging_fraction": self.params["rows"],
            "bagging_freq": int(self.params["rows"] < 1),
            "extra_trees": self.params["random_cuts"],
            "boost_from_average": self.params["boost_from_average"],
            "metric": "none",
            "device_type": resources.device,
            "num_threads": resources.n_threads,
            "seed": seed.integer(),
            "deterministic": True,
            # The same sums for any number of threads by column; by row one thread takes a fifth less time.
            "force_col_wise": resources.n_threads > 1,
            "force_row_wise": resources.n_threads == 1,
            "feature_pre_filter": False,
            "verbose": -1,
        }

    @classmethod
    def load(cls, path: Path) -> LightGBMModel:
        """Read LightGBM's text, tree by tree."""
        import lightgbm  # noqa: PLC0415

        with reading(path, "a LightGBM model", lightgbm.basic.LightGBMError):
            text = checked_text(path.read_text(encoding="utf-8"))
            return LightGBMModel(lightgbm.Booster(model_str=text))

    @classmethod
    def cuda_problem(cls) -> str | None:
        """Train a tree on CUDA: that needs a build with CUDA, and a GPU."""
        import lightgbm  # noqa: PLC0415

        data = lightgbm.Dataset(np.arange(40.0).reshape(-1, 1), np.arange(40) % 2, params={"verbose": -1})
        try:
            lightgbm.train(
                {"device_type": "cuda", "objective": "binary", "verbose": -1}, data, num_boost_round=1
            )
        except lightgbm.basic.LightGBMError as error:
            return str(error).partition(".")[0]
        return None


def _tagged(prepared: "lightgbm.Dataset", tags: Tags, n_threads: int) -> "lightgbm.Dataset":
    """Return a copy of the bins of the rows that count: 10 ms for 200,000 x 30, where binning takes 1.5 s."""
    rows = tags.counted
    data = prepared.subset([])
    # Not passed to `subset`, which would sort them as Python objects: four times the cost of the copy.
    data.used_indices = rows.astype(np.int32)  # type: ignore[assignment]
    # Else the number of threads of `prepare` would apply to the whole process.
    data.params = {**(prepared.params or {}), "num_threads": n_threads}
    data.construct().set_label(tags.positive[rows])
    return data if tags.weight is None else data.set_weight(tags.weight[rows])


def _boosted(
    params: Mapping[str, Any], data: "lightgbm.Dataset", rounds: int, **options: Any
) -> "lightgbm.Booster":
    """Boost from one half, but from the average where that gets stuck; `options` are those of `lightgbm.train`.

    As long as the level is wrong, any split of rows that all have to go down costs more by `l2` than a weak feature gains:
    LightGBM adds no tree any more. From the average a feature only has to gain something.
    """
    import lightgbm  # noqa: PLC0415

    booster = lightgbm.train(dict(params), data, num_boost_round=rounds, **options)
    if booster.num_trees() >= _FEWEST_TREES or params["boost_from_average"]:
        return booster
    return lightgbm.train({**params, "boost_from_average": True}, data, num_boost_round=rounds, **options)


def _rounds(
    params: Mapping[str, object], data: "lightgbm.Dataset", watched: "lightgbm.Dataset", most: int
) -> int:
    """Return the number of rounds with the least loss on the rows that are watched.

    The model is trained again for these: taking rounds back leaves rounding errors in LightGBM's scores, and so another model.
    """
    import lightgbm  # noqa: PLC0415

    booster = _boosted(
        {**params, "metric": "cross_entropy"},
        data,
        most,
        valid_sets=[watched],
        callbacks=[lightgbm.early_stopping(_PATIENCE, verbose=False)],
    )
    return max(booster.best_iteration, _FEWEST_TREES)


def _training_scores(booster: "lightgbm.Booster") -> FloatVector:
    """Return the logarithms of odds of the training rows, which LightGBM holds: no tree is walked."""
    from scipy.special import logit  # noqa: PLC0415

    found: list[FloatVector] = []

    def keep(probabilities: FloatVector, _: object) -> tuple[str, float, bool]:
        found.append(probabilities)
        return "none", 0.0, False

    booster.eval_train(keep)
    tiny = np.finfo(np.float64).eps
    return np.asarray(logit(np.clip(found[0], tiny, 1 - tiny)))


def _shifted(booster: "lightgbm.Booster", text: str, shift: float) -> "lightgbm.Booster":
    """Add `shift` to all leaves of the first tree, where LightGBM stores the average too; `text` is the booster's."""
    leaves = int(text.partition("\nnum_leaves=")[2].partition("\n")[0])
    for leaf in range(leaves if shift else 0):
        booster.set_leaf_output(0, leaf, booster.get_leaf_output(0, leaf) + shift)
    return booster
