"""The records of a run, one per contender: what was asked for identifies it, what was found stands in `chosen`.

So the records of runs on several tables belong together: the model of each run is one contender, whether it turned out to be a
blend or a single trial, and so is each method as tuned, and each at its defaults. A default or a baseline is recorded with its
configuration and without a search, as a job of a suite is; a tuned contender with the space and the budget.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pubench.api.dataset import Dataset
from pubench.configuration.configuration import Configuration
from pubench.data.labelling import DEFAULT_THETA_O
from pubench.data.sources import DatasetResult
from pubench.ensemble.blend import BlendMethod
from pubench.metrics.supervised import auc, aul_pn_score
from pubench.record.draft import RecordDraft, data_facts, rows_hash
from pubench.record.record import DataFacts, Record, RunSpec
from pubench.record.record_file import write_record
from pubench.system.machine import cores
from pubench.tuning.request import TuneRequest
from pubench.tuning.result import TuneResult
from pubench.tuning.space import SearchSpace
from pubench.tuning.standings import Entrant, Role
from pubench.types import Json, Status


@dataclass(frozen=True, eq=False)
class RunRecords:
    """What the records of a run are made of.

    Attributes:
        result: of the run.
        request: what was asked for.
        dataset: the data set; its truth, where it is known, gives figures that nothing was chosen by.
        space: of the search.
    """

    result: TuneResult
    request: TuneRequest
    dataset: DatasetResult
    space: SearchSpace

    def model(self) -> Record:
        """Return the record of the model, with the figures of the search and of what it was compared with."""
        result, data = self.result, self.result.data
        draft = self._draft(result.model, result.tuned.configuration)
        draft.metrics["inner_aul_pu"] = result.choice.value
        test_s = data.s[result.split.test]
        for entrant in result.others:
            if entrant.scores is not None and entrant.role in {Role.DEFAULT, Role.BASELINE}:
                name = "default" if entrant.role is Role.DEFAULT else entrant.method
                draft.add_scores(test_s, entrant.scores, prefix=f"{name}_")
        draft.seconds["total"] = max(result.timeline.values())
        timeline: Json = {phase: round(seconds, 2) for phase, seconds in result.timeline.items()}
        draft.environment |= {"cores": cores(), "timeline": timeline}
        return draft.record(self._model_spec())

    def contenders(self) -> Iterator[Record]:
        """Yield the record of each contender, that of the model first."""
        result = self.result
        yield self._draft(result.model, result.tuned.configuration).record(self._model_spec())
        if result.model.role is not Role.BLEND:  # it is also what it was found to be
            yield self._record(result.model, result.tuned.configuration)
        for entrant in result.others:
            yield self._record(entrant, entrant.configuration.as_trained(entrant.chosen))

    def write(self, folder: Path) -> None:
        """Write the records of all contenders into a folder; those of an earlier end of the same run are removed."""
        written: set[Path] = set()
        for record in self.contenders():
            written.add(
                write_record(folder, record, replace=record.spec.key not in {p.stem for p in written})
            )
        for path in set(folder.glob("*.json")) - written:
            path.unlink()

    def _record(self, entrant: Entrant, trained: Configuration) -> Record:
        reason = "" if entrant.status is Status.OK else entrant.reason
        return self._draft(entrant, trained).record(self._spec(entrant), entrant.status, reason)

    def _draft(self, entrant: Entrant, trained: Configuration) -> RecordDraft:
        draft = RecordDraft.begin(self.request.n_threads or cores())
        draft.data = self._facts
        draft.add_plugins(trained)
        draft.chosen = {**entrant.chosen, "configuration": trained.to_json()}
        if entrant.seconds is not None:
            draft.seconds = {"fit": entrant.seconds}
        if entrant.scores is not None:
            test = self.result.split.test
            draft.add_scores(self.result.data.s[test], entrant.scores)
            if (truth := self.dataset.dataset.truth) is not None:
                y = truth.y[test]
                draft.metrics |= {"auc": auc(y, entrant.scores), "aul": aul_pn_score(y, entrant.scores)}
        return draft

    @cached_property
    def _facts(self) -> DataFacts:
        data, split, info = self.result.data, self.result.split, self.dataset.info
        stand_in = info is not None and info.stand_in
        hash_of_rows = rows_hash(data.X, self.dataset.dataset.labels)
        return data_facts(data.X, hash_of_rows, data.s[split.train], data.s[split.test], stand_in=stand_in)

    # Specs: what was asked for.

    def _model_spec(self) -> RunSpec:
        tables = self.space.tables()
        if self.request.search.ensemble:
            tables["method"] = {**_table(tables["method"]), "name": BlendMethod.name}
        return self._searched(tables)

    def _spec(self, entrant: Entrant) -> RunSpec:
        if entrant.role is Role.TUNED:
            return self._searched(self.space.tables(entrant.method))
        # Defaults that are derived from the rows are no part of what was asked for, ranges that were given are.
        asked = self.space.baseline(entrant.method)
        if entrant.role is Role.DEFAULT and self.space.ranges:
            asked = self.space.configuration(self.space.default())
        return replace(self._searched(asked.tables()), tuning={})

    def _searched(self, configuration: Mapping[str, Json]) -> RunSpec:
        search = self.request.search
        budget: dict[str, Json] = {"trials": search.trials, "seconds": search.seconds}
        return RunSpec(
            dataset=_record_name(self.result.dataset),
            view={
                "theta_o": _theta_o(self.dataset.dataset, self.request.theta_o),
                "rows": self.request.dataset.rows,
                "holdout": search.holdout,
            },
            method=str(_table(configuration["method"])["name"]),
            configuration=configuration,
            fold=0,
            folds=1,
            seed=search.seed,
            tuning={name: value for name, value in budget.items() if value is not None},
        )


def _table(value: Json) -> dict[str, Json]:
    return dict(value) if isinstance(value, Mapping) else {}


def _theta_o(dataset: Dataset, asked: float | None) -> float | None:
    """Return the share of positives that was drawn as labelled; None where labels were observed."""
    if dataset.observed is not None:
        return None
    return DEFAULT_THETA_O if asked is None else asked


def _record_name(dataset: str) -> str:
    """Return the name of a data set in records; a file's name may contain characters that are not allowed there."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", dataset).strip("-._")[:64] or "data"
