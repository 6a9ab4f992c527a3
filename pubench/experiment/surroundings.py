"""Where a job runs: what records say about the machine."""

import platform
from functools import cache
from pathlib import Path

from pubench.machine import cores
from pubench.types import Json


@cache
def hardware() -> dict[str, Json]:
    """Return the machine's processor, cores and memory, looked up once."""
    import psutil  # noqa: PLC0415 - heavy imports happen when used

    return {
        "cpu": _cpu(),
        "cores": cores(),
        "memory_bytes": int(psutil.virtual_memory().total),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
