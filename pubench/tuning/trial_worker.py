"""A worker that judges trials in a process of its own; both sides of it, the study's and the worker's.

    study -> worker   {"judge": CONFIGURATION, "trial": NUMBER}   {"go_on": true}
                      {"train": CONFIGURATION, "file": NAME, "n_threads": NUMBER, "seconds": LIMIT}
    worker -> study   {"progress": SHARE}   {"fold": NUMBER, "placements": [...]}   {"done": true}   {"failed": REASON, "status": ...}
                      {"done": true, "seconds": SECONDS, "chosen": {...}, "is_late": ...}

The context of all trials lies in a folder that the study writes once. Workers write the out-of-fold scores of each complete
trial there. A worker also trains a configuration on all rows of the folder, and writes its scores of the holdout.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pubench.configuration.configuration import Configuration, configure, parse_plugins
from pubench.crossfit.cross_fit import cross_fit
from pubench.crossfit.fold_cache import FoldCache
from pubench.crossfit.folds import FoldPlan, inner_folds
from pubench.errors import NotApplicableError, one_line
from pubench.seeds import Seed
from pubench.system.cache import machine_cache
from pubench.system.files import write_whole
from pubench.system.json_documents import read_json, write_json
from pubench.tuning.trial import scores_file
from pubench.types import Device, Feature, FloatVector, Json, PUData, Resources, Status, Table
from pubench.workers.channel import Channel
from pubench.workers.limits import Deadline, Limits
from pubench.workers.watch import JobFailedError
from pubench.workers.worker import Worker, WorkerCommand

if TYPE_CHECKING:
    from pubench.api.registry import Registry

#: What runs in a worker: it finds the plugins and calls `serve`; see `pubench.tuning.command.run_trial_worker`.
WorkerTarget: TypeAlias = Callable[..., None]

#: The features of the holdout, without its labels, for models that a worker trains.
_HOLDOUT = "holdout.npy"
#: An ensemble ends by itself after this share of its time limit, so that its rows can be scored.
_TRAINING_SHARE = 0.7
#: Progress is sent at most once in this time, in seconds.
_PROGRESS_SECONDS = 0.2


@dataclass(frozen=True, eq=False)
class TrialContext:
    """What a worker needs before its first trial.

    Attributes:
        data: the rows that the study sees.
        plan: how configurations are compared.
        seed: root of the study's seed.
        n_threads: of a worker.
        device: for learners that have a choice.
    """

    data: PUData
    plan: FoldPlan
    seed: int
    n_threads: int
    device: Device

    def write(self, folder: Path, holdout: Table | None = None) -> None:
        """Write the context into a folder that exists, and the features of a holdout for models that are trained there.

        Raises:
            DataError: it cannot be written.
        """
        arrays = {"values.npy": self.data.X.values, "labelled.npy": self.data.s}
        if holdout is not None:
            arrays[_HOLDOUT] = holdout.values
        for name, array in arrays.items():
            with write_whole(folder / name) as temporary:
                np.save(temporary, array, allow_pickle=False)
        job: dict[str, Json] = {
            "features": [asdict(feature) for feature in self.data.X.features],
            "plan": asdict(self.plan),
            "seed": self.seed,
            "n_threads": self.n_threads,
            "device": self.device,
        }
        with write_whole(folder / "job.json") as temporary:
            write_json(temporary, job)

    @classmethod
    def read(cls, folder: Path) -> "TrialContext":
        """Return the context in a folder; the rows stay on disk and are shared by all processes that read them."""
        document = read_json(folder / "job.json")
        features = tuple(
            Feature(feature["name"], feature["kind"], tuple(feature["categories"]))
            for feature in document["features"]
        )
        values = np.load(folder / "values.npy", mmap_mode="r", allow_pickle=False)
        labelled = np.load(folder / "labelled.npy", allow_pickle=False)
        return cls(
            PUData(Table(values, features), labelled),
            FoldPlan(**document["plan"]),
            document["seed"],
            document["n_threads"],
            document["device"],
        )


@dataclass(frozen=True, eq=False)
class TrainedScores:
    """What a worker found with a configuration that it trained on all rows of its folder.

    Attributes:
        scores: of the rows of the holdout.
        seconds: time that training took.
        chosen: what fitting decided.
        is_late: it was still training when its time was over, so it may have been cut short.
    """

    scores: FloatVector
    seconds: float
    chosen: Mapping[str, Json]
    is_late: bool


class TrialWorker:
    """The study's side: judges one configuration at a time in a process, which is started again after it has ended.

    Args:
        target: runs in the process, with a channel, the folder and the plugin files.
        folder: holds the context, and takes scores and the log.
        plugin_files: single-file plugins that the process loads.
        number: of the worker, for the name of its log.
    """

    def __init__(
        self, target: WorkerTarget, folder: Path, plugin_files: Sequence[str] = (), number: int = 0
    ) -> None:
        command = WorkerCommand(target, (str(folder), *plugin_files))
        self._folder = folder
        self._worker = Worker(command, log=folder / f"worker-{number}.log")

    def judge(
        self,
        configuration: Configuration,
        trial: int,
        go_on: Callable[[int, FloatVector], bool],
        limits: Limits,
        deadline: Deadline,
        progress: Callable[[float], None],
    ) -> bool:
        """Judge a configuration and return whether all folds were done.

        Args:
            configuration: to judge.
            trial: its number, for the name of its file of scores.
            go_on: takes the number of a fold and the placements there, and returns whether to go on.
            limits: of this trial.
            deadline: of the search.
            progress: takes the share that is done.

        Raises:
            JobFailedError: it crashed, exceeded a limit of its own, or cannot be applied.
            StoppedError: the deadline has passed.
        """
        worker, complete = self._worker, True
        worker.begin({"judge": configuration.to_json(), "trial": trial}, limits, deadline)
        while True:
            message = worker.receive()
            if "progress" in message:
                progress(float(message["progress"]))
            elif "fold" in message:
                complete = go_on(int(message["fold"]), np.array(message["placements"], dtype=np.float64))
                worker.send({"go_on": complete})
            elif "failed" in message:
                raise JobFailedError(Status(message["status"]), str(message["failed"]))
            else:
                return complete

    def train(
        self,
        configuration: Configuration,
        n_threads: int,
        limits: Limits,
        deadline: Deadline,
        progress: Callable[[float], None],
    ) -> TrainedScores:
        """Train a configuration on all rows of the folder, and return the scores of its holdout; see `judge`."""
        file, worker = "trained.npy", self._worker
        document = {"train": configuration.to_json(), "file": file, "n_threads": n_threads}
        worker.begin({**document, "seconds": limits.to_json()["seconds"]}, limits, deadline)
        while "done" not in (message := worker.receive()):
            if "failed" in message:
                raise JobFailedError(Status(message["status"]), str(message["failed"]))
            progress(float(message["progress"]))
        scores = np.load(self._folder / file, allow_pickle=False)
        return TrainedScores(scores, float(message["seconds"]), message["chosen"], message["is_late"])

    def stop(self) -> None:
        """End the process, whatever it is doing; the next trial starts another."""
        self._worker.stop()


def serve(channel: Channel, folder: Path, registry: "Registry") -> None:
    """The worker's side: judge what the study sends until it closes the channel."""
    channel.die_with_host()
    context = TrialContext.read(folder)
    seed = Seed(context.seed).child("study")
    cache = FoldCache(context.data, inner_folds(context.data.s, context.plan, seed), seed)
    progress = _throttled(lambda share: channel.send({"progress": share}))
    resources = Resources(context.n_threads, context.device, machine_cache(_print_notice), progress)
    all_rows = _AllRows(context, folder, FoldCache(context.data, cache.folds, seed, for_all=True))
    while (request := channel.receive()) is not None:
        try:
            if "train" in request:
                configuration = configure(parse_plugins(request["train"], "a contender"), registry)
                channel.send({"done": True, **all_rows.train(configuration, request, seed, resources)})
                continue
            configuration = configure(parse_plugins(request["judge"], "a trial"), registry)
            scores = _judge(channel, configuration, cache, seed, resources)
            if scores is not None:
                with scores_file(folder, request["trial"]).open("wb") as file:
                    np.save(file, scores.astype(np.float32), allow_pickle=False)
            channel.send({"done": True})
        except NotApplicableError as error:
            channel.send({"failed": str(error), "status": Status.NOT_APPLICABLE})
        except MemoryError as error:
            reason = f"Out of memory: {one_line(str(error))}"
            channel.send({"failed": reason, "status": Status.OUT_OF_MEMORY})
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the study goes on
            reason = f"{type(error).__name__}: {one_line(str(error))}"
            channel.send({"failed": reason, "status": Status.FAILED})


