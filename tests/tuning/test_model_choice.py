"""Which trials the model is made of, chosen from files of out-of-fold scores."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench.api.plugin import Kind
from pubench.api.registry import Registry
from pubench.configuration.configuration import PluginSpec, configure
from pubench.crossfit.cross_fit import fold_aul
from pubench.crossfit.folds import FoldPlan, InnerFold, inner_folds
from pubench.metrics.ranks import share_below
from pubench.seeds import Seed
from pubench.tuning.model_choice import ModelChoice, OutOfFoldScores, choose_model
from pubench.tuning.trial import Trial
from pubench.types import Status

ROWS = 900
GENERATOR = np.random.default_rng(0)
POSITIVE = GENERATOR.random(ROWS) < 0.2
HALF = GENERATOR.random(ROWS) < 0.5
S = POSITIVE & (GENERATOR.random(ROWS) < 0.8)
#: The first two see one half of the positives each; the third is the first with a little noise.
SCORES = [2.5 * (POSITIVE & side) + GENERATOR.normal(size=ROWS) for side in (HALF, ~HALF)]
SCORES.append(SCORES[0] + 0.3 * GENERATOR.normal(size=ROWS))


@pytest.fixture
def folds() -> tuple[InnerFold, ...]:
    return inner_folds(S, FoldPlan(), Seed(0))


def write_scores(folder: Path, number: int, scores: np.ndarray, folds: tuple[InnerFold, ...]) -> None:
    np.save(
        folder / f"scores-{number}.npy", np.concatenate([scores[f.test] for f in folds]).astype(np.float32)
    )


def trial(number: int, scores: np.ndarray, folds: tuple[InnerFold, ...], registry: Registry) -> Trial:
    placed = [share_below(scores[f.test][~S[f.test]], scores[f.test][S[f.test]]) for f in folds]
    value = float(np.mean([fold_aul(p, f) for p, f in zip(placed, folds, strict=True)]))
    configuration = configure({Kind.METHOD: PluginSpec("toy")}, registry)
    return Trial(number, configuration, {}, Status.OK, value=value, placements=tuple(placed))


def chosen(trials: list[Trial], scores: OutOfFoldScores, **more: Any) -> ModelChoice:
    return choose_model(trials, scores, Seed(0), **more)


@pytest.fixture
def trials(folds: tuple[InnerFold, ...], registry: Registry, tmp_path: Path) -> list[Trial]:
    for number, scores in enumerate(SCORES):
        write_scores(tmp_path, number, scores, folds)
    return [trial(number, scores, folds, registry) for number, scores in enumerate(SCORES)]


def test_a_blend_of_trials_that_complement_each_other_is_chosen_and_explained(
    trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path
) -> None:
    progress: list[float] = []
    choice = chosen(trials, OutOfFoldScores(tmp_path, folds, S), progress=progress.append)
    assert choice.is_blend
    assert 1 in choice.weights
    assert choice.gain is not None
    assert choice.gain.low > 0
    assert choice.value > max(trial.value or 0 for trial in trials)
    assert f"a blend of {len(choice.weights)} trials" in choice.sentence
    assert (
        f"{choice.gain.difference:+.4f} [{choice.gain.low:+.4f}, {choice.gain.high:+.4f}]" in choice.sentence
    )
    assert progress[-1] == 1.0


def test_without_blending_the_best_trial_is_chosen(
    trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path
) -> None:
    choice = chosen(trials, OutOfFoldScores(tmp_path, folds, S), blend=False)
    best = max(trials, key=lambda trial: trial.value or 0)
    assert choice.weights == {best.number: 1}
    assert "blending is switched off" in choice.sentence


def test_no_blend_of_one_trial(trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path) -> None:
    choice = chosen(trials[:1], OutOfFoldScores(tmp_path, folds, S))
    assert not choice.is_blend
    assert "fewer than two trials" in choice.sentence


def test_no_blend_of_equals(trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path) -> None:
    write_scores(tmp_path, 1, SCORES[0], folds)
    twins = [trials[0], replace(trials[0], number=1)]
    choice = chosen(twins, OutOfFoldScores(tmp_path, folds, S))
    assert choice.weights == {0: 1}
    assert "no blend of trials is better" in choice.sentence


def test_parts_for_which_there_is_no_time_are_left_out(
    trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path
) -> None:
    scores = OutOfFoldScores(tmp_path, folds, S)
    whole = choose_model(trials, scores, Seed(0))
    assert choose_model(trials, scores, Seed(0), afford=lambda numbers: numbers) == whole
    heaviest = max(whole.weights, key=lambda number: whole.weights[number])
    for number in whole.weights:
        asked: list[int] = []

        def afford(numbers: Sequence[int], only: int = number, asked: list[int] = asked) -> list[int]:
            asked.extend(numbers)
            return [only]

        single = choose_model(trials, scores, Seed(0), afford=afford)
        assert asked[0] == heaviest
        assert sorted(asked) == sorted(whole.weights)
        assert single.weights == {number: 1}
        assert f"number {number}: there was no time to train more" in single.sentence
        assert single.value < whole.value


def test_a_worse_kind_of_trial_stays_a_candidate(
    folds: tuple[InnerFold, ...], registry: Registry, tmp_path: Path
) -> None:
    """Thirty trials of one kind do not crowd out the only one of another kind, which sees other positives."""
    generator = np.random.default_rng(1)
    trials = []
    for number in range(30):
        scores = SCORES[0] + 0.1 * generator.normal(size=ROWS)
        write_scores(tmp_path, number, scores, folds)
        trials.append(trial(number, scores, folds, registry))
    other = 0.9 * SCORES[1] + 0.3 * generator.normal(size=ROWS)
    write_scores(tmp_path, 30, other, folds)
    naive = configure({Kind.METHOD: PluginSpec("naive"), Kind.LEARNER: PluginSpec("logistic")}, registry)
    trials.append(replace(trial(30, other, folds, registry), configuration=naive))
    assert 30 in chosen(trials, OutOfFoldScores(tmp_path, folds, S)).weights


@pytest.mark.parametrize("file", ["absent", "of another trial", "cut", "junk", "not finite"])
def test_trials_whose_scores_are_not_here_are_left_out(
    file: str, trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path
) -> None:
    path = tmp_path / "scores-1.npy"
    if file == "absent":
        path.unlink()
    elif file == "of another trial":
        write_scores(tmp_path, 1, -SCORES[1], folds)
    elif file == "cut":
        np.save(path, np.load(path)[:-1])
    elif file == "junk":
        path.write_bytes(b"x")
    else:
        np.save(path, np.load(path) * np.float32(np.inf))
    assert 1 not in chosen(trials, OutOfFoldScores(tmp_path, folds, S)).weights


def test_scores_of_very_many_rows_belong_to_their_trial(registry: Registry, tmp_path: Path) -> None:
    """Ranks are taken on a sample of the rows, whose AUL_PU differs from that of all."""
    generator = np.random.default_rng(5)
    s = np.arange(60_000) < 60
    scores = generator.normal(0.4 * s)
    folds = inner_folds(s, FoldPlan(2), Seed(0))
    placed = [share_below(scores[f.test][~s[f.test]], scores[f.test][s[f.test]]) for f in folds]
    value = float(np.mean([fold_aul(p, f) for p, f in zip(placed, folds, strict=True)]))
    configuration = configure({Kind.METHOD: PluginSpec("toy")}, registry)
    own = Trial(0, configuration, {}, Status.OK, value=value, placements=tuple(placed))
    write_scores(tmp_path, 0, scores, folds)
    assert list(OutOfFoldScores(tmp_path, folds, s).drafts([own])) == [0]
    assert not OutOfFoldScores(tmp_path, folds, s).drafts([replace(own, value=value + 0.002)])
