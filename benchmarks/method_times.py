"""Times every method with its defaults on a synthetic bank: fit on all rows, score all rows, peak memory.

    python benchmarks/method_times.py                  # 200,000 rows, then all 1,365,550 of bank1
    python benchmarks/method_times.py --rows 50000 --methods naive nnpu

Each method runs in its own process, one after another, with all cores; the peak memory is that of its process, including
the table. The prior is the method's own estimate. Scores are evaluated by AUC with the hidden true labels, so that a
fast but wrong result is visible.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from time import perf_counter
from typing import Any, cast

from pubench import Method, Parts, PUData, Resources, Seed, auc
from pubench.api.plugin import Kind, Learner, Similarity
from pubench.api.registry import load_registry
from pubench.data.sources import DatasetRequest, open_dataset
from pubench.system.machine import cores

_HOUR = 3600


def measure(name: str, dataset: str, rows: int, learner_name: str) -> dict[str, Any]:
    """Fit one method and score its own rows; return the figures."""
    registry = load_registry()
    opened = open_dataset(DatasetRequest(dataset, rows=rows or None), registry).dataset
    if opened.observed is None or opened.truth is None:
        raise SystemExit(f"'{dataset}' should have observed labels and truth, as the banks do.")
    method = cast("Method", registry.find(name, Kind.METHOD).plugin())
    learner = cast("Learner", registry.find(learner_name, Kind.LEARNER).plugin())
    similarity = cast("Similarity", registry.find("knn", Kind.SIMILARITY).plugin())
    data = PUData(opened.X, opened.truth.y if method.wants_all_labels else opened.observed)
    resources = Resources(n_threads=cores())
    start = perf_counter()
    fitted = method.fit(data, Parts(similarity, learner), Seed(0), resources)
    trained = perf_counter()
    scores = fitted.score(data.X, resources)
    return {
        "shape": data.X.values.shape,
        "labelled": data.n_labelled,
        "fit": trained - start,
        "score": perf_counter() - trained,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "auc": auc(opened.truth.y, scores.values),
    }


def apart(name: str, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one method in a process of its own."""
    given = ("--dataset", options.dataset, "--learner", options.learner, "--rows", str(rows))
    command = [sys.executable, __file__, "--measure", name, *given]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return cast("dict[str, Any]", json.loads(done.stdout))


def compare(options: argparse.Namespace) -> None:
    """Print a line per method, for each size."""
    names = options.methods or load_registry().names(Kind.METHOD)
    for rows in options.rows:
        print(
            f"\n{options.dataset}, {rows or 'all'} rows; {cores()} cores, load {os.getloadavg()[0]:.1f} before"
        )
        print(f"{'method':<16}{'fit s':>9}{'score s':>9}{'peak GiB':>10}{'AUC':>8}", flush=True)
        for name in names:
            result = apart(name, rows, options)
            late = "" if result["fit"] + result["score"] < _HOUR else "  over an hour"
            figures = f"{result['fit']:>9.1f}{result['score']:>9.1f}{result['peak'] / 2**30:>10.2f}{result['auc']:>8.4f}"
            print(f"{name:<16}{figures}{late}", flush=True)


def main() -> None:
    """Compare, or do the one thing that a process of its own was started for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="bank1", help="one with observed labels and truth")
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[200_000, 0], help="sizes to measure at; 0: all"
    )
    parser.add_argument("--methods", nargs="+", help="which ones; all when not given")
    parser.add_argument("--learner", default="lightgbm", help="for the methods that take one")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(options.measure, options.dataset, options.rows[0], options.learner)))
    else:
        compare(options)


if __name__ == "__main__":
    main()
