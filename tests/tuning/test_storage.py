"""Where studies are kept."""

from pathlib import Path

import pytest

from pubench.errors import DataError, PubenchError
from pubench.tuning.storage import masked, own_study, shared_study


def test_a_study_is_there_again(tmp_path: Path) -> None:
    with own_study(tmp_path) as study:
        trial = study.ask()
        study.tell(trial, 0.5)
    with own_study(tmp_path) as study:
        assert [trial.value for trial in study.trials] == [0.5]


@pytest.mark.parametrize("torn", [b'{"op_code": 4, "worker', b"\x00\x00\x00", b"{"])
def test_a_torn_journal_loses_its_torn_line_alone(tmp_path: Path, torn: bytes) -> None:
    with own_study(tmp_path) as study:
        for value in (0.1, 0.2):
            study.tell(study.ask(), value)
    with (tmp_path / "journal.log").open("ab") as file:
        file.write(torn)
    for _ in range(2):
        with own_study(tmp_path) as study:
            study.tell(study.ask(), 0.3)
    with own_study(tmp_path) as study:
        assert [trial.value for trial in study.trials] == [0.1, 0.2, 0.3, 0.3]


def test_a_lock_left_by_a_dead_process_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "journal.log.lock").symlink_to("nowhere")
    with own_study(tmp_path) as study:
        study.tell(study.ask(), 0.1)


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with own_study(tmp_path), pytest.raises(DataError, match="Another process"), own_study(tmp_path):
        pass


def test_passwords_are_not_shown() -> None:
    url = "postgresql+psycopg://me:secret@127.0.0.1:1/none"
    assert "secret" not in masked(url)
    assert "secret" not in masked("nonsense secret")
    with pytest.raises(PubenchError) as caught, shared_study(url, "x"):
        pass
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
