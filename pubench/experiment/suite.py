"""What a suite file states, read and checked: data sets, methods, how they are judged, and what the paper found.

    [limits]
    minutes = 60
    memory_gib = 8

    [[jobs]]
    datasets = ["creditcard"]
    methods = ["probtagging", "naive"]
    theta_o = [0.5]
    folds = 3

    [jobs.parameters.method.probtagging]
    members = 50

`docs/benchmarks.md` describes every key. What is not known is refused: a misspelled key would be a wrong experiment.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pubench.errors import DataError, one_line, suggestion
from pubench.plugin_api import Kind
from pubench.saving.configuration import DEFAULTS, KINDS

#: As data sets and methods are called in records.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_METRICS = ("aul_pu", "auc", "aul")
_FIGURES = ("sweep", "expected-positives")

#: Kind of plugin -> name -> parameters.
Parameters = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class SuiteLimits:
    """What a job may use, where the command line does not say else.

    Attributes:
        minutes: wall clock; None: an hour.
        memory_gib: of the job's processes; None: its share of what is free.
    """

    minutes: float | None = None
    memory_gib: float | None = None


@dataclass(frozen=True)
class Jobs:
    """A block of jobs: every combination of what it lists.

    Attributes:
        datasets: names, of registered data sets or of yours.
        methods: names; those of plugins that are not there fail.
        optional_methods: names; those of plugins that are not there are left out.
        similarities, learners: names, for the methods that use one.
        theta_o: shares of positives to label; empty where labels were observed.
        labelling: further traits of the labelling: mechanism, direction, feature, sampling.
        rows: draw about so many; None: all.
        folds: number of folds, all of which are run.
        seeds: each decides folds, labels and training.
        trials: tune each method on the training fold with so many; None: take the parameters as they are.
        parameters: of plugins; with `trials`, ranges within which to search.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    optional_methods: tuple[str, ...] = ()
    similarities: tuple[str, ...] = (DEFAULTS[Kind.SIMILARITY],)
    learners: tuple[str, ...] = (DEFAULTS[Kind.LEARNER],)
    theta_o: tuple[float, ...] = ()
    labelling: Mapping[str, str] = field(default_factory=dict)
    rows: int | None = None
    folds: int = 3
    seeds: tuple[int, ...] = (0,)
    trials: int | None = None
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure to draw from the records.

    Attributes:
        name: of its files.
        kind: "sweep": a metric of each method over 1 - theta_O. "expected-positives": E_k on a training fold.
        dataset: which.
        metric: of a sweep.
        title: above it.
    """

    name: str
    kind: str
    dataset: str
    metric: str = "auc"
    title: str = ""


@dataclass(frozen=True)
class Suite:
    """A suite, checked.

    Attributes:
        name: the file's, without its suffix.
        title: one line.
        note: what a reader of its results has to know, on one line; may be empty.
        limits: of each job.
        missing_data: "skip" leaves data sets out that are not here; with "fail" their jobs fail.
        metrics: columns of the tables.
        jobs: blocks of jobs.
        figures: to draw.
        paper: data set -> method -> metric -> the figure in the paper.
        text: the file as it is.
    """

    name: str
    title: str
    jobs: tuple[Jobs, ...]
    note: str = ""
    limits: SuiteLimits = field(default_factory=SuiteLimits)
    missing_data: str = "fail"
    metrics: tuple[str, ...] = _METRICS
    figures: tuple[Figure, ...] = ()
    paper: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    text: str = ""


def read_suite(path: Path) -> Suite:
    """Return the suite in a file.

    Raises:
        DataError: it can not be read, or something in it is not known or not as it must be.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        raise DataError(f"{path} can not be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no TOML: {error}.") from error
    reader = _Reader(str(path))
    name = reader.name(path.stem, "the name of the file")
    return reader.suite(document, name, text)


