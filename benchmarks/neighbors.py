"""Times the exact search for labelled neighbours against FAISS and scikit-learn, and checks it against brute force.

    python benchmarks/neighbors.py                     bank1 at full size: time, memory, ratios, mismatches
    python benchmarks/neighbors.py growth              50 k, 200 k and 800 k rows of bank1, and the log-log slope
    python benchmarks/neighbors.py real                creditcard, cover, celeba and http (PUBENCH_DATA)
    python benchmarks/neighbors.py hard                tiny tables, many dimensions, many positives: against brute force
    python benchmarks/neighbors.py sweep               several hundred tables of 20 to 9,000 rows: against brute force
    python benchmarks/neighbors.py picture OUT.png     E_k on creditcard with the chosen k

FAISS (`pip install faiss-cpu`) and scikit-learn answer a sample of the queries, on all cores; their time for all
queries is extrapolated from it. Both return the 51 nearest rows of float32 data; ours returns the exact ranks.
"""

import argparse
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from joblib import cpu_count
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from pubench import (
    Embedding,
    ExpectedPositivesDisplay,
    Labelling,
    PositiveNeighbors,
    Seed,
    draw_view,
    positive_neighbors,
)
from pubench.api.registry import load_registry
from pubench.data.sources import DatasetRequest, open_dataset

Rows = npt.NDArray[np.float32]
Labels = npt.NDArray[np.bool_]
#: Makes a table of one kind from random numbers.
Kind: TypeAlias = Callable[[Rows, np.random.Generator], Rows]
K_MAX = 50
#: Of more rows than this brute force answers only some, and its time is extrapolated.
EXTRAPOLATED = 20_000
#: So many times as long as brute force is too long.
LIMIT = 1.2


def opened(name: str, rows: int | None = None) -> tuple[Rows, Labels]:
    """Return a data set embedded with standard scaling, and its labels: observed, or half of the positives."""
    dataset = open_dataset(DatasetRequest(name, rows=rows), load_registry()).dataset
    s = dataset.observed
    if s is None and dataset.truth is not None:
        s = draw_view(dataset.X, dataset.truth, Labelling(0.5), Seed(0)).data.s
    values = Embedding().fit(dataset.X).transform(dataset.X).values
    return np.asarray(values, dtype=np.float32), np.asarray(s)


def seconds(work: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def compile_first(X: Rows) -> None:
    """Compile or load, before anything is timed: brute force for few rows, the index, brute force for many wide ones."""
    draw = np.random.default_rng(0)
    for shape in ((600, X.shape[1]), (9000, X.shape[1]), (9000, 100)):
        positive_neighbors(draw.standard_normal(shape).astype(X.dtype), np.arange(shape[0]) < 20, K_MAX)


def ours(X: Rows, s: Labels) -> tuple[PositiveNeighbors, float]:
    """Return the neighbours and the seconds they took, everything included."""
    results: list[PositiveNeighbors] = []
    took = seconds(lambda: results.append(positive_neighbors(X, s, K_MAX)))
    return results[0], took


def faiss_seconds(X: Rows, queries: Rows) -> float:
    """Return the time that FAISS's exact search would take for all rows, from a sample of queries."""
    import faiss  # noqa: PLC0415 - only for those who compare

    faiss.omp_set_num_threads(cpu_count())
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    index.search(queries[:16], K_MAX + 1)
    return seconds(lambda: index.search(queries, K_MAX + 1)) * len(X) / len(queries)


def sklearn_seconds(X: Rows, queries: Rows) -> float:
    """Return the time that scikit-learn's brute force would take for all rows, from a sample of queries."""
    search = NearestNeighbors(n_neighbors=K_MAX + 1, algorithm="brute").fit(X)
    return seconds(lambda: search.kneighbors(queries, return_distance=False)) * len(X) / len(queries)


def literal(X: npt.NDArray[np.float64], s: Labels, row: int) -> list[tuple[int, int]]:
    """Return (rank, positive) around one row by float64 distances to every other row; ties by row number."""
    squares = cdist(X[row : row + 1], X, "sqeuclidean")[0]
    squares[row] = np.inf
    last = np.partition(squares, K_MAX - 1)[K_MAX - 1]
    near = np.flatnonzero(squares <= last)
    near = near[np.argsort(squares[near], kind="stable")][:K_MAX]
    return [(rank, int(other)) for rank, other in enumerate(near, start=1) if s[other]]


def mismatches(X: Rows, s: Labels, neighbors: PositiveNeighbors, sample: int) -> int:
    """Return how many of the sampled unlabeled rows have other ranks than by float64 brute force."""
    rows = np.random.default_rng(7).choice(np.flatnonzero(~s), min(sample, int((~s).sum())), replace=False)
    exact = X.astype(np.float64)

    def differs(row: int) -> bool:
        ranks, positives = neighbors.of(row)
        return list(zip(ranks.tolist(), positives.tolist(), strict=True)) != literal(exact, s, row)

    with ThreadPoolExecutor(cpu_count()) as pool:
        return sum(pool.map(differs, rows.tolist()))


def compare(name: str, rows: int | None, queries: int, checked: int) -> None:
    """Print time, memory, ratios and mismatches on one data set."""
    X, s = opened(name, rows)
    compile_first(X)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    neighbors, took = ours(X, s)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{name}: {X.shape[0]:,} x {X.shape[1]}, {int(s.sum()):,} labelled, k_max {K_MAX}, {cpu_count()} cores"
    )
    print(f"  ours              {took:10.1f} s, all rows; peak memory {peak / 2**20:.2f} GiB", end="")
    print(f" ({before / 2**20:.2f} before, the table is {X.nbytes / 2**30:.2f})", flush=True)
    sample = X[np.random.default_rng(1).choice(len(X), min(queries, len(X)), replace=False)]
    for title, other in (("FAISS IndexFlatL2", faiss_seconds), ("scikit-learn brute", sklearn_seconds)):
        took_other = other(X, sample)
        print(f"  {title:<18}{took_other:9.0f} s, extrapolated from {len(sample)} queries", end="")
        print(f"; {took_other / took:.1f}x ours", flush=True)
    print(
        f"  mismatches        {mismatches(X, s, neighbors, checked):8} of {checked:,} rows against float64 brute force"
    )


