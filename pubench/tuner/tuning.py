"""A whole `pubench tune`."""

import sys
import threading
import time
from dataclasses import replace

from pubench.data.sources import open_dataset
from pubench.fitting import pu_data
from pubench.machine import cores
from pubench.registry import Registry
from pubench.seeds import Seed
from pubench.tuner.choosing import choose_device, choose_space, control
from pubench.tuner.folders import choose_folder
from pubench.tuner.leaving import leave
from pubench.tuner.orders import Tuned, TuneOrder
from pubench.tuning.racing import Race
from pubench.tuning.run import Place, Run, Watcher, Wishes
from pubench.tuning.workers import Limits
from pubench.types import Resources

_WORKER = "pubench.cli.tuning_worker"


def tune(
    order: TuneOrder, registry: Registry, resources: Resources, watcher: Watcher, stop: threading.Event
) -> Tuned:
    """Tune as ordered and leave the results in the folder; what can be wrong with the order is said first.

    Args:
        order: what to do.
        registry: where plugins are found.
        resources: the cache; threads and device come from the order.
        watcher: is told what happens.
        stop: set by a person who wants to end the search with what there is.
    """
    started = time.monotonic()
    opened = open_dataset(replace(order.wanted, seed=order.seed), registry)
    data, said = pu_data(opened.dataset, order.theta_o, Seed(order.seed))
    space, narrowing = choose_space(order, registry, data)
    device, why = choose_device(order, space)
    out = choose_folder(order, opened, data)
    controls = {name: control(name, space, registry) for name in ("naive", "bagging")}
    wishes = Wishes(
        trials=order.trials,
        seconds=order.seconds,
        started=started,
        plan=order.plan,
        holdout=order.holdout,
        race=Race() if order.racing else Race(0.0),
        workers=order.workers,
        memory_bytes=order.memory_bytes,
        seed=order.seed,
        storage=order.storage,
        controls=controls,
        ensemble=order.ensemble,
    )
    command = [sys.executable, "-m", _WORKER]
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    place = Place(work, command, Limits(stop=stop), tuple(map(str, order.plugin_files)))
    run = Run(
        data,
        space,
        wishes,
        place,
        replace(resources, device=device, n_threads=order.n_threads or cores()),
        watcher,
    )
    found = run.tune()
    tuned = Tuned(
        out, opened.name, data, found, (*opened.notices, *said, *narrowing, *([why] if why else []))
    )
    leave(tuned, order, opened, resources)
    return tuned
