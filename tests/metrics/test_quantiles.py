"""Scores as ranks among those of training rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.errors import DataError
from pubench.metrics.quantiles import EVEN, TOWARDS_TOP, Quantiles, reference_rows
from pubench.system.json_documents import Node
from pubench.types import Table

SCORES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(np.array)


@given(known=SCORES, new=SCORES, levels=st.sampled_from([EVEN, TOWARDS_TOP]))
@settings(max_examples=60, deadline=None)
def test_ranks_rise_with_scores_and_depend_on_each_alone(
    known: np.ndarray, new: np.ndarray, levels: np.ndarray
) -> None:
    quantiles = Quantiles.of(known, levels)
    ranks = quantiles.ranks(np.sort(new))
    assert np.all(np.diff(ranks) >= 0)
    assert np.all((ranks >= 0) & (ranks <= 1))
    assert np.array_equal(
        np.concatenate([quantiles.ranks(new[i : i + 1]) for i in range(len(new))]), quantiles.ranks(new)
    )


@given(known=SCORES)
@settings(max_examples=30, deadline=None)
def test_json_brings_back_every_bit(known: np.ndarray) -> None:
    quantiles = Quantiles.of(known, TOWARDS_TOP)
    again = Quantiles.from_json(Node(quantiles.values.tolist(), "x"), TOWARDS_TOP)
    assert np.array_equal(again.ranks(known), quantiles.ranks(known))


def test_ranks_are_those_of_the_rows_and_differ_at_the_very_top() -> None:
    known = np.sort(np.random.default_rng(0).exponential(size=100_000))
    quantiles = Quantiles.of(known, TOWARDS_TOP)
    exact = (np.arange(100_000) + 0.5) / 100_000
    assert np.abs(quantiles.ranks(known) - exact).max() < 1e-3
    top = slice(-1000, None)
    assert np.abs(quantiles.ranks(known)[top] - exact[top]).max() < 2e-4
    assert len(np.unique(quantiles.ranks(known[top]))) == 1000
    assert len(np.unique(Quantiles.of(known).steps(known[top]))) < 50


def test_scores_of_one_value_stand_in_the_middle() -> None:
    quantiles = Quantiles.of(np.ones(5), EVEN)
    for ranks in (quantiles.ranks, quantiles.steps):
        assert ranks(np.array([1.0])) == pytest.approx(0.5)
    assert quantiles.steps(np.array([0.0, 2.0])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "written",
    [None, "x", [], [[]], [1.0] * 1024, [*[1.0] * 1024, 0.0], [*[1.0] * 1024, None], [*[1.0] * 1024, 10**400],
     [*[1.0] * 1024, float("inf")], {"a": 1}],
    ids=lambda written: repr(written)[-12:],
)  # fmt: skip
def test_what_is_none_is_refused(written: Any) -> None:
    with pytest.raises(DataError, match=r"is damaged: .*here\.json is no"):
        Quantiles.from_json(Node(written, "here.json"), EVEN)


def test_of_many_rows_some_are_taken() -> None:
    few, many = (Table.from_array(np.arange(n, dtype=np.float64)[:, None]) for n in (1000, 250_001))
    assert reference_rows(few) is few
    assert 80_000 <= reference_rows(many).n_rows <= 100_000
