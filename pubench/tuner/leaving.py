"""What a run leaves in its folder."""

import csv
import json
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pubench.atomic import replacing
from pubench.data.sources import Opened
from pubench.machine import cores
from pubench.reporting.gathering import gather, parameter_importances
from pubench.reporting.page import write_report
from pubench.reporting.report import Provenance, Subject
from pubench.saving.configuration import to_toml
from pubench.saving.models import Trained, save_model
from pubench.saving.versions import versions_of
from pubench.seeds import Seed
from pubench.tuner.orders import Tuned, TuneOrder
from pubench.tuning.outcome import TUNED
from pubench.tuning.run import study_name
from pubench.tuning.storage import own_study, shared_study
from pubench.tuning.study import Trial
from pubench.types import Json, Record, Resources, RunSpec, Status


def leave(tuned: Tuned, order: TuneOrder, opened: Opened, resources: Resources) -> None:
    """Write the model, the best configuration, all trials and the record into the run's folder."""
    out, found = tuned.out, tuned.found
    best = found.outcome.contenders[TUNED]
    inner = tuned.data.take(found.split.train)
    ids = None if opened.ids is None else opened.ids[found.split.train]
    seed = Seed(order.seed)
    trained = Trained.on(
        inner, best.fitted, best.configuration, seed, replace(resources, n_threads=cores()), ids=ids
    )
    save_model(out / "model", replace(trained, id_column=order.wanted.id), replace=True)
    with replacing(out / "best.toml") as temporary:
        temporary.write_text(to_toml(best.configuration, order.seed), encoding="utf-8")
    with replacing(out / "trials.csv") as temporary:
        write_trials(temporary, found.trials)
    _report(tuned, order, opened)
    with replacing(
        out / "record.json"
    ) as temporary:  # last, because its presence says that the run is finished
        temporary.write_text(
            json.dumps(_record(tuned, order, opened), indent=1, allow_nan=False), encoding="utf-8"
        )


def _report(tuned: Tuned, order: TuneOrder, opened: Opened) -> None:
    """Write the page about the run."""
    found, info = tuned.found, opened.info
    best = found.outcome.contenders[TUNED]
    subject = Subject(tuned.dataset)
    if info is not None:
        subject = Subject(tuned.dataset, info.title, info.stand_in, info.note, info.source)
    provenance = Provenance(
        day=datetime.now().astimezone().date(),
        command=order.command,
        versions=versions_of(best.configuration.parts.learner),
        machine=f"{platform.system()} {platform.machine()}, {cores()} cores",
        out=tuned.out,
        configuration=to_toml(best.configuration, order.seed),
    )
    report = gather(subject, provenance, tuned.data, found, _importances(tuned, order), tuned.notices)
    write_report(report, tuned.out / "report.html")


def _importances(tuned: Tuned, order: TuneOrder) -> dict[str, float]:
    if order.storage is not None:
        name = study_name(tuned.data.take(tuned.found.split.train))
        return parameter_importances(shared_study(order.storage, name))
    with own_study(tuned.out / "work") as study:
        return parameter_importances(study)


def write_trials(path: Path, trials: Sequence[Trial]) -> None:
    """Write a line per trial: how it ended, and every parameter that was searched."""
    params = sorted({name for trial in trials for name in trial.params})
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["number", "status", "aul_pu", "stopped_early", "seconds", "reason", *params])
        for trial in trials:
            writer.writerow(
                [
                    trial.number,
                    trial.status.value,
                    "" if trial.value is None else f"{trial.value:.6f}",
                    str(trial.stopped_early).lower(),
                    f"{trial.seconds:.2f}",
                    trial.reason,
                    *(trial.params.get(name, "") for name in params),
                ]
            )


def _record(tuned: Tuned, order: TuneOrder, opened: Opened) -> dict[str, Json]:
    """Return the run as a record for the leaderboard."""
    outcome = tuned.found.outcome
    best = outcome.contenders[TUNED]
    spec = RunSpec(
        dataset=tuned.dataset,
        view={"theta_o": order.theta_o, "rows": order.wanted.rows},
        method=f"tuned {best.configuration.method.name}",
        configuration=best.configuration.to_json(),
        fold=0,
        seed=order.seed,
    )
    metrics = {f"aul_pu.{name}": one.interval.estimate for name, one in outcome.contenders.items()}
    metrics |= {f"aul_pu.{name}.stderr": one.interval.stderr for name, one in outcome.contenders.items()}
    metrics |= {
        "trials": float(len(tuned.found.trials)),
        "inner_aul_pu": float(tuned.found.best.value or 0.0),
    }
    environment: dict[str, Json] = {
        "versions": dict(versions_of(best.configuration.parts.learner)),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "place": opened.place if opened.info is not None else "file",
        "timeline": {phase: round(seconds, 2) for phase, seconds in tuned.found.timeline.items()},
    }
    record = Record(spec, Status.OK, metrics=metrics, environment=environment)
    return {
        "spec": record.spec.to_json(),
        "key": record.spec.key,
        "status": record.status.value,
        "reason": record.reason,
        "metrics": dict(record.metrics),
        "environment": dict(record.environment),
    }
