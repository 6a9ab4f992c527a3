"""Times every similarity, measures its peak memory, and compares its values with true labels and, for the kernel, exact sums.

Prints one line per registered similarity: seconds to fit with its defaults; the peak memory of its process, including
the table; the expected number of tags and how many of them are hidden positives. Then, for `kernel`, the error of its
values against the exact sums over all rows: for random unlabeled rows, and for those with the highest values, which get
most tags. Each similarity runs in its own process. Progress goes to stderr.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pubench import Affinity, Embedding, Labelling, PUData, Resources, Seed, Table, draw_view
from pubench.api.plugin import Kind, Similarity
from pubench.api.registry import load_registry
from pubench.data.sources import DatasetRequest, open_dataset

Report = dict[str, Any]


def prepare(name: str, rows: int | None, theta_o: float, folder: Path) -> None:
    """Write the embedded table, its labels and its truth to `folder`."""
    dataset = open_dataset(DatasetRequest(name, rows=rows), load_registry()).dataset
    if dataset.truth is None:
        raise SystemExit(f"'{name}' has no truth to judge by.")
    X, s, y = dataset.X, dataset.observed, dataset.truth.y
    if s is None:
        view = draw_view(X, dataset.truth, Labelling(theta_o), Seed(0))
        s = view.data.s
    np.save(folder / "values.npy", Embedding().fit(X).transform(X).values)
    np.savez(folder / "labels.npz", s=s, y=y)


def measure(name: str, folder: Path, threads: int, sample: int) -> Report:
    """Fit one similarity and return its figures."""
    with np.load(folder / "labels.npz") as labels:
        s, y = labels["s"], labels["y"]
    data = PUData(Table.from_array(np.load(folder / "values.npy")), s)
    before = peak()
    similarity = cast("Similarity", load_registry().find(name, Kind.SIMILARITY).plugin())
    start = perf_counter()
    fitted = similarity.fit(data, Seed(0), Resources(n_threads=threads, progress=Told(name)))
    report: Report = {"seconds": perf_counter() - start, "peak": peak(), "before": before}
    report |= {"chosen": dict(fitted.chosen), **judged(fitted.affinity, s, y)}
    if name == "kernel":
        report["errors"] = kernel_errors(data, fitted.affinity, dict(fitted.chosen), sample)
    return report


class Told:
    """Writes progress to stderr, each percent once."""

    def __init__(self, name: str) -> None:
        self.name, self.percent = name, -1

    def __call__(self, share: float) -> None:
        """Take note."""
        if int(100 * share) > self.percent:
            self.percent = int(100 * share)
            end = "\n" if self.percent == 100 else ""
            print(f"\r{self.name} {self.percent}%", end=end, file=sys.stderr, flush=True)


def peak() -> int:
    """Return the peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def judged(affinity: Affinity, s: npt.NDArray[np.bool_], y: npt.NDArray[np.bool_]) -> Report:
    """Return the expected tags, those on hidden positives, and the AUC of hidden positives among unlabeled rows."""
    from scipy.stats import rankdata  # noqa: PLC0415 - no part of the peak

    values, hidden = affinity.values[~s], y[~s]
    ranks, positives = rankdata(values)[hidden], int(hidden.sum())
    wins = ranks.sum() - positives * (positives + 1) / 2
    return {
        "tags": float(values.sum()),
        "hidden": float(values[hidden].sum()),
        "auc": float(wins / positives / (len(values) - positives)),
    }


def kernel_errors(data: PUData, affinity: Affinity, chosen: Report, sample: int) -> Report:
    """Return absolute and relative errors of the kernel's values, median and 95%, for two groups of rows."""
    unlabeled = np.flatnonzero(~data.s)
    drawn = Seed(1).generator().permutation(unlabeled)[:sample]
    highest = unlabeled[np.argsort(-affinity.values[unlabeled])[:sample]]
    report: Report = {}
    for group, rows in (("drawn at random", drawn), ("highest values", highest)):
        exact = exact_kernel(data, rows, chosen["bandwidth"])
        gaps = np.abs(affinity.values[rows] - exact)
        report[group] = {
            "value": float(np.median(exact)),
            "absolute": np.quantile(gaps, (0.5, 0.95, 1)).tolist(),
            "relative": np.quantile(gaps / np.maximum(exact, 1e-300), (0.5, 0.95, 1)).tolist(),
            "sums": [float(affinity.values[rows].sum()), float(exact.sum())],
        }
    return report


