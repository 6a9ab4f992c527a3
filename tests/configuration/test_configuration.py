"""Configurations: from names to plugins, and blends of several."""

import json
from typing import Any

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.api.spaces import Choice, Int
from pubench.configuration.configuration import (
    Blend,
    ConfigurationSpec,
    PluginSpec,
    configure,
    configure_specs,
    parse_plugins,
    parse_setting,
    parse_value,
)
from pubench.errors import InputError, ParameterError
from pubench.types import PUData, Table
from tests.configuration.conftest import single

ALL = {
    Kind.METHOD: PluginSpec("probtagging", {"negatives": "sampled", "ratio": 12.5}),
    Kind.SIMILARITY: PluginSpec("knn"),
    Kind.LEARNER: PluginSpec("lightgbm", {"trees": 33, "random_cuts": False}),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({Kind.METHOD: PluginSpec("naive")}, "uses no similarity"),
        ({Kind.LEARNER: PluginSpec("lightgbm", {"tree": 3})}, "has no parameter 'tree'"),
        ({Kind.LEARNER: PluginSpec("lightgbm", {"self": 3})}, "has no parameter 'self'"),
        ({Kind.LEARNER: PluginSpec("knn")}, "There is no learner 'knn'"),
    ],
)
def test_plugins_that_do_not_fit_are_refused(change: Any, message: str, registry: Registry) -> None:
    with pytest.raises(InputError, match=message):
        configure({**ALL, **change}, registry)


def test_the_missing_plugin_is_named(registry: Registry) -> None:
    with pytest.raises(ParameterError, match="needs a learner"):
        configure({Kind.METHOD: PluginSpec("naive")}, registry)
    with pytest.raises(ParameterError, match="needs a method"):
        configure({Kind.LEARNER: PluginSpec("lightgbm")}, registry)


def test_settings_are_parsed_to_the_type_of_their_parameter() -> None:
    assert parse_setting("learner.trees = 100") == (Kind.LEARNER, "trees", "100")
    assert parse_value("100", Int(1, 200, default=5)) == 100
    assert parse_value("true", Choice((True, False), default=True)) is True
    assert parse_value("none", Choice(("none", "cap"), default="none")) == "none"
    assert parse_value("1", Choice(("1", "2"), default="1")) == "1"
    assert parse_value("[1]", None) == "[1]"


@pytest.mark.parametrize("text", ["trees=5", "learner.trees", "lerner.trees=5", "learner.=5", "dataset.x=5"])
def test_invalid_settings_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="sets no parameter"):
        parse_setting(text)


def test_members_are_divided_and_each_part_gets_five_or_all_it_had(registry: Registry) -> None:
    parts = [
        (5, single(registry, "probtagging", members=50)),
        (1, single(registry, "bagging", members=2)),
        (2, single(registry, "naive")),
    ]
    divided = Blend.divided(parts)
    assert [weight for weight, _ in divided.weighted] == [5, 1, 2]
    assert [single.method.params.get("members") for single in divided.singles] == [31, 2, None]
    assert divided.singles[2] == parts[2][1]


def test_title_merges_parts_of_equal_names(registry: Registry) -> None:
    parts = [
        (1, single(registry, "naive")),
        (2, single(registry, "bagging")),
        (2, single(registry, "bagging", members=5)),
    ]
    assert str(Blend.divided(parts)).startswith("blend of 4 x bagging + ")


def test_title_and_json_of_a_blend(blend: Blend) -> None:
    assert (
        str(blend) == "blend of 2 x probtagging + knn + logistic, 1 x naive + lightgbm, 1 x naive + logistic"
    )
    assert blend.tables() == {"method": {"name": "blend"}}
    written: Any = blend.to_json()
    assert written["blend"][0]["weight"] == 2
    assert written["blend"][0]["method"]["members"] == 3
    assert blend.origins[Kind.METHOD].startswith("pubench ")
    assert json.loads(json.dumps(written)) == written


def test_as_trained_has_the_number_of_members_that_were_trained(blend: Blend) -> None:
    short = blend.as_trained({"blended": [{"members": 2}, {}, {}]})
    assert [single.method.params.get("members") for single in short.singles] == [2, None, None]
    assert blend.as_trained({"blended": [{"members": 3}, {}, {}]}) == blend


def test_a_suited_configuration_states_what_was_left_to_the_data(blend: Blend) -> None:
    data = PUData(Table.from_array(np.zeros((6, 4))), np.arange(6) < 2)
    suited = blend.suited_to(data)
    assert "c" not in blend.specs[0].plugins[Kind.LEARNER].params
    assert suited.specs[0].plugins[Kind.LEARNER].params == {"c": 0.125}
    assert suited.singles[1] == blend.singles[1]
    assert suited.suited_to(data.take(np.array([0, 5]))) == suited


def test_what_is_left_to_the_data_stays_so_as_long_as_it_is_written_and_read(
    blend: Blend, registry: Registry
) -> None:
    single = blend.singles[0]
    read = configure(parse_plugins(json.loads(json.dumps(single.to_json())), "a test"), registry)
    assert read == single
    assert read != single.suited_to(PUData(Table.from_array(np.zeros((3, 50))), np.arange(3) < 1))


def test_parts_without_a_method_and_weights_out_of_range_are_refused(registry: Registry) -> None:
    naive = single(registry, "naive").specs[0]
    with pytest.raises(ParameterError, match="needs a method"):
        configure_specs([naive, ConfigurationSpec({})], registry)
    with pytest.raises(ParameterError, match="with a weight from 1 to"):
        configure_specs([naive, ConfigurationSpec(naive.plugins, weight=10**9)], registry)


def test_a_record_from_before_a_parameter_means_the_model_it_was_made_with(registry: Registry) -> None:
    then = {
        "trees": 60,
        "learning_rate": 0.15,
        "depth": 3,
        "l2": 10.0,
        "min_hessian": 1.0,
        "random_cuts": True,
        "features": 1.0,
    }
    plugins = {Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: PluginSpec("lightgbm", then)}
    learner = configure(plugins, registry).parts.learner
    assert learner is not None
    assert learner.params["boost_from_average"] is True
    plugins[Kind.LEARNER] = PluginSpec("lightgbm", {"trees": 60})
    learner = configure(plugins, registry).parts.learner
    assert learner is not None
    assert learner.params["boost_from_average"] is False
