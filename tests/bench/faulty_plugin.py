"""A single-file plugin for tests of `pubench bench`: a small data set, a good method, and every kind of bad one."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from pubench import (
    DataFile,
    Dataset,
    DatasetInfo,
    DatasetLoader,
    FittedMethod,
    Float,
    Method,
    NotApplicableError,
    Parts,
    PUData,
    Resources,
    Scores,
    Seed,
    Table,
    Truth,
    hookimpl,
)

pubench_api = 1


class Tiny(DatasetLoader):
    """A few hundred rows; the first column tells."""

    name = "tiny"
    info = DatasetInfo("small", 300, 3, 60, "made up", "none")

    def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:  # noqa: ARG002
        generator = seed.generator()
        y = np.arange(300) < 60
        return Dataset(Table.from_array(generator.normal(size=(300, 3)) + y[:, None]), truth=Truth(y))


class Far(Tiny):
    """The same, elsewhere."""

    name = "far"


class Written(DatasetLoader):
    """Rows of a file."""

    name = "written"
    info = DatasetInfo("a file", 20, 2, 8, "made up", "none")
    files = (DataFile(("written.txt",), "https://example.org/written.txt"),)

    def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:  # noqa: ARG002
        values = np.loadtxt(paths[0])
        return Dataset(Table.from_array(values), truth=Truth(np.arange(len(values)) < 8))


@dataclass(frozen=True)
class ByColumn(FittedMethod):
    """Scores by a column; tells how many labels it was shown."""

    spoil: float = 1.0
    labelled: float = 0.0

    @property
    def chosen(self) -> Mapping[str, float]:
        return {"labelled": self.labelled}

    def score(self, X: Table, resources: Resources) -> Scores:  # noqa: ARG002
        return Scores(X.values[:, 0].astype(np.float64) * self.spoil)

    def save(self, folder: Path) -> None:
        """Write nothing."""


def do_nothing() -> None:
    """Be good."""


class Good(Method):
    """Scores by the first column, after a nap."""

    name = "good"
    uses = frozenset()
    space = {"nap": Float(0.0, 100.0, default=0.0)}
    act: ClassVar[Callable[[], None]] = staticmethod(do_nothing)

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
        time.sleep(self.params["nap"])
        type(self).act()
        return ByColumn(labelled=data.n_labelled)


def hoard() -> None:
    kept = []
    while True:
        kept.append(np.ones(2**21))


def grab() -> None:
    np.empty(2**34)  # 128 GiB that nobody touches: no look at what is used would tell


def sleep() -> None:
    time.sleep(10_000)


def close_all() -> None:
    os.closerange(3, 1000)  # whoever waits for it by a pipe takes it for dead
    time.sleep(10_000)


def leave_children() -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(9999)", "pubench-test-child"])
    time.sleep(10_000)


def crash() -> None:
    ctypes.string_at(0)


def leave() -> None:
    os._exit(3)


def decline() -> None:
    raise NotApplicableError("It does not like these rows.")


def complain() -> None:
    raise RuntimeError("It broke\nin two lines.")


def exhaust() -> None:
    raise MemoryError("no more")


class NaN(Good):
    """Scores that are none."""

    name = "nan"

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
        return ByColumn(float("nan"))


class Short(ByColumn):
    """Scores of too few rows."""

    def score(self, X: Table, resources: Resources) -> Scores:
        return Scores(super().score(X, resources).values[:-1])


class Few(Good):
    """A score is missing."""

    name = "few"

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
        return Short()


class Boasts(Good):
    """Chooses what no record can hold."""

    name = "boasts"

    def fit(self, data: PUData, parts: Parts, seed: Seed, resources: Resources) -> FittedMethod:  # noqa: ARG002
        return ByColumn(labelled=float("inf"))


class SeesAll(Good):
    """A ceiling, which is handed every positive."""

    name = "sees-all"
    wants_all_labels = True


BAD = {
    "hoards": hoard,
    "grabs": grab,
    "sleeps": sleep,
    "closes-all": close_all,
    "leaves-children": leave_children,
    "crashes": crash,
    "leaves": leave,
    "declines": decline,
    "complains": complain,
    "exhausts": exhaust,
}


@hookimpl
def pubench_register_datasets(register: Callable[[type[DatasetLoader]], None]) -> None:
    for loader in (Tiny, Far, Written):
        register(loader)


@hookimpl
def pubench_register_methods(register: Callable[[type[Method]], None]) -> None:
    for method in (Good, NaN, Few, Boasts, SeesAll):
        register(method)
    for name, act in BAD.items():
        traits = {"name": name, "act": staticmethod(act), "__doc__": f"It {name}."}
        register(type(name, (Good,), traits))
