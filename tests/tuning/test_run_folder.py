"""Which folder a run gets."""

import json
from pathlib import Path

import pytest

from pubench.api.plugin import Kind
from pubench.data.sources import DatasetRequest
from pubench.errors import DataError
from pubench.tuning.request import SearchRequest, TuneRequest
from pubench.tuning.run_folder import RunFolder, open_run_folder
from pubench.types import PUData


def request(out: Path | None, seed: int = 0, *, trials: int = 5, resume: bool = False) -> TuneRequest:
    names = {Kind.METHOD: ["naive"], Kind.LEARNER: []}
    search = SearchRequest(trials=trials, seed=seed)
    return TuneRequest(DatasetRequest("rows"), search, out=out, names=names, resume=resume)


def test_the_request_is_written_as_it_always_was(data: PUData, tmp_path: Path) -> None:
    folder = open_run_folder(request(tmp_path / "run"), "rows", data)
    document = json.loads(folder.request.read_text())
    assert list(document) == ["data", "names", "space", "plan", "holdout", "seed", "racing"]
    assert document["names"] == {"method": ["naive"]}
    assert document["space"] is None
    assert document["plan"] == {
        "folds": 5,
        "repeats": 1,
        "train_unlabeled": 30000,
        "test_per_labelled": 20,
        "test_unlabeled": 20000,
    }
    assert (document["holdout"], document["seed"], document["racing"]) == (0.25, 0, True)


def test_the_same_run_gets_its_folder_again_with_any_number_of_trials(data: PUData, tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = open_run_folder(request(out), "rows", data)
    assert open_run_folder(request(out, trials=9, resume=True), "rows", data) == first


@pytest.mark.parametrize("contents", ["another run", "a file"])
def test_a_folder_with_other_contents_is_refused(contents: str, data: PUData, tmp_path: Path) -> None:
    out = tmp_path / "run"
    if contents == "a file":
        out.mkdir()
        (out / "notes.txt").write_text("mine")
    else:
        open_run_folder(request(out, seed=1), "rows", data)
    with pytest.raises(DataError, match="something else than this run"):
        open_run_folder(request(out), "rows", data)


def test_only_a_run_can_be_resumed(data: PUData, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no run that could be resumed"):
        open_run_folder(request(tmp_path / "run", resume=True), "rows", data)


def test_without_a_folder_a_finished_run_gets_a_new_one(
    data: PUData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pubench.tuning.run_folder.runs_folder", lambda: tmp_path)
    first = open_run_folder(request(None), "rows.csv", data)
    assert first == RunFolder(tmp_path / "rows")
    assert open_run_folder(request(None), "rows.csv", data) == first  # it is unfinished
    first.record.write_text("{}")
    assert open_run_folder(request(None), "rows.csv", data) == RunFolder(tmp_path / "rows-2")
