"""How learners keep to their threads while others work beside them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from pubench.blas import blas_threads
from pubench.types import Table
from pubench_plugins.learners.threads import by_rows, openmp_threads


def limits(kind: str) -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == kind}


def test_blas_is_held_until_the_last_one_leaves() -> None:
    before = limits("blas")
    first, second = blas_threads(1), blas_threads(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert limits("blas") == {1}
    second.__exit__(None, None, None)
    assert limits("blas") == before


def test_blas_goes_by_the_smallest_number() -> None:
    with blas_threads(2), blas_threads(1):
        assert limits("blas") == {1}


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
