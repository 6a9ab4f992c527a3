"""The conclusion of a run: one outcome for every leaderboard, and no sentence that contradicts it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import Configuration, PluginSpec, configure
from pubench.tuning.conclusion import MAX_P_VALUE, Conclusion, Outcome, conclude
from pubench.tuning.standings import Entrant, LeaderboardRow, Role, rank_entrants
from pubench.types import FloatVector, Status

REGISTRY = load_registry(environ={"PUBENCH_DISABLE_PLUGIN_AUTOLOAD": "1"})
#: What each outcome says; no other outcome may say it.
PHRASES = {
    Outcome.BETTER: "ranks positives better than",
    Outcome.WORSE: "ranks positives worse than",
    Outcome.UNDECIDED: "cannot be told apart from",
    Outcome.SAME: "ranks the rows as",
    Outcome.ALONE: "has been compared with no other method",
}


def configured(method: str) -> Configuration:
    return configure({Kind.METHOD: PluginSpec(method), Kind.LEARNER: PluginSpec("logistic")}, REGISTRY)


NAIVE, BAGGING = configured("naive"), configured("bagging")
S = np.arange(400) < 40
GENERATOR = np.random.default_rng(0)
NOISE = GENERATOR.normal(size=(3, 400))


def scores(strength: float, noise: int = 0) -> FloatVector:
    return np.asarray(strength * S + NOISE[noise])


def concluded(model: Entrant, *others: Entrant) -> Conclusion:
    return conclude(rank_entrants(model, others, S), int(S.sum()), 4 * int(S.sum()))


def model(strength: float, role: Role = Role.BLEND) -> Entrant:
    return Entrant(role, NAIVE, scores(strength))


@pytest.mark.parametrize(("strength", "outcome"), [(3.0, Outcome.BETTER), (0.0, Outcome.WORSE)])
def test_a_clear_difference_is_called_so(strength: float, outcome: Outcome) -> None:
    found = concluded(model(strength), Entrant(Role.BASELINE, BAGGING, scores(1.5, 1)))
    assert found.outcome is outcome
    assert "of which 0." in found.finding
    assert "are certain at 95%" in found.finding
    assert found.labels is None


def test_a_faint_difference_needs_more_labels() -> None:
    found = concluded(model(1.0), Entrant(Role.BASELINE, BAGGING, scores(0.9, 1)))
    assert found.outcome is Outcome.UNDECIDED
    assert found.labels is not None
    assert found.labels >= 160
    assert "labelled rows in all, instead of 160," in found.advice


def test_the_best_of_the_others_is_what_it_has_to_beat() -> None:
    weak = Entrant(Role.BASELINE, NAIVE, scores(0.0, 1))
    strong = Entrant(Role.DEFAULT, BAGGING, scores(1.4, 2))
    found = concluded(model(1.5), weak, strong)
    assert "the best of 2 other methods, bagging (the default)" in found.finding


def test_tuned_rows_and_the_oracle_are_no_baselines() -> None:
    better = [Entrant(role, BAGGING, scores(3.0, 1)) for role in (Role.TUNED, Role.ORACLE)]
    assert concluded(model(0.0), *better).outcome is Outcome.ALONE


def test_equal_scores_are_the_same() -> None:
    found = concluded(model(1.0), Entrant(Role.BASELINE, BAGGING, scores(1.0)))
    assert found.outcome is Outcome.SAME


def test_without_time_for_others_more_time_is_advised() -> None:
    late = Entrant(Role.BASELINE, BAGGING, status=Status.TIMEOUT, reason="It was late.")
    found = concluded(model(1.0), late)
    assert found.outcome is Outcome.ALONE
    assert "--timeout" in found.advice


def outcome_by_numbers(rows: tuple[LeaderboardRow, ...]) -> Outcome:
    """The outcome as the numbers of the leaderboard say it, by another way than the code."""
    rivals = [
        row
        for row in rows
        if not row.is_model and row.entrant.role in {Role.DEFAULT, Role.BASELINE} and row.interval is not None
    ]
    if not rivals:
        return Outcome.ALONE
    best = min(rivals, key=lambda row: -row.to_row()["aul_pu"]).to_row()  # type: ignore[operator]
    difference, p_value = best["difference"], best["p_value"]
    assert isinstance(difference, float)
    assert isinstance(p_value, float)
    if p_value <= MAX_P_VALUE:
        return Outcome.BETTER if difference > 0 else Outcome.WORSE
    return Outcome.UNDECIDED


ENTRANTS = st.builds(
    lambda role, strength, noise, ok: Entrant(
        role,
        BAGGING,
        scores(strength, noise) if ok else None,
        status=Status.OK if ok else Status.TIMEOUT,
        reason="" if ok else "It was late.",
    ),
    st.sampled_from([Role.DEFAULT, Role.BASELINE, Role.TUNED, Role.ORACLE]),
    st.floats(0, 3),
    st.sampled_from([1, 2]),
    st.booleans(),
)


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from([Role.BLEND, Role.TUNED, Role.DEFAULT]), st.floats(0, 3), st.lists(ENTRANTS, max_size=5)
)
def test_it_says_what_the_numbers_say_and_never_its_opposite(
    role: Role, strength: float, others: list[Entrant]
) -> None:
    rows = rank_entrants(replace(model(strength), role=role), others, S)
    found = conclude(rows, int(S.sum()), 4 * int(S.sum()))
    assert found.outcome in {outcome_by_numbers(rows), Outcome.SAME}
    said = [outcome for outcome, phrase in PHRASES.items() if phrase in found.sentence]
    assert said == [found.outcome]
    assert ("certain" in found.sentence) is (found.outcome in {Outcome.BETTER, Outcome.WORSE})
    assert ("labelled rows in all" in found.sentence) is (found.labels is not None)
    assert "\n" not in found.sentence
