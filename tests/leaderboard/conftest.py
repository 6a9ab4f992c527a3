"""Records of simulated runs: the structure is real, the placements are drawn."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from pubench.leaderboard.loading import load_board
from pubench.leaderboard.site.writing import build_site
from pubench.leaderboard.verification import (
    Difference,
    Verification,
    record_digest,
    write_verification,
)
from pubench.records.files import write_record
from pubench.records.record import DataFacts, Record, RunSpec
from pubench.types import Status

Simulate: TypeAlias = Callable[..., list[Record]]


def facts(dataset: str, **changes: Any) -> DataFacts:
    values = {"rows": 9000, "features": 12, "train_rows": 6000, "train_labelled": 80, "test_rows": 3000}
    return DataFacts(hash=f"{abs(hash_of(dataset)):032x}", **{**values, "test_labelled": 40, **changes})


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode()[:16], "big")


def simulated(
    methods: Mapping[str, float],
    datasets: Sequence[str] = ("alpha", "beta", "gamma", "delta"),
    *,
    thetas: Sequence[float | None] = (0.5,),
    folds: int = 3,
    seeds: Sequence[int] = (1,),
    labelled: int = 40,
    noise: float = 0.3,
    failing: Callable[[str, str, int], bool] = lambda method, dataset, fold: False,  # noqa: ARG005
    truth: bool = True,
    learner: str = "lightgbm",
    tuned: Sequence[str] = (),
    stand_ins: Sequence[str] = (),
) -> list[Record]:
    """Return a record per method, data set, theta_O, seed and fold.

    A method of quality q places a labelled row of difficulty h at expit(q - h + noise); difficulties are shared.
    """
    made = []
    for dataset in datasets:
        for theta in thetas:
            for seed in seeds:
                for fold in range(folds):
                    rows = np.random.default_rng(
                        [hash_of(dataset) % 2**31, int((theta or 0) * 100), seed, fold]
                    )
                    difficulty = rows.normal(size=labelled)
                    for number, (method, quality) in enumerate(methods.items()):
                        spec = RunSpec(
                            dataset,
                            {"theta_o": theta, "rows": None},
                            method,
                            {"method": {"name": method}, "learner": {"name": learner, "trees": 60}},
                            fold,
                            folds,
                            seed,
                            {"trials": 30} if method in tuned else {},
                        )
                        data = facts(dataset, stand_in=dataset in stand_ins)
                        if failing(method, dataset, fold):
                            made.append(Record(spec, Status.TIMEOUT, "It took longer than 60 s.", data))
                            continue
                        own = noise * rows.normal(size=labelled)
                        placements = 1 / (1 + np.exp(-(quality - difficulty + own)))
                        made.append(_ok(spec, data, placements, number, truth=truth))
    return made


def _ok(spec: RunSpec, data: DataFacts, placements: Any, number: int, *, truth: bool) -> Record:
    aul = float(placements.mean())
    metrics = {"aul_pu": aul, "aul_pu_stderr": float(placements.std() / np.sqrt(len(placements)))}
    if truth:
        metrics["auc"] = min(1.0, aul + 0.004)
    return Record(
        spec,
        Status.OK,
        data=data,
        metrics=metrics,
        placements=tuple(placements.tolist()),
        seconds={"fit": 1.5 * (number + 1), "predict": 0.25},
        peak_memory_bytes=10**9,
        chosen={"k": 18},
        origins={"method": "pubench 0.1.0"},
        environment={"versions": {"numpy": "2.3.1", "python": "3.11.7"}, "hardware": {"cores": 2}},
    )


@pytest.fixture(scope="session")
def simulate() -> Simulate:
    return simulated


def some_records() -> list[Record]:
    """Five methods, one of them tuned and one that fails here and there, on four data sets, one of them a stand-in."""
    return simulated(
        {"probtagging": 1.2, "bagging": 1.0, "elkan": 0.9, "naive": 0.6, "liu": 0.5},
        ["bank1", "creditcard", "aps", "kdd"],
        thetas=(0.3, 0.5),
        noise=1.0,
        tuned=["bagging"],
        stand_ins=["bank1"],
        failing=lambda method, dataset, fold: (
            method == "liu" and (dataset == "kdd" or (dataset == "aps" and fold < 2))
        ),
    )


@pytest.fixture(scope="session")
def records() -> list[Record]:
    return some_records()


@pytest.fixture(scope="session")
def written(records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records in a folder, three of which were verified, one of them without success; to be read only."""
    folder = tmp_path_factory.mktemp("board") / "records"
    for record in records:
        write_record(folder, record)
    for i, record in enumerate(records[:3]):
        differences = (Difference("auc", "0.900000", "0.700000"),) if i == 0 else ()
        verification = Verification(
            record.spec.key, record_digest(record), 0.005, differences, {"threads": 2}
        )
        write_verification(folder.parent / "verified", verification)
    return folder


@pytest.fixture(scope="session")
def site(written: Path) -> Path:
    """The site of the records; to be read only."""
    return build_site(load_board(written), written.parent / "site").folder
