"""Verifies records: runs their specs again as jobs of `pubench bench` and compares the results.

    records -> a sample, or those asked for -> each run again in a process of its own -> compared -> verified/KEY.json

This is the only file of the leaderboard that runs a method. A verification is written whether it agrees or not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from pubench.api.plugin import Kind
from pubench.bench.executors import run_isolated
from pubench.bench.job_data import HOLDOUT
from pubench.bench.job_server import job_server
from pubench.bench.plan import BenchJob
from pubench.configuration.configuration import to_tables
from pubench.errors import DataError, ParameterError, suggestion
from pubench.leaderboard.board import read_folder, records_folder
from pubench.leaderboard.verification_files import (
    Verification,
    compare_records,
    read_verifications,
    verified_folder,
    write_verification,
)
from pubench.record.record import Record, RunSpec
from pubench.seeds import Seed
from pubench.system.machine import free_memory
from pubench.types import Status
from pubench.workers.limits import Limits

#: Default tolerance of a metric. Libraries and processors round differently, and trees with other splits move a metric a
#: little; a fold's own standard error is several times larger.
TOLERANCE = 0.005

#: Runs a spec again and returns the new record.
Rerun: TypeAlias = Callable[[RunSpec], Record]


@dataclass(frozen=True)
class VerifyRequest:
    """Which records to verify, and how.

    Attributes:
        keys: of the records; empty: a sample.
        sample: number of records to draw from those not verified yet.
        seed: draws the sample.
        tolerance: largest difference of a metric that is accepted, between 0 and 1.

    Raises:
        ParameterError: the sample is less than 1, or the tolerance is out of range.
    """

    keys: tuple[str, ...] = ()
    sample: int = 3
    seed: int = 0
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance <= 1:
            raise ParameterError(f"The tolerance must be between 0 and 1; got {self.tolerance:g}.")
        if self.sample < 1:
            raise ParameterError(f"The sample must have at least one record; got {self.sample}.")


@dataclass(frozen=True)
class VerifyResult:
    """The verified records.

    Attributes:
        verifications: of the records that were run again.
        impossible: one sentence about each record that cannot be run on this machine.
        left: number of records that are not verified yet.
    """

    verifications: tuple[Verification, ...]
    impossible: tuple[str, ...]
    left: int


def verify_folder(
    folder: Path, request: VerifyRequest, rerun: Rerun, on_verified: Callable[[Verification], None]
) -> VerifyResult:
    """Run records of a folder again and compare; each verification is written as soon as it is known.

    Args:
        folder: of the records; verifications are written beside it.
        request: which records, and how.
        rerun: runs a spec; see `rerun_in_process`.
        on_verified: called with each verification.

    Raises:
        DataError: there is no such folder or no record in it, or none of the chosen records can be run here.
        ParameterError: there is no record with a requested key.
    """
    records, _ = read_folder(folder)
    if not records:
        raise DataError(f"{folder} holds no record to verify.")
    verified = verified_folder(records_folder(folder))
    earlier, _ = read_verifications(verified, records)
    chosen = _by_key(records, request.keys) if request.keys else draw_sample(records, earlier, request)
    new: dict[str, Verification] = {}
    impossible: list[str] = []
    for record in chosen:
        try:
            verification = compare_records(record, rerun(repeatable_spec(record)), request.tolerance)
        except DataError as error:
            impossible.append(str(error))
            continue
        write_verification(verified, verification)
        on_verified(verification)
        new[record.spec.key] = verification
    if impossible and not new:
        raise DataError(impossible[0])
    left = {record.spec.key for record in records} - {*earlier, *new}
    return VerifyResult(tuple(new.values()), tuple(impossible), len(left))


def repeatable_spec(record: Record) -> RunSpec:
    """Return the spec that is run to repeat a record.

    Of a run of `pubench tune` that is what its search found, a blend included: a search that ends by the clock ends with
    something else each time.
    """
    found = record.chosen.get("configuration")
    if HOLDOUT not in record.spec.view or not isinstance(found, Mapping):
        return record.spec
    tables = to_tables(found)
    method = tables[Kind.METHOD.value]
    name = str(method["name"]) if isinstance(method, Mapping) else record.spec.method
    return replace(record.spec, method=name, configuration=tables, tuning={})


def _by_key(records: Sequence[Record], keys: Sequence[str]) -> list[Record]:
    by_key = {record.spec.key: record for record in records}
    for key in keys:
        if key not in by_key:
            raise ParameterError(f"There is no record '{key}'.{suggestion(key, by_key)}")
    return [by_key[key] for key in keys]


def draw_sample(records: Sequence[Record], verified: Iterable[str], request: VerifyRequest) -> list[Record]:
    """Return at most `request.sample` records, drawn from those whose key is not in `verified`; ordered by key."""
    known = set(verified)
    unverified = sorted(
        (record for record in records if record.spec.key not in known), key=lambda record: record.spec.key
    )
    order = Seed(request.seed).child("verify").generator().permutation(len(unverified))[: request.sample]
    return [unverified[i] for i in sorted(order.tolist())]


@contextmanager
def rerun_in_process(n_threads: int, plugin_files: Sequence[Path], timeout: float) -> Iterator[Rerun]:
    """Yield a function that runs a spec in a process of its own, within limits, and returns its record.

    It raises `DataError` if the data is not on this machine, since that is no disagreement.

    Args:
        n_threads: of each run.
        plugin_files: single-file plugins that runs load.
        timeout: of each run, in seconds.
    """
    server = job_server(n_threads, [str(path.absolute()) for path in plugin_files])

    def rerun(spec: RunSpec) -> Record:
        record = run_isolated(BenchJob(spec), Limits(timeout, free_memory()), server).record
        if record.status is Status.FAILED and record.data is None:
            raise DataError(f"The run {spec.key} cannot be repeated here: {record.reason}")
        return record

    try:
        yield rerun
    finally:
        server.close()
