"""The folder of a suite's run: records that are there, and one runner at a time.

OUT/suite.toml, records/KEY.json, logs/KEY.log, results.csv, results.parquet, tables.md, figures/
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pubench.atomic import replacing
from pubench.errors import DataError
from pubench.experiment.isolation import Finished
from pubench.experiment.planning import Job
from pubench.experiment.suite import Suite
from pubench.holding import only_one
from pubench.records.files import read_record, write_record
from pubench.records.record import Record
from pubench.types import Status

#: A temporary file this old belongs to a runner that died.
_DEAD_SECONDS = 60.0


@dataclass(frozen=True)
class OutFolder:
    """Where a suite leaves what it does.

    Attributes:
        path: the folder.
    """

    path: Path

    @property
    def records(self) -> Path:
        """Where records are."""
        return self.path / "records"

    def known(self, jobs: Sequence[Job]) -> dict[str, Record]:
        """Return the records of these jobs that are there and can be read, by key."""
        found = {}
        for job in jobs:
            path = self.records / f"{job.spec.key}.json"
            with suppress(DataError):
                if path.exists():
                    found[job.spec.key] = read_record(path)
        return found

    def keep(self, finished: Finished, *, replace: bool) -> Record:
        """Write the record of a job, and what it printed if it failed; return the record that counts.

        A record that is there counts, unless it is to be replaced or can not be read.
        """
        record = finished.record
        path = self.records / f"{record.spec.key}.json"
        if path.exists() and not replace:
            with suppress(DataError):
                return read_record(path)
        write_record(self.records, record, replace=True)
        if record.status is not Status.OK and finished.log:
            self._write_log(record, finished.log)
        return record

    def _write_log(self, record: Record, log: str) -> None:
        logs = self.path / "logs"
        with suppress(OSError, DataError):  # the record is what counts
            logs.mkdir(exist_ok=True)
            with replacing(logs / f"{record.spec.key}.log") as temporary:
                temporary.write_text(f"{log}\n", encoding="utf-8")

    @contextmanager
    def held(self, suite: Suite, *, must_exist: bool) -> Iterator[None]:
        """Make the folder and hold it, so that no other runner works in it; the system takes it back from the dead.

        Raises:
            DataError: it can not be written, belongs to another suite or runner, or is not there and must be.
        """
        if must_exist and not self.records.is_dir():
            raise DataError(
                f"{self.path} holds no run that could be resumed; leave --resume out to begin one."
            )
        try:
            self.records.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{self.path} can not be written: {error.strerror or error}.") from error
        with only_one(self.path):
            self._sweep()
            with replacing(self.path / "suite.toml") as temporary:
                temporary.write_text(suite.text, encoding="utf-8")
            yield

    def _sweep(self) -> None:
        """Remove what runners that were killed left half written."""
        for path in self.records.glob(".*.json"):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - _DEAD_SECONDS:
                    path.unlink()
