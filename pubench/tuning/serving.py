"""The worker's side: judges one configuration after another for a study, and keeps what they share."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pubench.errors import NotApplicableError, one_line
from pubench.saving.configuration import configure, names_in
from pubench.seeds import Seed
from pubench.tuning.inner import inner_folds
from pubench.tuning.judging import judge
from pubench.tuning.messages import read_job, to_line
from pubench.tuning.sharing import Memory
from pubench.types import Keep, Resources, Status

if TYPE_CHECKING:
    from pubench.registry import Registry

#: Progress is told at most so often.
_SECONDS = 0.2


def serve(folder: Path, registry: "Registry", keep: Keep, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """Judge what `incoming` asks for until it ends; out-of-fold scores are left in `folder`, a file per trial."""
    job = read_job(folder)
    seed = Seed(job.seed).child("study")
    memory = Memory(job.data, inner_folds(job.data.s, job.plan, seed), seed)

    def tell(**message: Any) -> None:
        outgoing.write(to_line(message))
        outgoing.flush()

    resources = Resources(job.n_threads, job.device, keep, _throttled(lambda share: tell(progress=share)))
    for line in incoming:
        asked = json.loads(line)
        try:
            configuration = configure(names_in(asked["judge"], "a trial"), registry)
            results = judge(configuration, memory, seed, resources)
            scores = []
            for result in results:
                scores.append(result.scores)
                tell(fold=result.fold, placements=[round(float(p), 7) for p in result.placements])
                if not _goes_on(incoming):
                    break
            else:
                with (folder / f"scores-{asked['trial']}.npy").open("wb") as file:
                    np.save(file, np.concatenate(scores).astype(np.float32), allow_pickle=False)
            tell(done=True)
        except NotApplicableError as error:
            tell(failed=str(error), status=Status.NOT_APPLICABLE)
        except MemoryError as error:
            tell(failed=f"Out of memory: {one_line(str(error))}", status=Status.OUT_OF_MEMORY)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the study goes on
            tell(failed=f"{type(error).__name__}: {one_line(str(error))}", status=Status.FAILED)


def _goes_on(incoming: Iterator[bytes]) -> bool:
    return bool(json.loads(next(incoming))["go_on"])


def _throttled(tell: Callable[[float], None]) -> Callable[[float], None]:
    last = 0.0

    def progress(share: float) -> None:
        nonlocal last
        if time.monotonic() - last > _SECONDS:
            last = time.monotonic()
            tell(share)

    return progress
