"""The files of a finished run: model, configuration, trials, report and record."""

import csv
import json
import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pubench.configuration.toml_file import to_toml
from pubench.data.sources import DatasetResult
from pubench.model.saved import Trained, save_model
from pubench.record.environment import versions_of
from pubench.record.record_file import to_document
from pubench.report.page import write_report
from pubench.report.values import Provenance, ReportSubject, make_report, parameter_importances
from pubench.seeds import Seed
from pubench.system.files import write_whole
from pubench.system.machine import cores
from pubench.tuning.request import TuneRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.run_folder import RunFolder
from pubench.tuning.run_records import RunRecords
from pubench.tuning.space import SearchSpace
from pubench.tuning.standings import write_leaderboard
from pubench.tuning.study_storage import open_study
from pubench.tuning.trial import Trial
from pubench.tuning.whom_to_call import n_unlabeled
from pubench.types import Resources


def write_choice(
    result: TuneResult, request: TuneRequest, dataset: DatasetResult, resources: Resources
) -> None:
    """Write the model and its configuration into the run's folder: after this, nothing changes the choice."""
    folder = RunFolder(result.out)
    _save_model(folder.model, result, request, dataset, resources)
    with write_whole(folder.configuration) as temporary:
        temporary.write_text(to_toml(result.shipped.configuration, request.search.seed), encoding="utf-8")


def write_output(
    result: TuneResult, request: TuneRequest, dataset: DatasetResult, space: SearchSpace
) -> None:
    """Write the leaderboard, the scored holdout, all trials, the report and the records into the run's folder."""
    folder = RunFolder(result.out)
    with write_whole(folder.leaderboard) as temporary:
        write_leaderboard(temporary, result.standings)
    with write_whole(folder.holdout) as temporary:
        write_holdout(temporary, result, dataset.ids, request.dataset.id or "id")
    with write_whole(folder.trials) as temporary:
        write_trials(temporary, result.trials)
    _write_report(folder, result, request, dataset)
    records = RunRecords(result, request, dataset, space)
    records.write(folder.records)
    # Last, because its presence says that the run is finished.
    with write_whole(folder.record) as temporary:
        document = to_document(records.model())
        temporary.write_text(json.dumps(document, indent=1, allow_nan=False), encoding="utf-8")


def _save_model(
    path: Path, result: TuneResult, request: TuneRequest, dataset: DatasetResult, resources: Resources
) -> None:
    shipped = result.shipped
    ids = None if dataset.ids is None else dataset.ids[shipped.rows]
    if ids is None and len(shipped.rows) < result.data.X.n_rows:
        ids = shipped.rows + 1  # the numbers of rows in the table, as if it had an id
    trained = Trained.on(
        shipped.data,
        shipped.fitted,
        shipped.configuration,
        Seed(request.search.seed),
        replace(resources, n_threads=cores()),
        ids=ids,
        own_scores=shipped.own_scores,
        hidden=result.hidden.scaled(n_unlabeled(shipped.data) / n_unlabeled(result.data)),
    )
    save_model(path, replace(trained, id_column=request.dataset.id), replace=True)


def _write_report(
    folder: RunFolder, result: TuneResult, request: TuneRequest, dataset: DatasetResult
) -> None:
    info, configuration = dataset.info, result.shipped.configuration
    named = request.dataset.name
    subject = ReportSubject(result.dataset, file=named if Path(named).is_file() else "")
    if info is not None:
        subject = ReportSubject(result.dataset, info.title, info.stand_in, info.note, info.source)
    provenance = Provenance(
        day=datetime.now().astimezone().date(),
        command=request.command,
        versions=versions_of(*configuration.trainers),
        machine=f"{_system()}, {cores()} cores",
        configuration=to_toml(configuration, request.search.seed),
    )
    inner = result.data.take(result.split.train)
    with open_study(request.search.storage, folder.work, inner, result.space) as study:
        parameters = parameter_importances(study)
    write_report(make_report(subject, provenance, result, parameters), folder.report)


def write_holdout(
    path: Path, result: TuneResult, ids: npt.NDArray[np.generic] | None, id_column: str
) -> None:
    """Write a line per row of the holdout as CSV: its id, or else its number from 0, its label, and the score of the twin."""
    rows = result.split.test
    names = rows if ids is None else ids[rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row" if ids is None else id_column, "label", "score"])
        labels, scores = result.data.s[rows].astype(int).tolist(), result.tuned.scores.tolist()
        writer.writerows(zip(names.tolist(), labels, scores, strict=True))


def write_trials(path: Path, trials: Sequence[Trial]) -> None:
    """Write one line per trial as CSV: how it ended, and every parameter that was searched."""
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


def _system() -> str:
    return f"{platform.system()} {platform.machine()}"
