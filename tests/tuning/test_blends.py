"""From files of out-of-fold scores to a blend, and a sentence."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubench.metrics.ranks import share_below
from pubench.plugin_api import Kind
from pubench.registry import Registry
from pubench.saving.configuration import Named, configure
from pubench.seeds import Seed
from pubench.tuning.blends import Blending, find_blend
from pubench.tuning.inner import InnerFold, Plan, inner_folds
from pubench.tuning.judging import aul_of
from pubench.tuning.out_of_fold import OutOfFold
from pubench.tuning.study import Trial
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
    return inner_folds(S, Plan(), Seed(0))


def leave(folder: Path, number: int, scores: np.ndarray, folds: tuple[InnerFold, ...]) -> None:
    np.save(
        folder / f"scores-{number}.npy", np.concatenate([scores[f.test] for f in folds]).astype(np.float32)
    )


def trial(number: int, scores: np.ndarray, folds: tuple[InnerFold, ...], registry: Registry) -> Trial:
    placed = [share_below(scores[f.test][~S[f.test]], scores[f.test][S[f.test]]) for f in folds]
    value = float(np.mean([aul_of(p, f) for p, f in zip(placed, folds, strict=True)]))
    configuration = configure({Kind.METHOD: Named("toy")}, registry)
    return Trial(number, configuration, {}, Status.OK, value=value, placements=tuple(placed))


def blended(trials: list[Trial], rivals: list[int], out_of_fold: OutOfFold, **more: Any) -> Blending:
    return find_blend(out_of_fold.drafts(trials), rivals, out_of_fold, **more)


@pytest.fixture
def trials(folds: tuple[InnerFold, ...], registry: Registry, tmp_path: Path) -> list[Trial]:
    for number, scores in enumerate(SCORES):
        leave(tmp_path, number, scores, folds)
    return [trial(number, scores, folds, registry) for number, scores in enumerate(SCORES)]


def test_a_blend_is_found_and_told(trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path) -> None:
    told: list[float] = []
    found = blended(trials, [], OutOfFold(tmp_path, folds, S), progress=told.append)
    assert found.is_taken
    assert 1 in found.weights
    assert found.gain is not None
    assert found.value > max(one.value or 0 for one in trials)
    assert f"a blend of {len(found.weights)} trials" in found.sentence
    assert f"{found.gain.difference:+.4f} (standard error {found.gain.stderr:.4f})" in found.sentence
    assert told[-1] == 1.0


def test_what_beats_single_drafts_must_beat_finalists_in_full(
    trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path
) -> None:
    leave(tmp_path, -1, SCORES[0] + SCORES[1], folds)  # trial 0 in full
    found = blended(trials, [0], OutOfFold(tmp_path, folds, S))
    assert len(found.weights) > 1
    assert not found.is_taken
    assert "a single trial" in found.sentence
    assert "not above one standard error" in found.sentence


def test_no_blend_of_one_trial(trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path) -> None:
    found = blended(trials[:1], [], OutOfFold(tmp_path, folds, S))
    assert not found.is_taken
    assert "fewer than two trials" in found.sentence


def test_no_blend_of_equals(trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path) -> None:
    leave(tmp_path, 1, SCORES[0], folds)
    twins = [trials[0], replace(trials[0], number=1)]
    found = blended(twins, [], OutOfFold(tmp_path, folds, S))
    assert found.weights == {0: 1}
    assert "no blend of trials is better" in found.sentence


@pytest.mark.parametrize("file", ["absent", "of another trial", "cut", "junk", "not finite"])
def test_trials_whose_scores_are_not_here_are_left_out(
    file: str, trials: list[Trial], folds: tuple[InnerFold, ...], tmp_path: Path
) -> None:
    path = tmp_path / "scores-1.npy"
    if file == "absent":
        path.unlink()
    elif file == "of another trial":
        leave(tmp_path, 1, -SCORES[1], folds)
    elif file == "cut":
        np.save(path, np.load(path)[:-1])
    elif file == "junk":
        path.write_bytes(b"x")
    else:
        np.save(path, np.load(path) * np.float32(np.inf))
    found = blended(trials, [], OutOfFold(tmp_path, folds, S))
    assert 1 not in found.weights
    assert not found.is_taken