def exact_kernel(data: PUData, rows: npt.NDArray[np.int64], bandwidth: float) -> npt.NDArray[np.float64]:
    """Return the share of labelled rows in the kernel mass around `rows`, summed over all others in float64."""
    queries, n = data.X.values[rows].astype(np.float64), data.X.n_rows
    squares = (queries**2).sum(axis=1)
    nearest, block = np.full(len(rows), np.inf), 4096
    sums = np.zeros((2, len(rows)))
    for count in (True, False):  # first the smallest distances, which the sums are relative to
        for start in range(0, n, block):
            points = data.X.values[start : start + block].astype(np.float64)
            gaps = squares[:, None] - 2 * queries @ points.T + (points**2).sum(axis=1)
            inside = np.flatnonzero((rows >= start) & (rows < start + len(points)))
            gaps[inside, rows[inside] - start] = np.inf
            if count:
                nearest = np.minimum(nearest, gaps.min(axis=1))
            else:
                mass = np.exp((nearest[:, None] - gaps) / (2 * bandwidth**2))
                sums += mass[:, data.s[start : start + block]].sum(axis=1), mass.sum(axis=1)
    return np.asarray(sums[0] / sums[1])


def apart(*arguments: str | Path) -> str:
    """Run this script in a process of its own and return what it prints."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(options: argparse.Namespace) -> None:
    """Print the figures of all similarities."""
    names = options.similarities or load_registry().names(Kind.SIMILARITY)
    with TemporaryDirectory() as folder:
        size = ("--rows", str(options.rows)) if options.rows else ()
        apart("--dataset", options.dataset, "--theta-o", str(options.theta_o), *size, "--prepare", folder)
        shape = np.load(Path(folder) / "values.npy", mmap_mode="r").shape
        with np.load(Path(folder) / "labels.npz") as labels:
            print(f"{options.dataset}: {shape[0]} rows x {shape[1]}, {labels['s'].sum()} labelled, ", end="")
            print(
                f"{(labels['y'] & ~labels['s']).sum()} hidden positives; {options.threads} threads, ", end=""
            )
        print(f"load {os.getloadavg()[0]:.1f} before\n")
        print(
            f"{'similarity':<12}{'seconds':>9}{'peak MiB':>10}{'of it table':>12}{'tags':>10}{'hidden':>9}{'AUC':>8}"
        )
        for name in names:
            given = ("--threads", str(options.threads), "--sample", str(options.sample))
            show(name, json.loads(apart(*given, "--measure", name, folder)))


def show(name: str, report: Report) -> None:
    """Print the line of one similarity and, where there are any, its errors."""
    memory = f"{report['peak'] / 2**20:>10.0f}{report['before'] / 2**20:>12.0f}"
    print(f"{name:<12}{report['seconds']:>9.1f}{memory}", end="")
    print(
        f"{report['tags']:>10.1f}{report['hidden']:>9.1f}{report['auc']:>8.4f}  {report['chosen']}",
        flush=True,
    )
    for group, errors in report.get("errors", {}).items():
        print(f"    {group}: median value {errors['value']:.2g}; error median / 95% / most", end="")
        for kind in ("absolute", "relative"):
            print(f", {kind} " + " / ".join(f"{error:.2g}" for error in errors[kind]), end="")
        print("; sum {:.4g} for {:.4g}".format(*errors["sums"]), flush=True)


def main() -> None:
    """Compare, or do the one thing that a process of its own was started for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--dataset", default="bank1", help="a data set with truth")
    parser.add_argument("--rows", type=int, default=None, help="rows; all of them when not given")
    parser.add_argument("--theta-o", type=float, default=0.5, help="share of positives to label, if none are")
    parser.add_argument("--threads", type=int, default=2, help="of each similarity")
    parser.add_argument("--sample", type=int, default=500, help="rows per group that are summed exactly")
    parser.add_argument("--similarities", nargs="+", help="which ones; all when not given")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare is not None:
        prepare(options.dataset, options.rows, options.theta_o, options.prepare)
    elif options.measure is not None:
        name, folder = options.measure
        print(json.dumps(measure(name, Path(folder), options.threads, options.sample)))
    else:
        compare(options)


if __name__ == "__main__":
    main()
