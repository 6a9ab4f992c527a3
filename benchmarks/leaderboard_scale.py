"""Builds a site from many records and prints the time of each step and the size of the pages.

The records have the form of real ones; their placements are random. Each step runs once, in this process.
"""

import argparse
import resource
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from pubench.leaderboard.board import make_board
from pubench.leaderboard.site.build import build_site
from pubench.record.record import DataFacts, Record, RunSpec
from pubench.record.record_file import read_records, to_document
from pubench.system.json_documents import write_json
from pubench.types import Status

_METHODS, _FOLDS, _LABELLED = 50, 10, 100
_KIBIBYTE = 1024


def records(count: int) -> Iterator[Record]:
    """Yield `count` records: of 50 methods, 10 folds, and as many data sets as needed."""
    generator = np.random.default_rng(0)
    quality = generator.normal(1, 0.3, _METHODS)
    for number in range(count):
        method, rest = number % _METHODS, number // _METHODS
        fold, dataset = rest % _FOLDS, rest // _FOLDS
        placements = 1 / (1 + np.exp(-generator.normal(quality[method], 1, _LABELLED)))
        spec = RunSpec(
            f"dataset{dataset}",
            {"theta_o": 0.5, "rows": None},
            f"method{method}",
            {
                "method": {"name": f"method{method}"},
                "learner": {"name": "lightgbm", "trees": 60, "leaves": 15},
            },
            fold,
            _FOLDS,
            0,
        )
        if number % 97 == 0:
            yield Record(spec, Status.TIMEOUT, "It took longer than 3,600 s.")
            continue
        aul = float(placements.mean())
        yield Record(
            spec,
            Status.OK,
            data=DataFacts(f"{dataset:032x}", 100_000, 30, 90_000, 900, 10_000, _LABELLED),
            metrics={"aul_pu": aul, "aul_pu_stderr": 0.02, "auc": aul, "aul": aul},
            placements=tuple(placements.tolist()),
            seconds={"fit": 1.0 + method, "predict": 0.1},
            environment={"versions": {"numpy": "2.3.1"}, "hardware": {"cores": 2}},
        )


def main() -> None:
    """Build and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    count = parser.parse_args().records
    with TemporaryDirectory() as temporary:
        folder, site = Path(temporary) / "records", Path(temporary) / "site"
        folder.mkdir()
        for record in records(count):
            write_json(
                folder / f"{record.spec.key}.json", to_document(record)
            )  # unchecked: not what is timed
        times = [perf_counter()]
        stored, _ = read_records(folder)
        times.append(perf_counter())
        board = make_board(stored)
        times.append(perf_counter())
        built = build_site(board, site)
        times.append(perf_counter())
        read, ranked, written = np.diff(times)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIBIBYTE
        print(f"{count:,} records: {read:.1f} s to read, {ranked:.1f} s to rank, {written:.1f} s to write")
        print(
            f"{built.pages} pages, {built.bytes / _KIBIBYTE**2:.1f} MiB in all; peak memory {peak:,.0f} MiB"
        )
        for name in ("index.html", "site.js", "site.css", "data.json", "runs.csv", "runs.parquet"):
            print(f"  {name}: {(site / name).stat().st_size / _KIBIBYTE:,.0f} KiB")
        for kind in ("methods", "datasets"):
            sizes = [path.stat().st_size / _KIBIBYTE for path in (site / kind).iterdir()]
            print(
                f"  {kind}: {len(sizes)} pages, {np.mean(sizes):,.0f} KiB each, at most {max(sizes):,.0f} KiB"
            )


if __name__ == "__main__":
    main()
