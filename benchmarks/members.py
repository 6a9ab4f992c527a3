"""Fifty members trained in parallel on data prepared once, compared with a plain loop over each library's scikit-learn class.

    python benchmarks/members.py                       # 200,000 x 30, 50 members, lightgbm xgboost catboost
    python benchmarks/members.py --learner lightgbm --members 10 --rows 50000

The rows are those of bank1 (a smaller sample with the same rates), only numbers, so that every class supports them; both
sides train on the same tags and with the same parameters, as far as the library's class has them, and are evaluated on
unseen rows. The loop gives each fit all cores. Both run in one process, alternately; the ratio compares them. A third
time is that of ProbTagging's option `negatives = "sampled"`: each member gets all its positives and a number of negatives
per positive (--ratio), drawn separately for each. Last, the same loop with each class with its library's defaults:
a few fits (--stock), their mean time multiplied by the number of members.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

from pubench import AULInterval, aul_pu_interval
from pubench.api.method import Parts
from pubench.api.plugin import Kind, Learner
from pubench.api.registry import Registry, load_registry
from pubench.api.trainer import Ensemble, Trainer
from pubench.data.sources import DatasetRequest, open_dataset
from pubench.data.splits import holdout
from pubench.ensemble.members import Tagging, member_tags
from pubench.seeds import Seed
from pubench.system.machine import cores
from pubench.types import FloatVector, PUData, Resources, Table, Tags

Matrix = npt.NDArray[Any]


def parse() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--members", type=int, default=50)
    parser.add_argument("--learner", nargs="+", default=["lightgbm", "xgboost", "catboost"])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--ratio", type=float, default=20.0)
    parser.add_argument("--stock", type=int, default=3)
    return parser.parse_args()


def draw(rows: int, registry: Registry) -> tuple[PUData, PUData]:
    """Return rows to train on, `rows` of them, and a fifth as many to judge by."""
    opened = open_dataset(DatasetRequest("bank1", rows=rows * 6 // 5), registry).dataset
    if opened.observed is None:
        raise SystemExit("bank1 should have observed labels.")
    X = Table(
        opened.X.values, tuple(type(f)(f.name) for f in opened.X.features)
    )  # codes as numbers, for both
    data = PUData(X, opened.observed)
    split = holdout(data.s, 1 / 6, Seed(0))
    return data.take(split.train), data.take(split.test)


def lightgbm_class(learner: Learner, seed: int, _tags: Tags) -> Any:
    """Return LightGBM's own class with the learner's parameters."""
    p = learner.params
    return LGBMClassifier(
        n_estimators=p["trees"], learning_rate=p["learning_rate"], max_depth=p["depth"],
        num_leaves=min(p["leaves"], 2 ** p["depth"]), min_child_samples=p["min_leaf_rows"],
        boost_from_average=p["boost_from_average"], min_child_weight=p["min_hessian"], reg_lambda=p["l2"],
        extra_trees=p["random_cuts"], colsample_bytree=p["features"], max_bin=127, n_jobs=-1, random_state=seed, verbose=-1,
    )  # fmt: skip


def xgboost_class(learner: Learner, seed: int, _tags: Tags) -> Any:
    """Return XGBoost's own class with the learner's parameters."""
    p = learner.params
    return XGBClassifier(
        n_estimators=p["trees"], learning_rate=p["learning_rate"], max_depth=p["depth"], tree_method="hist",
        reg_lambda=p["l2"], min_child_weight=p["min_hessian"], colsample_bynode=p["features"], max_bin=64,
        n_jobs=-1, random_state=seed,
    )  # fmt: skip


def catboost_class(learner: Learner, seed: int, tags: Tags) -> Any:
    """Return CatBoost's own class with the learner's parameters, those that it sets by itself among them."""
    p = learner.params
    share = float(tags.positive.mean())
    return CatBoostClassifier(
        iterations=p["trees"], learning_rate=p["learning_rate"], depth=p["depth"], random_strength=p["random_strength"],
        l2_leaf_reg=p["l2"] / share / 2, class_weights=[1.0, (1 - share) / share], border_count=128,
        boost_from_average=False, boosting_type="Plain", bootstrap_type="No", leaf_estimation_iterations=1, has_time=True,
        metric_period=p["trees"], thread_count=-1, random_seed=seed, verbose=False, allow_writing_files=False,
    )  # fmt: skip


STOCK: dict[str, Callable[[int, Tags], Any]] = {
    "lightgbm": lambda seed, _: LGBMClassifier(n_jobs=-1, random_state=seed, verbose=-1),
    "xgboost": lambda seed, _: XGBClassifier(n_jobs=-1, random_state=seed),
    "catboost": lambda seed, _: CatBoostClassifier(
        thread_count=-1, random_seed=seed, verbose=False, allow_writing_files=False
    ),
}
CLASSES: dict[str, Callable[[Learner, int, Tags], Any]] = {
    "lightgbm": lightgbm_class,
    "xgboost": xgboost_class,
    "catboost": catboost_class,
}


def ours(learner: Learner, train: PUData, tags: list[Tags], test: PUData) -> tuple[float, FloatVector]:
    """Return the seconds of training, and the mean of the predictions."""
    resources = Resources(n_threads=cores())
    start = time.perf_counter()
    trainer = Trainer.of(learner, train.X, resources)
    members = list(trainer.members(tags.__getitem__, len(tags), Seed(0), resources))
    seconds = time.perf_counter() - start
    return seconds, Ensemble.of(trainer, members, resources).predict(test.X, resources)


def loop(
    make: Callable[[int, Tags], Any], train: PUData, tags: list[Tags], test: PUData
) -> tuple[float, FloatVector]:
    """Do the same with a class of the library, member by member."""
    start = time.perf_counter()
    models = [make(number, tag).fit(train.X.values, tag.positive) for number, tag in enumerate(tags)]
    seconds = time.perf_counter() - start
    return seconds, np.mean([model.predict_proba(test.X.values)[:, 1] for model in models], axis=0)


def main() -> None:
    """Print four lines per learner."""
    options, registry = parse(), load_registry()
    train, test = draw(options.rows, registry)
    print(
        f"bank1: {train.X.n_rows:,} x {train.X.n_features}, {train.n_labelled} labelled, {options.members} members"
    )
    similarity: Any = registry.find("knn", Kind.SIMILARITY).plugin
    related = Parts(similarity=similarity()).relate(train, "standard", Seed(0), Resources(n_threads=cores()))
    chances = Tagging().chances(train.s, related.affinity)
    tags, sampled = (
        [member_tags(chances, tagging, Seed(0), number) for number in range(options.members)]
        for tagging in (Tagging(), Tagging(negatives=options.ratio))
    )
    for name in options.learner:
        plugin: Any = registry.find(name, Kind.LEARNER).plugin
        learner = plugin()
        matched = partial(CLASSES[name], learner)
        ours(learner, train, tags[:2], test)  # both have their libraries loaded and warm
        loop(matched, train, tags[:2], test)
        seconds = []
        for _ in range(options.repeats):
            runs = [ours(learner, train, tags, test), loop(matched, train, tags, test)]
            runs.append(ours(learner, train, sampled, test))
            few, scores = loop(STOCK[name], train, tags[: options.stock], test)
            runs.append((few * len(tags) / options.stock, scores))
            seconds.append([run[0] for run in runs])
        show(name, np.median(seconds, axis=0), [aul_pu_interval(test.s, scores) for _, scores in runs])


def show(name: str, seconds: npt.NDArray[np.float64], judged: list[AULInterval]) -> None:
    """Print the lines of one learner."""
    titles = ("ours", "loop, the same parameters", "ours, sampled negatives", "loop, the library's defaults")
    for title, took, interval in zip(titles, seconds, judged, strict=True):
        print(
            f"  {name:9} {title:28} {took:7.1f} s ({took / seconds[0]:5.2f} x ours), "
            f"AUL_PU {interval.estimate:.4f} (standard error {interval.stderr:.4f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
