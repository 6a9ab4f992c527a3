"""What a runner and the server of its jobs say to each other: lines of JSON, and a folder per job.

runner -> server   {"spec": ..., "folder": ..., "seconds": ..., "memory_bytes": ...}
server -> runner   {"code": ..., "broken": ..., "peak_bytes": ..., "seconds": ...}

One job at a time. A job leaves its record and what it printed in its folder.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pubench.experiment.limits import Limits
from pubench.records.record import RunSpec

RECORD = "record.json"
LOG = "log.txt"
#: Exit code of a job that is done and can not hand over its record, as after sysexits.h: input/output error.
NO_ROOM = 74


@dataclass(frozen=True)
class Order:
    """A job as it is handed to a server."""

    spec: RunSpec
    folder: Path
    limits: Limits

    def to_line(self) -> bytes:
        """Return it as a line."""
        limits = asdict(self.limits)
        message = {"spec": self.spec.to_json(), "folder": str(self.folder), **limits}
        return json.dumps(message, allow_nan=False).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> "Order":
        """Read it back."""
        found: dict[str, Any] = json.loads(line)
        limits = Limits(found["seconds"], found["memory_bytes"])
        return cls(RunSpec(**found["spec"]), Path(found["folder"]), limits)
