"""What a run leaves in its folder."""

import csv
import json
import platform
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pubench.atomic import replacing
from pubench.data.sources import Opened
from pubench.keeping import content_key
from pubench.machine import cores
from pubench.metrics.ranks import share_below
from pubench.records.files import to_document
from pubench.records.record import DataFacts, Record, RunSpec
from pubench.reporting.gathering import gather, parameter_importances
from pubench.reporting.page import write_report
from pubench.reporting.report import Provenance, Subject
from pubench.saving.models import Trained, save_model
from pubench.saving.toml import to_toml
from pubench.saving.versions import versions_of
from pubench.seeds import Seed
from pubench.tuner.orders import Tuned, TuneOrder
from pubench.tuning.outcome import TUNED
from pubench.tuning.run import study_name
from pubench.tuning.storage import own_study, shared_study
from pubench.tuning.study import Trial
from pubench.types import Resources, Status


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
    # Last, because its presence says that the run is finished.
    with replacing(out / "record.json") as temporary:
        document = to_document(_record(tuned, order, opened))
        temporary.write_text(json.dumps(document, indent=1, allow_nan=False), encoding="utf-8")


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
        versions=versions_of(*best.configuration.trainers),
        machine=f"{platform.system()} {platform.machine()}, {cores()} cores",
        out=tuned.out,
        configuration=to_toml(best.configuration, order.seed),
    )
    report = gather(subject, provenance, tuned.data, found, _importances(tuned, order), tuned.notices)
    write_report(report, tuned.out / "report.html")


def _importances(tuned: Tuned, order: TuneOrder) -> dict[str, float]:
    if order.storage is not None:
        name = study_name(tuned.data.take(tuned.found.split.train))
        with shared_study(order.storage, name) as study:
            return parameter_importances(study)
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


def _record(tuned: Tuned, order: TuneOrder, opened: Opened) -> Record:
    """Return the run as a record for the leaderboard: its holdout is the fold."""
    found, data = tuned.found, tuned.data
    outcome = found.outcome
    best = outcome.contenders[TUNED]
    test = data.s[found.split.test]
    spec = RunSpec(
        dataset=_name(tuned.dataset),
        view={"theta_o": order.theta_o, "rows": order.wanted.rows, "holdout": order.holdout},
        method=best.configuration.method.name,
        configuration=best.configuration.tables(),  # of a blend its name; `chosen` has the parts
        fold=0,
        folds=1,
        seed=order.seed,
        tuning={"trials": len(found.trials), "seconds": order.seconds},
    )
    metrics = {"aul_pu": best.interval.estimate, "aul_pu_stderr": best.interval.stderr}
    metrics["inner_aul_pu"] = found.inner_value
    for name, one in outcome.contenders.items():
        if name != TUNED:
            metrics |= {f"{name}_aul_pu": one.interval.estimate, f"{name}_aul_pu_stderr": one.interval.stderr}
    facts = DataFacts(
        hash=content_key(data.X.values, data.s, [feature.name for feature in data.X.features]),
        rows=data.X.n_rows,
        features=data.X.n_features,
        train_rows=len(found.split.train),
        train_labelled=data.n_labelled - int(test.sum()),
        test_rows=len(test),
        test_labelled=int(test.sum()),
        stand_in=opened.info is not None and opened.info.stand_in,
    )
    return Record(
        spec,
        Status.OK,
        data=facts,
        metrics=metrics,
        placements=tuple(share_below(best.scores, best.scores[test]).tolist()),
        seconds={"fit": best.seconds, "total": max(found.timeline.values())},
        chosen={**best.fitted.chosen, "configuration": best.configuration.to_json()},
        origins={str(kind): origin for kind, origin in best.configuration.origins.items()},
        environment={
            "versions": dict(versions_of(*best.configuration.trainers)),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": cores(),
            "timeline": {phase: round(seconds, 2) for phase, seconds in found.timeline.items()},
        },
    )


def _name(dataset: str) -> str:
    """Return what a data set is called in records, where a file's name may hold letters that names there can not."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", dataset).strip("-._")[:64] or "data"
