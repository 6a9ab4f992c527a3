import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.errors import DataError
from pubench.record.record import DataFacts, Record, RunSpec
from pubench.record.record_file import from_document, read_record, read_records, to_document, write_record
from pubench.types import Status

OLD = Path(__file__).parent / "record_of_version_0.json"


def spec(**changes: object) -> RunSpec:
    values: dict[str, Any] = {
        "dataset": "creditcard",
        "view": {"theta_o": 0.5, "rows": None},
        "method": "naive",
        "configuration": {"method": {"name": "naive"}, "learner": {"name": "lightgbm", "trees": 60}},
        "fold": 0,
        "folds": 3,
        "seed": 1,
    }
    return RunSpec(**{**values, **changes})


def record(**changes: Any) -> Record:
    data = DataFacts("0" * 32, 100, 5, 66, 4, 34, 2)
    values: dict[str, Any] = {
        "spec": spec(),
        "status": Status.OK,
        "data": data,
        "metrics": {"aul_pu": 0.75, "aul_pu_stderr": 0.1, "auc": 0.8},
        "placements": (0.5, 1.0),
        "seconds": {"fit": 1.5, "predict": 0.25},
        "peak_memory_bytes": 10**9,
        "chosen": {"k": 18},
        "origins": {"method": "pubench 0.1.0"},
        "environment": {"versions": {"numpy": "2.0"}},
    }
    return Record(**{**values, **changes})


def test_a_key_depends_on_content_alone() -> None:
    assert spec(view={"a": 1, "b": 2}).key == spec(view={"b": 2, "a": 1}).key
    keys = {
        spec().key,
        spec(fold=1).key,
        spec(seed=2).key,
        spec(method="n").key,
        spec(tuning={"trials": 3}).key,
    }
    assert len(keys) == 5
    assert spec().key == "721617be22648828e10eff2264409e70"  # the same on every machine and in every version


def test_a_record_states_a_reason_exactly_when_it_failed() -> None:
    with pytest.raises(DataError, match="reason"):
        Record(spec(), Status.FAILED)
    with pytest.raises(DataError, match="reason"):
        record(reason="x")
    with pytest.raises(DataError, match="'auc'"):
        record(metrics={"aul_pu": 0.5, "auc": float("nan")})
    with pytest.raises(DataError, match="AUL_PU"):
        record(metrics={})


@pytest.mark.parametrize("one", [record(), Record(spec(), Status.TIMEOUT, "It took longer than 60 s.")])
def test_what_is_written_comes_back(one: Record, tmp_path: Path) -> None:
    path = write_record(tmp_path / "new", one)
    assert path.name == f"{one.spec.key}.json"
    assert read_record(path) == one
    assert [path.name for path in (tmp_path / "new").iterdir()] == [path.name]


def test_the_first_record_of_a_run_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    write_record(tmp_path, record())
    path = write_record(tmp_path, record(chosen={"k": 19}))
    assert read_record(path).chosen == {"k": 18}
    write_record(tmp_path, record(chosen={"k": 19}), replace=True)
    assert read_record(path).chosen == {"k": 19}


def test_a_folder_is_read_by_key_and_what_is_no_record_is_named(tmp_path: Path) -> None:
    for fold in range(3):
        write_record(tmp_path / f"part{fold % 2}", record(spec=spec(fold=fold)))
    (tmp_path / "torn.json").write_text('{"schema": 1, "key"')
    (tmp_path / ".hidden.json").write_text("{")
    write_record(tmp_path / "part9", record(spec=spec(fold=0)))
    records, unreadable = read_records(tmp_path)
    assert sorted(one.spec.fold for one in records) == [0, 1, 2]
    assert [one.path.parent.name for one in unreadable if "repeats" in one.reason] == ["part9"]
    assert [one.path.name for one in unreadable if "torn" in one.reason] == ["torn.json"]


def test_what_is_no_regular_file_is_named_and_never_opened(tmp_path: Path) -> None:
    elsewhere = write_record(tmp_path / "elsewhere", record())
    folder = tmp_path / "records"
    own = write_record(folder, record(spec=spec(fold=1)))
    (folder / "link.json").symlink_to(elsewhere)
    (folder / "endless.json").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.json")
    records, unreadable = read_records(folder)
    assert [one.spec.key for one in records] == [own.stem]
    assert [one.path.name for one in unreadable] == ["endless.json", "link.json", "loop", "pipe.json"]
    assert all("only regular files are read" in one.reason for one in unreadable)


def changed(**changes: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(to_document(record()))), **changes}


def deep(levels: int) -> Any:
    return {"a": deep(levels - 1)} if levels else 1


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "no schema"),
        (changed(schema=2), "update pubench"),
        (changed(schema="1"), "no version"),
        (changed(key="0" * 32), "does not belong"),
        (changed(status="fine"), "status"),
        (changed(status="failed"), "reason"),
        (changed(extra=1), "extra"),
        (changed(metrics={"aul_pu": 1.5}), "aul_pu"),
        (changed(metrics={"aul_pu": 0.5, "<script>": 1.0}), "script"),
        (changed(placements=[0.5] * 100_001), "placements"),
        (changed(placements=["x"]), "placements"),
        (changed(seconds={"fit": -1}), "fit"),
        (changed(chosen=deep(20)), "deeply"),
        (changed(chosen={"x": "y" * 3000}), "chosen"),
        (changed(spec={**spec().to_json(), "dataset": "../../etc/passwd"}), "dataset"),
        (changed(spec={**spec().to_json(), "method": "<img src=x>"}), "method"),
        (changed(spec={**spec().to_json(), "fold": True}), "fold"),
        (changed(spec=[1]), "spec"),
        (changed(origins={"method": 1}), "origins"),
        (changed(spec={**spec().to_json(), "view": {"theta_o": None, "rows": 1e300}}), "rows"),
        (changed(spec={**spec().to_json(), "view": {"theta_o": None, "rows": 100.0}}), "rows"),
        (changed(spec={**spec().to_json(), "fold": 1.0}), "fold"),
        (changed(peak_memory_bytes=1e9), "peak_memory_bytes"),
    ],
)
def test_what_breaks_the_schema_is_refused_with_its_place(document: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        from_document(document)


def test_control_characters_do_not_get_through() -> None:
    document = to_document(Record(spec(), Status.FAILED, "It broke."))
    found = from_document({**document, "reason": "\x1b[2J It\n broke."})
    assert found.reason == "[2J It broke."


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(5 * 2**20)
    with pytest.raises(DataError, match="too large"):
        read_record(path)


def test_a_record_of_version_0_is_brought_up_to_date() -> None:
    found = read_record(OLD)
    assert found.spec.method == "probtagging"
    assert found.spec.tuning == {"trials": 4}
    assert found.metrics["aul_pu"] == pytest.approx(0.7819, abs=1e-4)
    assert found.data is None
    assert from_document(to_document(found)) == found


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(name=st.sampled_from(sorted(to_document(record()))), value=json_values)
def test_whatever_stands_in_a_field_is_read_or_refused(name: str, value: Any) -> None:
    with suppress(DataError):
        found = from_document(changed(**{name: value}))
        assert from_document(to_document(found)) == found