def growth(sizes: tuple[int, ...]) -> None:
    """Print the time at several sizes and the slope of its logarithm."""
    times = []
    for size in sizes:
        X, s = opened("bank1", size)
        compile_first(X)
        times.append(min(ours(X, s)[1] for _ in range(2)))
        print(f"bank1, {size:>9,} rows: {times[-1]:8.1f} s", flush=True)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"log-log slope {slope:.2f}")


def nine_of_ten_equal(X: Rows, draw: np.random.Generator) -> Rows:
    """Make most rows equal."""
    X[draw.random(len(X)) < 0.9] = X[0]
    return X


def half_equal(X: Rows, draw: np.random.Generator) -> Rows:
    """Make half of the rows equal."""
    X[draw.random(len(X)) < 0.5] = X[0]
    return X


def few_distinct(X: Rows, draw: np.random.Generator) -> Rows:
    """Leave 32 distinct rows at most."""
    return X[draw.integers(0, min(32, len(X)), len(X))]


def far_clusters(X: Rows, draw: np.random.Generator) -> Rows:
    """Gather the rows in five clusters 1e7 times as far apart as wide."""
    centres = 1e4 * draw.standard_normal((5, X.shape[1]))
    return np.asarray(centres[draw.integers(0, 5, len(X))] + 1e-3 * X, dtype=np.float32)


def plain(X: Rows, draw: np.random.Generator) -> Rows:  # noqa: ARG001 - one of several
    """Leave the rows as they were drawn."""
    return X


def against_brute_force(
    rows: int, columns: int, positives: int, kind: Kind, repeats: int
) -> tuple[float, float]:
    """Return how long a table of this kind takes, as a share of scikit-learn's brute force and in seconds: medians.

    Both do everything, from the table to the answer. One after the other, not in turn: scikit-learn's threads wait for
    more for some milliseconds, by spinning.
    """
    draw = np.random.default_rng(rows + columns + positives)
    X = kind(draw.standard_normal((rows, columns)).astype(np.float32), draw)
    s = draw.permutation(rows) < positives
    ours(X, s)  # compiled, and in the caches, as what it is compared with
    brute_force_seconds(X)
    other = np.median([brute_force_seconds(X) for _ in range(repeats)])
    took = np.median([ours(X, s)[1] for _ in range(repeats)])
    return float(took / other), float(took)


def brute_force_seconds(X: Rows) -> float:
    """Return scikit-learn's time for the nearest rows of every row; of many rows, extrapolated from a sample."""
    if len(X) > EXTRAPOLATED:
        return sklearn_seconds(X, X[:2000])
    search = NearestNeighbors(n_neighbors=min(K_MAX + 1, len(X)), algorithm="brute")
    return seconds(lambda: search.fit(X).kneighbors(X, return_distance=False))


