"""How learners keep to their threads while others work beside them."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.types import Table
from pubench_plugins.learners.thread_limits import by_rows, openmp_threads


def limits(kind: str) -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == kind}


def test_openmp_is_held_for_each_thread_apart() -> None:
    import sklearn.ensemble  # noqa: F401, PLC0415 - brings OpenMP

    meet = Barrier(2, timeout=30)

    def seen(n_threads: int) -> set[int]:
        with openmp_threads(n_threads):
            meet.wait()
            found = limits("openmp")
            meet.wait()
        return found

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(seen, [1, 2])) == [{1}, {2}]


def test_rows_are_predicted_in_parts_and_in_order() -> None:
    X = Table.from_array(np.arange(20.0).reshape(10, 2))

    def predict(values: np.ndarray) -> Any:
        return values.sum(axis=1)

    for n_threads in (1, 2, 3, 50):
        np.testing.assert_array_equal(by_rows(predict, X, n_threads), X.values.sum(axis=1))


MIXED = """
import sys, threading
import numpy as np
from pubench.api.trainer import Trainer
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.seeds import Seed
from pubench.types import Resources, Table, Tags

generator = np.random.default_rng(0)
X = Table.from_array(generator.normal(size=(30_000, 10)))
tags = Tags((X.values[:, 0] + generator.normal(size=30_000) > 3).astype(float))
two = Resources(n_threads=2)
trainer = Trainer.of(load_registry().find(sys.argv[1], Kind.LEARNER).plugin(), X, two)
model = trainer.train(tags, Seed(0), two)
stop = threading.Event()

def predict():
    while not stop.is_set():
        model.predict(X, two)

other = threading.Thread(target=predict)
other.start()
print(len(list(trainer.members(lambda member: tags, 12, Seed(0), two))))
stop.set()
other.join()
"""


@pytest.mark.parametrize("name", load_registry().names(Kind.LEARNER))
def test_predictions_with_more_threads_do_not_crash_members_in_training(name: str) -> None:
    program = [sys.executable, "-c", MIXED, name]
    result = subprocess.run(program, capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout) == (0, "12\n"), result.stderr
