"""What stopping bad trials early saves: the same search with and without it, one after the other.

    python benchmarks/racing.py                                    # bank1, 100,000 rows, 30 trials
    python benchmarks/racing.py --dataset mammography --trials 20

Prints the seconds of the search, how many trials were stopped early, the best AUL_PU inside of the search (optimistic) and
that of the tuned model on the holdout. Both searches begin with the same draws and part ways when their trials do.
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
    """Return what a search says of itself."""
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
        found = tune(options, *further)
        line = found["timeline"]
        seconds[name] = line["search"] - line["first trial"]
        print(
            f"{name:9}  {seconds[name]:6.1f} s after the first trial, {found['stopped_early']} of {found['trials']} stopped early, "
            f"best in the search {found['inner_aul_pu']:.4f}, holdout {found['models']['tuned']['aul_pu']:.4f}",
            flush=True,
        )
    print(f"racing takes {seconds['racing'] / seconds['all folds']:.2f} of the time")


if __name__ == "__main__":
    main()
