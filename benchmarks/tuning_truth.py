"""The gain of label-free tuning, evaluated with true labels afterwards: against the default, and against a tuned oracle.

    python benchmarks/tuning_truth.py                          # creditcard, theta_O .5, 3 outer folds, 30 trials each
    python benchmarks/tuning_truth.py --dataset mammography --trials 10 --no-oracle

For each outer fold of the paper's protocol the training rows are searched by their PU labels alone, as in `pubench tune`;
the result, which may be a blend, its best single trial and the default are trained on all of them and evaluated by AUC
on the test rows. The oracle is searched in the same way, with every positive labelled. The gain of tuning has a 95%
interval from pairs of placements of the positive test rows. With `--work DIR` an interrupted run is resumed. Kendall's tau
measures how similarly AUL_PU from PU labels and AUC from true labels rank the trials of a search, on the same rows held
out inside of it, for trials evaluated on all folds.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.stats import kendalltau

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.configuration.configuration import Configuration
from pubench.data.labelling import Labelling
from pubench.data.paper_folds import PaperFold, paper_folds
from pubench.data.sources import DatasetRequest, open_dataset
from pubench.metrics.comparison import compare_aul
from pubench.metrics.supervised import auc
from pubench.seeds import Seed
from pubench.system.cache import machine_cache
from pubench.system.machine import cores
from pubench.tuning.command import choose_space, run_trial_worker
from pubench.tuning.request import SearchRequest, TuneRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.run import TuneContext, TuningRun
from pubench.tuning.run_folder import RunFolder
from pubench.tuning.space import SearchSpace
from pubench.types import BoolVector, FloatVector, PUData, Resources


def parse() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="creditcard")
    parser.add_argument("--theta-o", type=float, default=0.5)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-oracle", action="store_true")
    parser.add_argument("--work", type=Path, help="folder of the searches; default: a temporary one")
    return parser.parse_args()


def search(
    train: PUData, options: argparse.Namespace, registry: Registry, methods: list[str], folder: Path
) -> tuple[TuneResult, SearchSpace]:
    """Return what a search on these rows finds, and the space that it searched."""
    folder.mkdir(parents=True, exist_ok=True)
    request = TuneRequest(DatasetRequest(options.dataset), names={Kind.METHOD: methods})
    space = choose_space(request, registry)
    search_request = SearchRequest(options.trials, holdout=0.1, seed=options.seed)
    context = TuneContext(
        RunFolder(folder), run_trial_worker, Resources(n_threads=cores(), keep=machine_cache())
    )
    return TuningRun(train, space, search_request, context).tune(), space


def scored(configuration: Configuration, train: PUData, fold: PaperFold, seed: int) -> FloatVector:
    """Return the scores that a configuration gives the test rows when it is trained on all training rows."""
    resources = Resources(n_threads=cores(), keep=machine_cache())
    fitted = configuration.method.fit(train, configuration.parts, Seed(seed).child("fit"), resources)
    return fitted.score(fold.test.X, resources).values


def agreement(result: TuneResult, y: BoolVector) -> tuple[float, int]:
    """Return Kendall's tau between AUL_PU and AUC of the trials that saw all folds, and the number of these trials."""
    inner = y[result.split.train]
    pairs = []
    for trial in result.trials:
        path = RunFolder(result.out).work / f"scores-{trial.number}.npy"
        if trial.is_complete and path.exists():
            scores = np.split(np.load(path), np.cumsum([len(fold.test) for fold in result.folds])[:-1])
            truth = [auc(inner[fold.test], part) for fold, part in zip(result.folds, scores, strict=True)]
            pairs.append((trial.value, np.mean(truth)))
    tau = float(kendalltau(*zip(*pairs, strict=True)).statistic) if len(pairs) > 2 else float("nan")
    return tau, len(pairs)


def judge(
    number: int, fold: PaperFold, options: argparse.Namespace, registry: Registry, work: Path
) -> list[float]:
    """Print a line on one outer fold; return the AUC of tuned, best single trial, default and tuned oracle."""
    if fold.test_truth is None or fold.train_truth is None:
        raise SystemExit("This is about data sets whose truth is known.")
    y, folder = fold.test_truth.y, work / f"fold-{number}"
    result, space = search(fold.train, options, registry, [], folder)
    tau, complete = agreement(result, fold.train_truth.y)
    tuned = result.tuned.configuration
    configurations = [tuned, *(space.configuration(p) for p in (result.best.params, space.default()))]
    scores = [scored(one, fold.train, fold, options.seed) for one in configurations]
    aucs = [float(auc(y, one)) for one in scores]
    change = compare_aul(y, scores[0], scores[2])
    share = 1 - y.mean()
    if not options.no_oracle:
        everything = PUData(fold.train.X, fold.train_truth.y)
        best, _ = search(everything, options, registry, ["oracle"], work / f"oracle-{number}")
        ceiling = best.tuned.configuration
        aucs.append(float(auc(y, scored(ceiling, everything, fold, options.seed))))
    print(
        f"  fold {number}: tuned {aucs[0]:.4f} ({tuned}), best single {aucs[1]:.4f}, default {aucs[2]:.4f}, change "
        f"{aucs[0] - aucs[2]:+.4f} [{change.low / share:+.4f}, {change.high / share:+.4f}]"
        + "".join(f", tuned oracle {one:.4f}" for one in aucs[3:])
        + f"; tau {tau:+.2f} over {complete} of {len(result.trials)} trials",
        flush=True,
    )
    return aucs


def main() -> None:
    """Print a line per outer fold, and means."""
    options, registry = parse(), load_registry()
    dataset = open_dataset(DatasetRequest(options.dataset), registry).dataset
    print(f"{options.dataset}, theta_O {options.theta_o:g}, {options.trials} trials per search", flush=True)
    folds = paper_folds(dataset, Labelling(options.theta_o), options.folds, Seed(options.seed))
    with TemporaryDirectory() as name:
        work = options.work or Path(name)
        rows = [judge(number, fold, options, registry, work) for number, fold in enumerate(folds)]
    print("  mean: " + ", ".join(f"{value:.4f}" for value in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()