def _judge(
    channel: Channel, configuration: Configuration, cache: FoldCache, seed: Seed, resources: Resources
) -> FloatVector | None:
    """Send the placements of each fold, and return the scores of all folds; None if the study stops the trial early."""
    scores = []
    for result in cross_fit(configuration.method, configuration.parts, cache, seed, resources):
        scores.append(result.scores)
        placements = [round(float(placement), 7) for placement in result.placements]
        channel.send({"fold": result.fold, "placements": placements})
        answer: dict[str, Any] = channel.receive() or {"go_on": False}
        if not answer["go_on"]:
            return None
    return np.concatenate(scores)


@dataclass(frozen=True, eq=False)
class _AllRows:
    """All rows of a folder, on which models are trained that then score the holdout."""

    context: TrialContext
    folder: Path
    cache: FoldCache

    def train(
        self, configuration: Configuration, request: Mapping[str, Any], seed: Seed, resources: Resources
    ) -> dict[str, Json]:
        """Train a configuration, write the scores of the holdout, and return what is sent of it."""
        limit = request["seconds"]
        until = float("inf") if limit is None else time.monotonic() + _TRAINING_SHARE * limit
        resources = replace(resources, n_threads=request["n_threads"], until=until)
        parts = self.cache.parts(0, configuration.parts)
        started = time.perf_counter()
        fitted = configuration.method.fit(self.cache.training[0], parts, seed.child("final"), resources)
        seconds, is_late = time.perf_counter() - started, time.monotonic() >= until
        values = np.load(self.folder / _HOLDOUT, mmap_mode="r", allow_pickle=False)
        scores = fitted.score(Table(values, self.context.data.X.features), resources).values
        np.save(self.folder / request["file"], scores, allow_pickle=False)
        return {"seconds": seconds, "chosen": dict(fitted.chosen), "is_late": is_late}


def _throttled(send: Callable[[float], None]) -> Callable[[float], None]:
    last = 0.0

    def progress(share: float) -> None:
        nonlocal last
        if time.monotonic() - last > _PROGRESS_SECONDS:
            last = time.monotonic()
            send(share)

    return progress


def _print_notice(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()
