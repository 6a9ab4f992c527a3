"""What a person asks about the call list, and the number of hidden positives that the answer rests on."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.decision.hidden_positives import HiddenPositives, Withheld, hidden_from_prior
from pubench.errors import DataError, InputError
from pubench.seeds import Seed
from pubench.tuning.final_models import ShippedModel, ship
from pubench.tuning.whom_to_call import CallRequest, hidden_positives, n_unlabeled
from pubench.types import PUData, Resources, Table

SEED = Seed(0)


@pytest.fixture(scope="module")
def apart() -> PUData:
    """3,000 rows of which 300 are positive, far apart from the others; half of them are labelled."""
    generator = SEED.generator()
    y = np.arange(3_000) % 10 == 0
    values = generator.normal(size=(3_000, 2)) + 8 * y[:, None]
    return PUData(Table.from_array(values), y & (generator.random(3_000) < 0.5))


@pytest.fixture(scope="module")
def shipped(apart: PUData) -> ShippedModel:
    """A model of the first half of these rows."""
    naive = {Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: PluginSpec("logistic")}
    return ship(configure(naive, load_registry()), apart, np.arange(1_500), SEED, Resources())


def test_an_estimate_counts_all_rows_although_it_is_made_from_some(
    apart: PUData, shipped: ShippedModel
) -> None:
    hidden = hidden_positives(None, apart, shipped, SEED)
    assert isinstance(hidden, HiddenPositives)
    assert hidden.low <= 300 - apart.n_labelled <= hidden.high


def test_a_prior_replaces_the_estimate(apart: PUData, shipped: ShippedModel) -> None:
    given = hidden_positives(0.1, apart, shipped, SEED)
    assert given == hidden_from_prior(0.1, 3_000, apart.n_labelled)


def test_without_scores_of_training_rows_it_is_said_what_is_needed(
    apart: PUData, shipped: ShippedModel
) -> None:
    found = hidden_positives(None, apart, replace(shipped, own_scores=None), SEED)
    assert isinstance(found, Withheld)
    assert "give a prior" in found.reason


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"top": (5, 0)}, "at least 1; got 0"),
        ({"gain": 40}, "belong together"),
        ({"cost": 2}, "belong together"),
        ({"gain": 40, "cost": -2}, "above 0"),
        ({"gain": float("nan"), "cost": 2}, "above 0"),
        ({"prior": 0.01}, "labelled positive already"),
        ({"prior": 1.0}, "between 0 and 1"),
        ({"top": (2_990,)}, "--top 2,990 is more than the"),
    ],
)
def test_a_question_without_an_answer_is_refused(apart: PUData, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CallRequest(**asked).check(apart)


def test_questions_that_have_an_answer_pass(apart: PUData) -> None:
    CallRequest().check(apart)
    CallRequest((0.06, 0.1, 0.2), (1, n_unlabeled(apart)), 40, 2).check(apart)
    with pytest.raises(DataError):
        CallRequest(top=(n_unlabeled(apart) + 1,)).check(apart)
