"""Pools give results in order, and BLAS has the lowest limit of all its callers."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from pubench.system.threads import INLINE, blas_threads, map_in_order, thread_pool


def blas_limits() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_is_limited_until_the_last_caller_ends() -> None:
    before = blas_limits()
    first, second = blas_threads(1), blas_threads(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_limits() == {1}
    second.__exit__(None, None, None)
    assert blas_limits() == before


def test_the_lowest_limit_of_blas_counts() -> None:
    with blas_threads(2), blas_threads(1):
        assert blas_limits() == {1}


def test_a_pool_of_no_threads_runs_tasks_in_the_thread_of_the_caller() -> None:
    with thread_pool(0) as pool:
        assert pool is INLINE
        assert pool.submit(threading.get_ident).result() == threading.get_ident()
        assert blas_limits() == {1}
    with thread_pool(2) as pool:
        assert pool.submit(threading.get_ident).result() != threading.get_ident()


@pytest.mark.parametrize("n_threads", [0, 1, 3])
def test_results_come_in_the_order_of_the_tasks(n_threads: int) -> None:
    with thread_pool(n_threads) as pool:
        assert list(map_in_order(pool, lambda n: n * n, range(50))) == [n * n for n in range(50)]


def test_few_tasks_are_taken_ahead_of_the_caller() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    with thread_pool(2) as pool:
        results = map_in_order(pool, np.sqrt, tasks(), ahead=3)
        assert next(results) == 0
        assert len(taken) == 4
        results.close()  # type: ignore[attr-defined]
    assert len(taken) == 4


def test_an_error_of_a_task_passes_through() -> None:
    with thread_pool(2) as pool, pytest.raises(ZeroDivisionError):
        list(map_in_order(pool, lambda n: 1 // n, [1, 0, 1]))