def hard() -> None:
    """Print the ratio to scikit-learn's brute force where little can be left out."""
    cases = (
        (100, 5, 10, plain), (100, 10, 50, plain), (100, 10, 50, half_equal), (500, 10, 20, plain),
        (500, 10, 20, nine_of_ten_equal), (500, 200, 20, plain), (1000, 200, 500, plain), (2000, 10, 50, plain),
        (2000, 10, 1000, nine_of_ten_equal), (2000, 500, 600, plain), (2500, 1, 1250, half_equal),
        (2500, 3, 1250, far_clusters), (4000, 5, 2000, few_distinct), (4000, 60, 2000, plain),
        (4000, 60, 40, nine_of_ten_equal), (6000, 50, 300, far_clusters), (6000, 50, 3000, far_clusters),
        (6001, 60, 3000, plain), (6001, 500, 3000, plain), (9000, 50, 4500, nine_of_ten_equal),
        (9000, 50, 4500, half_equal), (20_000, 30, 10_000, plain), (20_000, 30, 200, nine_of_ten_equal),
        (20_000, 30, 10_000, nine_of_ten_equal), (20_000, 30, 10_000, few_distinct), (20_000, 100, 10_000, plain),
        (20_000, 500, 40, plain), (20_000, 500, 10_000, plain), (100_000, 30, 50_000, nine_of_ten_equal),
        (100_000, 30, 50_000, half_equal), (300_000, 10, 150_000, nine_of_ten_equal),
    )  # fmt: skip
    for rows, columns, positives, kind in cases:
        ratio, took = against_brute_force(rows, columns, positives, kind, 7 if rows <= EXTRAPOLATED else 3)
        print(
            f"{named(rows, columns, positives, kind)}: {ratio:5.2f} of brute force, {took * 1e3:.1f} ms",
            flush=True,
        )


def sweep() -> None:
    """Print which of several hundred small tables take more than 1.2 times as long as scikit-learn's brute force."""
    kinds = (plain, half_equal, nine_of_ten_equal, few_distinct, far_clusters)
    sizes = ((20, 15), (100, 15), (300, 15), (500, 15), (1000, 7), (2500, 5), (6000, 3), (9000, 3))
    tables = [
        (rows, columns, max(1, int(rows * share)), kind, repeats)
        for rows, repeats in sizes
        for columns in (1, 3, 10, 50, 200)
        for share in (0.01, 0.1, 0.5)
        for kind in kinds
    ]
    ratios = {}
    for table in tables:
        ratios[table] = against_brute_force(*table)[0]
        if ratios[table] > LIMIT:  # a slow moment is none of its faults
            ratios[table] = min(ratios[table], against_brute_force(*table)[0])
    for rows, _ in sizes:
        of_size = {table: ratio for table, ratio in ratios.items() if table[0] == rows}
        above = {table: ratio for table, ratio in of_size.items() if ratio > LIMIT}
        print(
            f"{rows:,} rows: median {np.median(list(of_size.values())):.2f}, most {max(of_size.values()):.2f}",
            end="",
        )
        print(f"; {len(above)} of {len(of_size)} above {LIMIT}")
        for (_, columns, positives, kind, _), ratio in above.items():
            print(f"  {named(rows, columns, positives, kind)}: {ratio:.2f}")


def named(rows: int, columns: int, positives: int, kind: Kind) -> str:
    """Return what a table is like."""
    return f"{rows:>7,} x {columns:<4}{positives:>7,} labelled, {kind.__name__.replace('_', ' ')}"


def picture(path: Path) -> None:
    """Draw E_k on creditcard."""
    X, s = opened("creditcard")
    neighbors = positive_neighbors(X, s, K_MAX)
    display = ExpectedPositivesDisplay.from_neighbors(
        neighbors, name="creditcard, half of the positives labelled"
    )
    display.ax_.figure.savefig(path, dpi=120)  # type: ignore[union-attr]
    print(display.choice.rule)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", nargs="?", default="bank1", choices=("bank1", "growth", "real", "hard", "sweep", "picture")
    )
    parser.add_argument("out", nargs="?", type=Path, default=Path("expected_positives.png"))
    parser.add_argument("--rows", type=int, default=None, help="of bank1; all of them when not given")
    parser.add_argument("--queries", type=int, default=1024, help="sample that the others are timed on")
    parser.add_argument("--checked", type=int, default=5000, help="rows compared with brute force")
    options = parser.parse_args()
    if options.what == "bank1":
        compare("bank1", options.rows, options.queries, options.checked)
    elif options.what == "growth":
        growth((50_000, 200_000, 800_000))
    elif options.what == "real":
        for name in ("creditcard", "cover", "celeba", "http"):
            compare(name, None, options.queries, min(options.checked, 1000))
    elif options.what == "hard":
        hard()
    elif options.what == "sweep":
        sweep()
    else:
        picture(options.out)


if __name__ == "__main__":
    main()
