"""The overhead of `pubench bench` besides the methods themselves, and the gain of a second worker.

    python benchmarks/bench_overhead.py              # the suite smoke, with 1 worker and with 2
    python benchmarks/bench_overhead.py --only dataset=mammography

Prints the wall clock time of each run and the share of it in which no method was fitting or predicting: starting, loading
data, evaluating, writing. With 2 workers that share is of 2 x the wall clock time. First a job has all cores, as by default;
then workers are compared, each job with one thread. Neighbours are computed again in each run: the cache is empty.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pubench.record.record_file import read_records


def run(suite: str, only: list[str], setting: list[str], folder: Path) -> tuple[float, float, int]:
    """Return the wall clock, the seconds spent in fit and predict, and the number of jobs that went well."""
    own = "-".join(setting).replace("--", "")
    out = folder / f"out-{own}"
    command = [
        sys.executable,
        "-c",
        "from pubench.cli.main import main; main()",
        "bench",
        suite,
        "--json",
        "--quiet",
    ]
    command += [
        *setting,
        "--out",
        str(out),
        *(word for text in only for word in ("--only", text)),
    ]
    environment = {**os.environ, "PUBENCH_CACHE": str(folder / f"cache-{own}")}
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    wall = time.perf_counter() - start
    records, _ = read_records(out / "records")
    inside = sum(record.seconds.get("fit", 0.0) + record.seconds.get("predict", 0.0) for record in records)
    return wall, inside, int(json.loads(done.stdout)["ended"].get("ok", 0))


def main() -> None:
    """Print a line per number of workers, and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", default="smoke")
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    walls = []
    with tempfile.TemporaryDirectory() as folder:
        for name, workers, setting in (
            ("1 worker, all cores", 1, ["--workers", "1"]),
            ("1 worker, 1 thread", 1, ["--workers", "1", "--threads", "1"]),
            ("2 workers, 1 thread each", 2, ["--workers", "2", "--threads", "1"]),
        ):
            wall, inside, ok = run(options.suite, options.only, setting, Path(folder))
            print(
                f"{name:24}: {wall:6.1f} s, {ok} jobs, {inside:6.1f} s in fit and predict, "
                f"overhead {1 - inside / (workers * wall):.1%}",
                flush=True,
            )
            walls.append(wall)
    print(f"2 workers against 1, a thread each: {walls[1] / walls[2]:.2f} x as fast")


if __name__ == "__main__":
    main()
