"""The folder of a run: a new one, or the one of the same run, to go on."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from pubench.atomic import replacing
from pubench.data.sources import Opened
from pubench.errors import DataError
from pubench.json_files import read_json
from pubench.keeping import content_key
from pubench.paths import runs_folder
from pubench.tuner.choosing import read_space
from pubench.tuner.orders import TuneOrder
from pubench.types import Json, PUData


def choose_folder(order: TuneOrder, opened: Opened, data: PUData) -> Path:
    """Return the run's folder: a new one, or one that holds the same run, unfinished."""
    request = _request(order, data)
    if order.out is not None:
        state = _state(order.out, request)
        if state == "other":
            raise DataError(f"{order.out} holds something else than this run; choose another --out.")
        if order.resume and state == "free":
            raise DataError(
                f"{order.out} holds no run that could be resumed; leave --resume out to begin one."
            )
        return _begin(order.out, request)
    number = 1
    while True:
        name = Path(opened.name).stem if number == 1 else f"{Path(opened.name).stem}-{number}"
        state = _state(runs_folder() / name, request)
        if state in {"free", "unfinished"}:
            return _begin(runs_folder() / name, request)
        number += 1


def _state(folder: Path, request: Mapping[str, Json]) -> str:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return "free"
    try:
        same = read_json(folder / "request.json") == json.loads(json.dumps(request))
    except DataError:
        return "other"
    if not same:
        return "other"
    return "finished" if (folder / "record.json").exists() else "unfinished"


def _begin(folder: Path, request: Mapping[str, Json]) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} can not be made: {error.strerror or error}.") from error
    with replacing(folder / "request.json") as temporary:
        temporary.write_text(json.dumps(request, indent=1), encoding="utf-8")
    return folder


def _request(order: TuneOrder, data: PUData) -> dict[str, Json]:
    """Return what makes two runs the same one: all that decides trials, and not how many there are."""
    return {
        "data": content_key(data.X.values, data.s, [feature.name for feature in data.X.features]),
        "names": {kind.value: list(names) for kind, names in order.names.items() if names},
        "space": None
        if order.space is None
        else json.loads(json.dumps(read_space(order.space), default=str)),
        "plan": asdict(order.plan),
        "holdout": order.holdout,
        "seed": order.seed,
        "racing": order.racing,
    }
