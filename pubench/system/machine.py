"""Cores and memory of this machine, or of the container that the process runs in, and how threads share the cores."""

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
#: How often a thread of GNU's OpenMP (LightGBM, XGBoost, scikit-learn) looks for work before it sleeps; by itself 300,000 times.
_SPINS = "1000"


def cores() -> int:
    """Return the number of cores that this process may use, by its affinity and the quota of its container."""
    from joblib import cpu_count  # noqa: PLC0415 - heavy imports happen when used

    return int(cpu_count())


def memory_limit() -> int | None:
    """Return the memory limit of this container in bytes, if there is one."""
    return _number(_CGROUP / "memory.max")


def free_memory() -> int:
    """Return the number of bytes that this process can take before the machine swaps or its container kills it."""
    import psutil  # noqa: PLC0415

    free = int(psutil.virtual_memory().available)
    limit, used = memory_limit(), _number(_CGROUP / "memory.current")
    return free if limit is None or used is None else max(0, min(free, limit - used + _reclaimable()))


def waiting_variables() -> dict[str, str]:
    """Return environment variables by which threads of OpenMP that wait soon leave their core; none if a person has set one.

    Where other programs use the cores too, spinning threads keep away the very ones that they wait for: a training of LightGBM
    that takes 0.3 s on two idle cores took minutes (`benchmarks/busy_cores.py`).
    """
    is_set = not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}.isdisjoint(os.environ)
    # GNU's library goes by the number, others know the policy alone.
    return {} if is_set else {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": _SPINS}


def _reclaimable() -> int:
    """Return the bytes that the container counts as used and frees on demand: files that were read some time ago."""
    try:
        lines = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))


def _number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
