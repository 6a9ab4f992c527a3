"""What is told about this machine."""

import pytest

from pubench.system.machine import waiting_variables


def test_threads_that_wait_leave_their_core_unless_a_person_decided_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    assert waiting_variables() == {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert waiting_variables() == {}
