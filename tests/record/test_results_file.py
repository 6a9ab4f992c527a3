"""All records of a run in one file."""

from pathlib import Path

import pyarrow.csv
import pyarrow.parquet

from pubench.record.record import Record
from pubench.record.results_file import write_results
from pubench.types import Status
from tests.bench.suites import done, job


def test_results_hold_a_row_per_record_in_both_formats(tmp_path: Path) -> None:
    records = [done(job(0)), Record(job(1).spec, Status.FAILED, "It broke, badly.")]
    paths = write_results(records, tmp_path)
    for table in (pyarrow.csv.read_csv(paths[0]), pyarrow.parquet.read_table(paths[1])):
        rows = table.to_pylist()
        assert [row["key"] for row in rows] == [record.spec.key for record in records]
        assert (rows[0]["auc"], rows[0]["train_rows"], rows[0]["learner"]) == (0.9, 66, "l")
        assert (rows[1]["status"], rows[1]["reason"], rows[1]["auc"]) == ("failed", "It broke, badly.", None)
