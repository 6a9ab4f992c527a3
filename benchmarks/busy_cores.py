"""How long LightGBM trains on all cores while other programs use them too, as its threads wait: as they come, or as pubench sets them.

    python benchmarks/busy_cores.py --busy 2

Each measurement is a process of its own, because OpenMP reads its settings when it is loaded, and is ended after --patience
seconds. Other programs are processes that compute without an end, as many as --busy says.
"""

import argparse
import os
import subprocess
import sys
import time
from statistics import median

import numpy as np

from pubench import Resources, Seed, Table, Tags
from pubench.api.registry import load_registry
from pubench.system.machine import cores, waiting_variables

SHAPES = ((5_000, 6), (24_000, 30), (200_000, 30))
_DEEP = {"trees": 200, "learning_rate": 0.05, "depth": 16, "leaves": 63, "l2": 1.0, "min_hessian": 0.01}


def measure(rows: int, features: int, repeats: int) -> None:
    """Print the median time of training deep trees."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, features))
    tags = Tags((X[:, 0] + generator.normal(size=rows) > 3.2).astype(np.float64))
    learner = load_registry().find("lightgbm").plugin(**_DEEP)
    resources, times = Resources(n_threads=cores()), []
    prepared = learner.prepare(Table.from_array(X), resources)  # type: ignore[attr-defined]
    for _ in range(repeats):
        start = time.perf_counter()
        learner.train(prepared, tags, Seed(0), resources)  # type: ignore[attr-defined]
        times.append(time.perf_counter() - start)
    print(f"{median(times):.2f} s", end="")


def main() -> None:
    """Print a line per table and setting."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--busy", type=int, default=cores(), help="number of other programs")
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        rows, features = options.one
        measure(rows, features, options.repeats)
        return
    settings = {"as it comes": {}, "as pubench sets it": waiting_variables()}
    for busy in sorted({0, options.busy}):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            for shape in SHAPES:
                for name, variables in settings.items():
                    print(
                        f"{busy} other programs  {shape[0]:>9,} x {shape[1]:<4} {name:<20}",
                        end="",
                        flush=True,
                    )
                    line = [
                        sys.executable,
                        __file__,
                        "--one",
                        *map(str, shape),
                        "--repeats",
                        str(options.repeats),
                    ]
                    try:
                        subprocess.run(
                            line, env={**os.environ, **variables}, check=True, timeout=options.patience
                        )
                    except subprocess.TimeoutExpired:
                        print(f"more than {options.patience:g} s", end="")
                    print(flush=True)
        finally:
            for other in others:
                other.kill()


if __name__ == "__main__":
    main()
