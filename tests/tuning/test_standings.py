"""The leaderboard of a run: ranks, comparisons with the model, and its file."""

import csv
from pathlib import Path

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.configuration.configuration import Configuration, PluginSpec, configure
from pubench.metrics.comparison import compare_aul, holm
from pubench.tuning.standings import COLUMNS, Entrant, LeaderboardRow, Role, rank_entrants, write_leaderboard
from pubench.types import FloatVector, Status

GENERATOR = np.random.default_rng(0)
S = np.arange(2000) < 60
NOISE = GENERATOR.normal(size=2000)


def configured(method: str = "naive") -> Configuration:
    return configure({Kind.METHOD: PluginSpec(method), Kind.LEARNER: PluginSpec("logistic")}, load_registry())


def scores(strength: float) -> FloatVector:
    return strength * S + NOISE + 0.3 * GENERATOR.normal(size=2000)


@pytest.fixture(scope="module")
def standings() -> tuple[LeaderboardRow, ...]:
    equal = scores(1.0)
    others = [
        Entrant(Role.BASELINE, configured("liu"), status=Status.TIMEOUT, reason="It was late."),
        Entrant(Role.BASELINE, configured(), equal, 1.5),
        Entrant(Role.TUNED, configured("bagging"), equal, 2.5),
        Entrant(Role.ORACLE, configured("oracle"), scores(3.0), 1.0),
        Entrant(Role.DEFAULT, configured("elkan"), scores(2.2), 1.0),
    ]
    return rank_entrants(Entrant(Role.BLEND, configured(), scores(2.0), 9.0), others, S)


def test_they_are_ordered_by_aul_and_equal_ones_share_a_rank(standings: tuple[LeaderboardRow, ...]) -> None:
    assert [row.entrant.role for row in standings] == [
        "oracle",
        "default",
        "blend",
        "tuned",
        "baseline",
        "baseline",
    ]
    assert [row.rank for row in standings] == [None, 1, 2, 3, 3, None]
    values = [row.interval.estimate for row in standings if row.interval is not None]
    assert values == sorted(values, reverse=True)


def test_each_is_compared_with_the_model(standings: tuple[LeaderboardRow, ...]) -> None:
    model = next(row for row in standings if row.is_model)
    assert model.comparison is None
    assert model.entrant.scores is not None
    for row in standings:
        if row.entrant.scores is not None and not row.is_model:
            assert row.comparison == compare_aul(S, model.entrant.scores, row.entrant.scores)


def test_p_values_are_corrected_for_all_but_the_oracle(standings: tuple[LeaderboardRow, ...]) -> None:
    tested = [row for row in standings if row.comparison is not None and row.entrant.role is not Role.ORACLE]
    plain = np.array([row.comparison.p_value for row in tested if row.comparison is not None])
    assert [row.p_value for row in tested] == pytest.approx(holm(plain).tolist())
    assert [row.p_value for row in standings if row.entrant.role is Role.ORACLE] == [None]


def test_the_file_has_a_row_for_each_and_empty_cells_for_what_is_unknown(
    standings: tuple[LeaderboardRow, ...], tmp_path: Path
) -> None:
    write_leaderboard(tmp_path / "leaderboard.csv", standings)
    with (tmp_path / "leaderboard.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 6
    assert rows[-1] | {"reason": "It was late.", "status": "timeout", "aul_pu": "", "rank": ""} == rows[-1]
    assert (rows[2]["role"], rows[2]["difference"], rows[2]["p_value"]) == ("blend", "", "")
    assert float(rows[1]["difference"]) < 0 < float(rows[3]["difference"])


def test_a_model_alone_has_rank_one() -> None:
    (row,) = rank_entrants(Entrant(Role.TUNED, configured(), scores(1.0)), [], S)
    assert (row.rank, row.is_model, row.p_value) == (1, True, None)
