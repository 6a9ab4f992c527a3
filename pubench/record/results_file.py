"""All records of a run in one file: a table with a row per record, as CSV and as Parquet."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from pubench.record.record import Record
from pubench.system.files import write_whole
from pubench.types import Json


def write_results(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write results.csv and results.parquet into `folder` and return their paths."""
    from pyarrow import csv, parquet  # noqa: PLC0415 - heavy imports happen when used

    table = _table([_row(record) for record in records])
    paths = [folder / "results.csv", folder / "results.parquet"]
    for path, write in zip(paths, (csv.write_csv, parquet.write_table), strict=True):
        with write_whole(path) as temporary:
            write(table, temporary)
    return paths


def _table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return the rows as a table; by way of JSON, because for Python values pyarrow imports pandas, which takes 0.2 s."""
    from pyarrow import json as arrow_json  # noqa: PLC0415

    if not rows:
        return _schema().empty_table()
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    options = arrow_json.ParseOptions(explicit_schema=_schema(), unexpected_field_behavior="ignore")
    whole = arrow_json.ReadOptions(block_size=len(lines))
    return arrow_json.read_json(BytesIO(lines), whole, options)


_TEXTS = (
    "key",
    "dataset",
    "method",
    "similarity",
    "learner",
    "status",
    "reason",
    "data_hash",
    "configuration",
    "chosen",
)
_COUNTS = (
    "rows_asked",
    "fold",
    "folds",
    "seed",
    "trials",
    "rows",
    "features",
    "train_rows",
    "train_labelled",
    "test_rows",
    "test_labelled",
    "peak_memory_bytes",
)
_NUMBERS = (
    "theta_o",
    "aul_pu",
    "aul_pu_stderr",
    "auc",
    "aul",
    "fit_seconds",
    "predict_seconds",
    "total_seconds",
)


def _schema() -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.schema(
        [
            *((name, pa.string()) for name in _TEXTS),
            *((name, pa.int64()) for name in _COUNTS),
            *((name, pa.float64()) for name in _NUMBERS),
            ("stand_in", pa.bool_()),
        ]
    )


def _row(record: Record) -> dict[str, Any]:
    spec, data = record.spec, record.data
    return {
        **(vars(data) if data else {}),
        "key": spec.key,
        "dataset": spec.dataset,
        "method": spec.method,
        "similarity": _name(spec.configuration.get("similarity")),
        "learner": _name(spec.configuration.get("learner")),
        "status": record.status.value,
        "reason": record.reason,
        "data_hash": data.hash if data else None,
        "configuration": json.dumps(spec.configuration, sort_keys=True),
        "chosen": json.dumps(record.chosen, sort_keys=True),
        "rows_asked": spec.view["rows"],
        "theta_o": spec.view["theta_o"],
        "fold": spec.fold,
        "folds": spec.folds,
        "seed": spec.seed,
        "trials": spec.tuning.get("trials"),
        "peak_memory_bytes": record.peak_memory_bytes,
        **{name: record.metrics.get(name) for name in ("aul_pu", "aul_pu_stderr", "auc", "aul")},
        **{f"{phase}_seconds": record.seconds.get(phase) for phase in ("fit", "predict", "total")},
    }


def _name(part: Json) -> str | None:
    return str(part["name"]) if isinstance(part, Mapping) else None
