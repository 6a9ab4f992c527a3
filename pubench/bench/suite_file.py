"""Suite files: where they are, and how one is read and checked.

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

`docs/benchmarks.md` describes every key. Unknown keys are an error: a misspelled key would be a wrong experiment.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from pubench.bench.suite import FIGURES, METRICS, Parameters, Suite, SuiteBlock, SuiteFigure, SuiteLimits
from pubench.configuration.configuration import KINDS
from pubench.configuration.toml_file import read_toml_document
from pubench.errors import DataError, InputError, one_line, suggestion

#: Names of data sets and methods in records.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def read_suite(path: Path) -> Suite:
    """Return the suite in a file.

    Raises:
        DataError: it cannot be read, or a key or a value in it is wrong.
    """
    document, text = read_toml_document(path)
    reader = _SuiteReader(str(path))
    name = reader.name(path.stem, "the name of the file")
    return reader.suite(document, name, text)


class _SuiteReader:
    """Turns TOML tables into checked values; every message names the file."""

    def __init__(self, file: str) -> None:
        self._file = file

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
                self._figure(self._as_table(figure, "figures")) for figure in document.get("figures", ())
            ),
            paper=self._paper(self._table(document, "paper")),
            text=text,
        )

    def name(self, value: object, what: str) -> str:
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise self._wrong(f"{value!r} ({what}) is not a name; use letters, digits, - _ and .")
        return value

    def _wrong(self, sentence: str) -> DataError:
        return DataError(f"{self._file} is not a suite: {sentence}.")

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
            raise self._wrong(f"'{key}' must be text")
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
        names = tuple(self.name(value, key) for value in self._list(table, key))
        return tuple(dict.fromkeys(names)) or default

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
        metrics = self._names(document, "metrics", METRICS)
        for metric in metrics:
            self._one_of({"metrics": metric}, "metrics", METRICS, "")
        return metrics

    def _jobs(self, table: Mapping[str, Any]) -> SuiteBlock:
        self._known(table, {f.name for f in fields(SuiteBlock)}, "[[jobs]]")
        for key in ("datasets", "methods"):
            if not self._names(table, key):
                raise self._wrong(f"A block [[jobs]] lists its {key}")
        rows, trials = table.get("rows"), table.get("trials")
        return SuiteBlock(
            datasets=self._names(table, "datasets"),
            methods=self._names(table, "methods"),
            optional_methods=self._names(table, "optional_methods"),
            similarities=self._names(table, "similarities", SuiteBlock.similarities),
            learners=self._names(table, "learners", SuiteBlock.learners),
            theta_o=tuple(self._number(share, "theta_o", 0, 1) for share in self._list(table, "theta_o")),
            labelling=self._labelling(self._table(table, "labelling")),
            rows=None if rows is None else self._whole(rows, "rows", 2),
            folds=self._whole(table.get("folds", SuiteBlock.folds), "folds", 2),
            seeds=tuple(self._whole(seed, "seeds", 0) for seed in self._list(table, "seeds"))
            or SuiteBlock.seeds,
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

    def _figure(self, table: Mapping[str, Any]) -> SuiteFigure:
        self._known(table, {f.name for f in fields(SuiteFigure)}, "[[figures]]")
        return SuiteFigure(
            name=self.name(table.get("name"), "name"),
            kind=self._one_of(table, "kind", FIGURES, ""),
            dataset=self.name(table.get("dataset"), "dataset"),
            metric=self._one_of(table, "metric", METRICS, "auc"),
            title=self._text(table, "title"),
        )

    def _paper(self, table: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
        values: dict[str, dict[str, dict[str, float]]] = {}
        for dataset, methods in table.items():
            values[dataset] = {}
            for method, metrics in self._as_table(methods, dataset).items():
                self._known(self._as_table(metrics, method), set(METRICS), f"[paper.{dataset}]")
                values[dataset][method] = {
                    key: self._number(value, key, 0, 1) for key, value in metrics.items()
                }
        return values


#: In a wheel beside this module; in a checkout at its root.
_FOLDERS = (Path(__file__).parent / "suites", Path(__file__).parents[2] / "benchmarks" / "suites")


def shipped_suites() -> Iterator[Path]:
    """Yield the files of the suites that come with pubench, by name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    if folder is not None:
        yield from sorted(folder.glob("*.toml"))


def find_suite(text: str) -> Suite:
    """Return a suite that comes with pubench, by name, or that of a file, by path.

    Raises:
        InputError: there is neither.
        DataError: the file is not a suite.
    """
    shipped = {path.stem: path for path in shipped_suites()}
    if text in shipped:
        return read_suite(shipped[text])
    if Path(text).is_file():
        return read_suite(Path(text))
    raise InputError(
        f"There is no suite and no file '{text}'.{suggestion(text, shipped)} 'pubench bench list' shows the suites."
    )