class _Reader:
    """Turns tables of TOML into checked values; every complaint names the file."""

    def __init__(self, place: str) -> None:
        self._place = place

    def suite(self, document: Mapping[str, Any], name: str, text: str) -> Suite:
        self._known(document, {f.name for f in fields(Suite)} - {"name", "text"}, "the suite")
        blocks = document.get("jobs")
        if not isinstance(blocks, list) or not blocks:
            raise self._wrong("It needs at least one block [[jobs]]")
        return Suite(
            name=name,
            title=one_line(self._text(document, "title", name)),
            note=one_line(self._text(document, "note")),
            limits=self._limits(self._table(document, "limits")),
            missing_data=self._one_of(document, "missing_data", ("fail", "skip"), "fail"),
            metrics=self._metrics(document),
            jobs=tuple(self._jobs(self._as_table(block, "jobs")) for block in blocks),
            figures=tuple(
                self._figure(self._as_table(one, "figures")) for one in document.get("figures", ())
            ),
            paper=self._paper(self._table(document, "paper")),
            text=text,
        )

    def name(self, value: object, what: str) -> str:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise self._wrong(f"{value!r} ({what}) is no name; use letters, digits, - _ and .")
        return value

    def _wrong(self, sentence: str) -> DataError:
        return DataError(f"{self._place} is no suite: {sentence}.")

    def _known(self, table: Mapping[str, Any], known: set[str], where: str) -> None:
        for key in table:
            if key not in known:
                hint = suggestion(key, known)
                raise self._wrong(
                    f"{where} has no key '{key}'; it has {', '.join(sorted(known))}.{hint}".rstrip(".")
                )

    def _as_table(self, value: object, key: str) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise self._wrong(f"'{key}' must be a table")
        return value

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        return self._as_table(table.get(key, {}), key)

    def _text(self, table: Mapping[str, Any], key: str, default: str = "") -> str:
        value = table.get(key, default)
        if not isinstance(value, str):
            raise self._wrong(f"'{key}' must be a text")
        return value

    def _one_of(self, table: Mapping[str, Any], key: str, known: Sequence[str], default: str) -> str:
        value = table.get(key, default)
        if value not in known:
            raise self._wrong(f"'{key}' is one of {', '.join(known)}; got {value!r}")
        return str(value)

    def _list(self, table: Mapping[str, Any], key: str) -> list[Any]:
        value = table.get(key, [])
        return value if isinstance(value, list) else [value]

    def _names(self, table: Mapping[str, Any], key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        found = tuple(self.name(value, key) for value in self._list(table, key))
        return tuple(dict.fromkeys(found)) or default

    def _number(self, value: object, key: str, low: float, high: float = float("inf")) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value <= high:
            upper = "" if high == float("inf") else f" and up to {high:g}"
            raise self._wrong(f"'{key}' is a number above {low:g}{upper}; got {value!r}")
        return float(value)

    def _whole(self, value: object, key: str, low: int) -> int:
        if type(value) is not int or value < low:
            raise self._wrong(f"'{key}' is a whole number from {low} up; got {value!r}")
        return value

    def _limits(self, table: Mapping[str, Any]) -> SuiteLimits:
        names = {f.name for f in fields(SuiteLimits)}
        self._known(table, names, "[limits]")
        return SuiteLimits(**{key: self._number(value, key, 0) for key, value in table.items()})

    def _metrics(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        found = self._names(document, "metrics", _METRICS)
        for metric in found:
            self._one_of({"metrics": metric}, "metrics", _METRICS, "")
        return found

    def _jobs(self, table: Mapping[str, Any]) -> Jobs:
        self._known(table, {f.name for f in fields(Jobs)}, "[[jobs]]")
        for key in ("datasets", "methods"):
            if not self._names(table, key):
                raise self._wrong(f"A block [[jobs]] lists its {key}")
        rows, trials = table.get("rows"), table.get("trials")
        return Jobs(
            datasets=self._names(table, "datasets"),
            methods=self._names(table, "methods"),
            optional_methods=self._names(table, "optional_methods"),
            similarities=self._names(table, "similarities", Jobs.similarities),
            learners=self._names(table, "learners", Jobs.learners),
            theta_o=tuple(self._number(share, "theta_o", 0, 1) for share in self._list(table, "theta_o")),
            labelling=self._labelling(self._table(table, "labelling")),
            rows=None if rows is None else self._whole(rows, "rows", 2),
            folds=self._whole(table.get("folds", Jobs.folds), "folds", 2),
            seeds=tuple(self._whole(seed, "seeds", 0) for seed in self._list(table, "seeds")) or Jobs.seeds,
            trials=None if trials is None else self._whole(trials, "trials", 1),
            parameters=self._parameters(self._table(table, "parameters")),
        )

    def _labelling(self, table: Mapping[str, Any]) -> dict[str, str]:
        self._known(table, {"mechanism", "direction", "feature", "sampling"}, "labelling")
        return {key: self._text(table, key) for key in table}

    def _parameters(self, table: Mapping[str, Any]) -> Parameters:
        self._known(table, {kind.value for kind in KINDS}, "[jobs.parameters]")
        return {
            kind: {
                self.name(name, kind): self._as_table(params, name)
                for name, params in self._as_table(plugins, kind).items()
            }
            for kind, plugins in table.items()
        }

    def _figure(self, table: Mapping[str, Any]) -> Figure:
        self._known(table, {f.name for f in fields(Figure)}, "[[figures]]")
        return Figure(
            name=self.name(table.get("name"), "name"),
            kind=self._one_of(table, "kind", _FIGURES, ""),
            dataset=self.name(table.get("dataset"), "dataset"),
            metric=self._one_of(table, "metric", _METRICS, "auc"),
            title=self._text(table, "title"),
        )

    def _paper(self, table: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
        found: dict[str, dict[str, dict[str, float]]] = {}
        for dataset, methods in table.items():
            found[dataset] = {}
            for method, figures in self._as_table(methods, dataset).items():
                self._known(self._as_table(figures, method), set(_METRICS), f"[paper.{dataset}]")
                found[dataset][method] = {
                    key: self._number(value, key, 0, 1) for key, value in figures.items()
                }
        return found
