"""Times `read_file` on a CSV and pyarrow's own reader, and measures peak memory, each read in its own process.

The table is that of a typical bank: amounts, counts, flags, ratios with gaps, two columns of text, and a rare label.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

_COLUMNS = {"amount": 11, "count": 8, "flag": 5, "ratio": 4, "text": 2}
_MEBIBYTE = 1 << 20


def write(path: Path, rows: int) -> None:
    """Write a CSV of 30 attributes and the label."""
    import numpy as np  # noqa: PLC0415 - the process that watches the others stays small
    import pandas as pd  # noqa: PLC0415

    generator = np.random.default_rng(0)
    draw: dict[str, Callable[[], Any]] = {
        "amount": lambda: generator.lognormal(6, 1.5, rows).round(2),
        "count": lambda: generator.poisson(3, rows),
        "flag": lambda: (generator.random(rows) < 0.1).astype(int),
        "ratio": lambda: np.where(generator.random(rows) < 0.1, np.nan, generator.normal(size=rows).round(4)),
        "text": lambda: np.array([f"R{i:02d}" for i in range(50)])[generator.integers(0, 50, rows)],
    }
    frame = pd.DataFrame({f"{kind}{i}": draw[kind]() for kind, n in _COLUMNS.items() for i in range(n)})
    frame.assign(bought=(generator.random(rows) < 0.004).astype(int)).to_csv(path, index=False)


def measure(reader: str, path: Path) -> dict[str, float]:
    """Read the file once and return the seconds, the growth of the peak memory, and the size of the array in bytes."""
    from pyarrow import compute, csv  # noqa: F401, PLC0415 - importing is not part of reading

    from pubench.data.user_file import FileSpec, read_file  # noqa: PLC0415

    before = _peak()
    start = perf_counter()
    if reader == "pyarrow":
        size = csv.read_csv(path).nbytes
    else:
        table = read_file(FileSpec(path, "bought")).dataset.X
        size = table.values.nbytes  # noqa: PD011 - of a Table, not of pandas
    return {"seconds": perf_counter() - start, "peak": _peak() - before, "size": size}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def apart(*arguments: str | Path) -> str:
    """Run this script in a process of its own and return what it prints."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_365_550, help="rows; the paper's Bank1 by default")
    parser.add_argument(
        "--repeats", type=int, default=5, help="reads of each kind, in turns; the median counts"
    )
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def compare(rows: int, repeats: int) -> None:
    """Print the medians of both readers and how they relate."""
    measured: dict[str, list[dict[str, float]]] = {"pyarrow": [], "read_file": []}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bank.csv"
        apart("--rows", str(rows), "--write", path)
        print(
            f"{rows} rows x 30 attributes, {path.stat().st_size / _MEBIBYTE:.0f} MiB, median of {repeats}\n"
        )
        for _ in range(repeats):
            for reader, results in measured.items():
                results.append(json.loads(apart("--measure", reader, path)))
    print(f"{'reader':<12}{'seconds':>9}{'range':>16}{'peak':>12}{'array':>12}")
    for reader, results in measured.items():
        times = [result["seconds"] for result in results]
        peak, size = (median(result[key] for result in results) / _MEBIBYTE for key in ("peak", "size"))
        spread = f"{min(times):.2f} - {max(times):.2f}"
        print(f"{reader:<12}{median(times):>9.2f}{spread:>16}{peak:>8.0f} MiB{size:>8.0f} MiB")
    theirs, ours = measured.values()
    slower = [mine["seconds"] / other["seconds"] for mine, other in zip(ours, theirs, strict=True)]
    print(f"\ntime: {median(slower):.2f}x pyarrow's (at most 3x)")
    print(f"peak memory: {median(mine['peak'] / mine['size'] for mine in ours):.2f}x the array (at most 4x)")


def main() -> None:
    """Compare, or do the one thing that a process of its own was started for."""
    options = arguments()
    if options.write is not None:
        write(options.write, options.rows)
    elif options.measure is not None:
        reader, path = options.measure
        print(json.dumps(measure(reader, Path(path))))
    else:
        compare(options.rows, options.repeats)


if __name__ == "__main__":
    main()
