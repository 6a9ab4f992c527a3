"""The time saved by stopping bad trials early: the same search with and without it, one after the other.

    python benchmarks/racing.py                                    # bank1, 100,000 rows, 30 trials
    python benchmarks/racing.py --dataset mammography --trials 20

Prints the seconds of the search, the number of trials stopped early, the best AUL_PU in the search (optimistic) and
that of the tuned model on the holdout. Both searches start with the same samples and differ once their trials differ.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PUBENCH = [sys.executable, "-c", "from pubench.cli.main import main; main()"]


def parse() -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="bank1")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--trials", type=int, default=30)
    options = parser.parse_args()
    if options.dataset == "bank1" and options.rows is None:
        options.rows = 100_000
    return options


def tune(options: argparse.Namespace, *further: str) -> dict[str, Any]:
    """Return the JSON result of a search."""
    rows = [] if options.rows is None else ["--rows", str(options.rows)]
    with TemporaryDirectory() as name:
        asked = [
            "tune",
            "--dataset",
            options.dataset,
            "--trials",
            str(options.trials),
            "--no-ensemble",
            *rows,
        ]
        where = ["--out", str(Path(name) / "run"), "--json", "--quiet", *further]
        done = subprocess.run([*PUBENCH, *asked, *where], stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Print a line per search, and the ratio of their times."""
    options = parse()
    tune(argparse.Namespace(**{**vars(options), "trials": 1}))  # data and neighbours are cached for both
    seconds = {}
    for name, further in (("racing", ()), ("all folds", ("--no-racing",))):
        result = tune(options, *further)
        line = result["timeline"]
        seconds[name] = line["search"] - line["first trial"]
        print(
            f"{name:9}  {seconds[name]:6.1f} s after the first trial, {result['stopped_early']} of {result['trials']} stopped early, "
            f"best in the search {result['inner_aul_pu']:.4f}, holdout {result['models']['tuned']['aul_pu']:.4f}",
            flush=True,
        )
    print(f"racing takes {seconds['racing'] / seconds['all folds']:.2f} of the time")


if __name__ == "__main__":
    main()
