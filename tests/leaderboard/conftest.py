"""Records of simulated runs, and a site made of them."""

from pathlib import Path

import pytest

from pubench.leaderboard.board import load_board
from pubench.leaderboard.site.build import build_site
from pubench.leaderboard.verification_files import (
    Difference,
    Verification,
    record_digest,
    write_verification,
)
from pubench.record.record import Record
from pubench.record.record_file import write_record
from tests.leaderboard.simulation import Simulate, simulated


@pytest.fixture(scope="session")
def simulate() -> Simulate:
    return simulated


def some_records() -> list[Record]:
    """Five methods on four data sets; one method is tuned, one fails on some folds, and one data set is a stand-in."""
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
    """A folder of the records, three of which were verified, one of these with a difference. Tests must not change it."""
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
    """The site of the records. Tests must not change it."""
    return build_site(load_board(written), written.parent / "site").folder
