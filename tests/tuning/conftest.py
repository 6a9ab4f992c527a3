"""A method whose trials are instant, or go wrong in every way that a trial can."""

from pathlib import Path

import numpy as np
import pytest

from pubench.api.registry import Registry, load_registry
from pubench.seeds import Seed
from pubench.types import PUData, Table

TOY = '''
import os, signal, time
from pubench import Choice, FittedMethod, Float, Method, NotApplicableError, Scores, hookimpl

pubench_api = 1


class Fitted(FittedMethod):
    def __init__(self, angle):
        self.angle = angle

    def score(self, X, resources):
        return Scores(X.values[:, 0] * self.angle + X.values[:, 1] * (1 - self.angle))

    def save(self, folder):
        (folder / "angle").write_text(str(self.angle))


class Toy(Method):
    """A direction in the plane."""

    name = "toy"
    uses = frozenset()
    space = {
        "angle": Float(0.0, 1.0, default=0.3, help="weight of the first feature"),
        "mode": Choice(("fine", "crash", "hang", "hog", "refuse", "raise"), default="fine", help="how it ends"),
        "pause": Float(0.0, 60.0, default=0.0, tuned=False, help="seconds"),
    }

    def fit(self, data, parts, seed, resources):
        mode = self.params["mode"]
        resources.progress(0.5)
        time.sleep(self.params["pause"])
        if mode == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if mode == "hang":
            time.sleep(600)
        if mode == "hog":
            hold = [bytearray(2**24) for _ in range(40)]
            time.sleep(600)
        if mode == "refuse":
            raise NotApplicableError("This is not for me.")
        if mode == "raise":
            raise ZeroDivisionError("oh\\nno")
        return Fitted(self.params["angle"])

    def load(self, folder, parts):
        return Fitted(float((folder / "angle").read_text()))


@hookimpl
def pubench_register_methods(register):
    register(Toy)
'''


@pytest.fixture
def toy_file(tmp_path: Path) -> Path:
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    return path


@pytest.fixture
def registry(toy_file: Path) -> Registry:
    return load_registry([toy_file])


def plane(rows: int) -> PUData:
    """Return rows whose first feature tells positives, half of which are labelled."""
    generator = Seed(0).generator()
    values = generator.normal(size=(rows, 3))
    positive = values[:, 0] + 0.5 * generator.normal(size=rows) > 1
    return PUData(Table.from_array(values), positive & (np.arange(rows) % 2 == 0))


@pytest.fixture
def data() -> PUData:
    return plane(600)
