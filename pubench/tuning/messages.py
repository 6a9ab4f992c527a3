"""What a study and its worker processes say to each other: lines of JSON, and a folder with the data.

study -> worker   {"judge": SETTING, "trial": NUMBER}          {"go_on": true}
worker -> study   {"progress": SHARE}   {"fold": NUMBER, "placements": [...]}   {"done": CHOSEN}   {"failed": ...}
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pubench.json_files import read_json, write_json
from pubench.tuning.inner import Plan
from pubench.types import Device, Feature, PUData, Table


@dataclass(frozen=True, eq=False)
class Job:
    """All that a worker needs to know before the first trial.

    Attributes:
        data: the rows that the study sees.
        plan: how configurations are compared.
        seed: root of the study's seed.
        n_threads: that a worker may use.
        device: for learners that have a choice.
    """

    data: PUData
    plan: Plan
    seed: int
    n_threads: int
    device: Device


def write_job(job: Job, folder: Path) -> None:
    """Write a job into `folder`, which exists."""
    np.save(folder / "values.npy", job.data.X.values, allow_pickle=False)
    np.save(folder / "labelled.npy", job.data.s, allow_pickle=False)
    write_json(
        folder / "job.json",
        {
            "features": [asdict(feature) for feature in job.data.X.features],
            "plan": asdict(job.plan),
            "seed": job.seed,
            "n_threads": job.n_threads,
            "device": job.device,
        },
    )


def read_job(folder: Path) -> Job:
    """Return the job in `folder`; the rows stay on disk and are shared by all processes that read them."""
    written = read_json(folder / "job.json")
    features = tuple(
        Feature(feature["name"], feature["kind"], tuple(feature["categories"]))
        for feature in written["features"]
    )
    values = np.load(folder / "values.npy", mmap_mode="r", allow_pickle=False)
    labelled = np.load(folder / "labelled.npy", allow_pickle=False)
    return Job(
        PUData(Table(values, features), labelled),
        Plan(**written["plan"]),
        written["seed"],
        written["n_threads"],
        written["device"],
    )


def to_line(message: dict[str, Any]) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, allow_nan=False).encode() + b"\n"
