"""The folder of a run: its files, and which folder a run gets, a new one or that of the same run, unfinished."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from pubench.errors import DataError
from pubench.system.files import make_folder, write_whole
from pubench.system.fingerprint import content_key
from pubench.system.json_documents import read_json
from pubench.system.paths import runs_folder
from pubench.tuning.request import TuneRequest
from pubench.tuning.space import read_space
from pubench.types import Json, PUData


@dataclass(frozen=True)
class RunFolder:
    """The files of a run.

    Attributes:
        path: the folder.
    """

    path: Path

    @property
    def request(self) -> Path:
        """What decides the trials of the run, as JSON."""
        return self.path / "request.json"

    @property
    def work(self) -> Path:
        """The folder of the search: the journal, the context and scores of trials, and the logs of workers."""
        return self.path / "work"

    @property
    def model(self) -> Path:
        """The folder of the tuned model."""
        return self.path / "model"

    @property
    def configuration(self) -> Path:
        """The configuration of the tuned model, as TOML."""
        return self.path / "best.toml"

    @property
    def trials(self) -> Path:
        """All trials, as CSV."""
        return self.path / "trials.csv"

    @property
    def leaderboard(self) -> Path:
        """All contenders on the holdout, as CSV."""
        return self.path / "leaderboard.csv"

    @property
    def holdout(self) -> Path:
        """The holdout with the scores of the model's twin, as CSV."""
        return self.path / "holdout.csv"

    @property
    def report(self) -> Path:
        """The page about the run."""
        return self.path / "report.html"

    @property
    def records(self) -> Path:
        """The folder of the records of all contenders, for a leaderboard of several runs."""
        return self.path / "records"

    @property
    def record(self) -> Path:
        """The run as a record; it is written last, so its presence says that the run is finished."""
        return self.path / "record.json"

    def begin(self, request: Mapping[str, Json]) -> "RunFolder":
        """Create the folder, write the request into it, and return it."""
        make_folder(self.path)
        with write_whole(self.request) as temporary:
            temporary.write_text(json.dumps(request, indent=1), encoding="utf-8")
        return self

    def state(self, request: Mapping[str, Json]) -> str:
        """Return `free`, `unfinished` or `finished`, the last two for the same run; or `other` for other contents."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return "free"
        try:
            is_same = read_json(self.request) == json.loads(json.dumps(request))
        except DataError:
            return "other"
        if not is_same:
            return "other"
        return "finished" if self.record.exists() else "unfinished"


def open_run_folder(request: TuneRequest, dataset: str, data: PUData) -> RunFolder:
    """Return the folder of a run, with its request written: a new one, or that of the same run, unfinished.

    Args:
        request: of the run.
        dataset: name of the data set; it names the folder, unless the request does.
        data: its rows.

    Raises:
        DataError: the requested folder contains something else, or nothing that could be resumed.
    """
    document = _request_document(request, data)
    if request.out is None:
        folders = (RunFolder(path) for path in _candidates(Path(dataset).stem))
        return next(f for f in folders if f.state(document) in {"free", "unfinished"}).begin(document)
    folder = RunFolder(request.out)
    state = folder.state(document)
    if state == "other":
        raise DataError(f"{request.out} contains something else than this run; choose another --out.")
    if request.resume and state == "free":
        raise DataError(f"{request.out} contains no run that could be resumed; omit --resume to start one.")
    return folder.begin(document)


def _candidates(name: str) -> Iterator[Path]:
    yield runs_folder() / name
    yield from (runs_folder() / f"{name}-{number}" for number in count(2))


def _request_document(request: TuneRequest, data: PUData) -> dict[str, Json]:
    """Return what makes two runs the same: all that decides the trials, but not their number."""
    search = request.search
    space = None if request.space is None else read_space(request.space)
    return {
        "data": content_key(data.X.values, data.s, [feature.name for feature in data.X.features]),
        "names": {kind.value: list(names) for kind, names in request.names.items() if names},
        "space": None if space is None else json.loads(json.dumps(space, default=str)),
        "plan": asdict(search.plan),
        "holdout": search.holdout,
        "seed": search.seed,
        "racing": search.racing,
    }
