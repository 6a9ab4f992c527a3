"""The folder of a suite's run: its records, one per job, and a lock that lets one runner work in it.

OUT/suite.toml, records/KEY.json, logs/KEY.log, results.csv, results.parquet, tables.md, figures/
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pubench.bench.executors import JobResult
from pubench.bench.plan import BenchJob
from pubench.bench.suite import Suite
from pubench.errors import DataError
from pubench.record.record import Record
from pubench.record.record_file import read_record, write_record
from pubench.system.files import locked_folder, make_folder, remove_old_temporaries, write_whole
from pubench.types import Status

#: A temporary file this old belongs to a runner that died.
_OLD_SECONDS = 60.0


@dataclass(frozen=True)
class BenchFolder:
    """The files of a suite's run.

    Attributes:
        path: the folder.
    """

    path: Path

    @property
    def records(self) -> Path:
        """The folder of the records."""
        return self.path / "records"

    def read_records(self, jobs: Sequence[BenchJob]) -> dict[str, Record]:
        """Return the records of these jobs that exist and can be read, by key."""
        records = {}
        for job in jobs:
            path = self.records / f"{job.spec.key}.json"
            with suppress(DataError):
                if path.exists():
                    records[job.spec.key] = read_record(path)
        return records

    def write(self, result: JobResult, *, replace: bool) -> Record:
        """Write the record of a job, and its log if it failed; return the record that counts.

        A record that exists counts, unless it is to be replaced or cannot be read.
        """
        record = result.record
        path = self.records / f"{record.spec.key}.json"
        if path.exists() and not replace:
            with suppress(DataError):
                return read_record(path)
        write_record(self.records, record, replace=True)
        if record.status is not Status.OK and result.log:
            self._write_log(record, result.log)
        return record

    def _write_log(self, record: Record, log: str) -> None:
        logs = self.path / "logs"
        with suppress(OSError, DataError):  # the record is what counts
            logs.mkdir(exist_ok=True)
            with write_whole(logs / f"{record.spec.key}.log") as temporary:
                temporary.write_text(f"{log}\n", encoding="utf-8")

    @contextmanager
    def locked(self, suite: Suite, *, must_exist: bool) -> Iterator[None]:
        """Make the folder and lock it, so that no other runner works in it; the lock of a process that died is released.

        Raises:
            DataError: it cannot be written, another runner has locked it, or it does not exist and must.
        """
        if must_exist and not self.records.is_dir():
            raise DataError(
                f"{self.path} holds no run that could be resumed; leave --resume out to begin one."
            )
        make_folder(self.records)
        with locked_folder(self.path):
            remove_old_temporaries(self.records, _OLD_SECONDS)
            with write_whole(self.path / "suite.toml") as temporary:
                temporary.write_text(suite.text, encoding="utf-8")
            yield
