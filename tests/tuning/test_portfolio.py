"""The first trials of a search."""

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.tuning.portfolio import PORTFOLIO, first_trials
from pubench.tuning.space import SearchSpace

REGISTRY = load_registry()
KINDS = (Kind.METHOD, Kind.SIMILARITY, Kind.LEARNER)
SPACE = SearchSpace(REGISTRY, {kind: REGISTRY.names(kind) for kind in KINDS})


def test_every_configuration_is_tried_once_after_a_cheap_one_and_the_default() -> None:
    trials = first_trials(SPACE)
    assert trials[0]["method"] == "naive"
    assert trials[1] == SPACE.default()
    assert len(trials) == 2 + len(PORTFOLIO)
    assert all(trial not in trials[:i] for i, trial in enumerate(trials))
    for given, trial in zip(PORTFOLIO, trials[2:], strict=True):
        assert given.items() <= trial.items()


def test_a_narrow_search_tries_what_fits() -> None:
    narrow = SearchSpace(
        REGISTRY,
        {Kind.METHOD: ["probtagging"], Kind.SIMILARITY: ["knn"], Kind.LEARNER: ["forest", "lightgbm"]},
    )
    trials = first_trials(narrow)
    assert trials[0] == narrow.default()
    assert 4 < len(trials) < len(PORTFOLIO)
    assert all(narrow.complete(trial) == trial for trial in trials)
