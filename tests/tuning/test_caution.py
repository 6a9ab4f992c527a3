"""When the best trial of a search is taken, and when the default is kept."""

from pathlib import Path

import numpy as np
import pytest

from pubench.plugin_api import Kind
from pubench.registry import Registry
from pubench.saving.configuration import Named, configure
from pubench.seeds import Seed
from pubench.tuning.caution import Caution, weigh
from pubench.tuning.inner import InnerFold, Plan, inner_folds
from pubench.tuning.out_of_fold import OutOfFold
from pubench.tuning.selection import mean_value
from pubench.tuning.study import Trial
from pubench.types import Status

ROWS = 1200


def searched(
    edges: list[float], registry: Registry, folder: Path, seed: int
) -> tuple[list[Trial], OutOfFold]:
    """Return trials that see the positives that much more clearly than noise, and leave their scores."""
    generator = np.random.default_rng(seed)
    positive = generator.random(ROWS) < 0.2
    s = positive & (generator.random(ROWS) < 0.8)
    folds: tuple[InnerFold, ...] = inner_folds(s, Plan(), Seed(0))
    out_of_fold, trials = OutOfFold(folder, folds, s), []
    shared = generator.normal(size=ROWS)
    for number, edge in enumerate(edges):
        scores = (edge * positive + shared + 0.5 * generator.normal(size=ROWS)).astype(np.float32)
        left = np.concatenate([scores[fold.test] for fold in folds])
        np.save(folder / f"scores-{number}.npy", left)
        value = mean_value(out_of_fold.ranked([left]), (1,))
        configuration = configure({Kind.METHOD: Named("toy")}, registry)
        placed = tuple(np.zeros(int(s[fold.test].sum())) for fold in folds)
        trials.append(Trial(number, configuration, {}, Status.OK, value=value, placements=placed))
    return trials, out_of_fold


def judged(edges: list[float], registry: Registry, folder: Path, seed: int = 0) -> Caution:
    trials, out_of_fold = searched(edges, registry, folder, seed)
    return weigh(out_of_fold.drafts(trials), trials[0], out_of_fold)


def test_a_trial_that_sees_more_is_taken(registry: Registry, tmp_path: Path) -> None:
    for seed in range(10):
        found = judged([1.0, 0.5, 1.6, 0.8], registry, tmp_path, seed)
        assert not found.keeps_default
        assert found.gain is not None
        assert "The default is left" in found.sentence
        assert found.gain.figures in found.sentence


def test_the_luckiest_of_equals_is_seldom_taken(registry: Registry, tmp_path: Path) -> None:
    kept = [judged([1.0] * 10, registry, tmp_path, seed).keeps_default for seed in range(40)]
    assert np.mean(kept) > 0.7


def test_the_default_is_kept_where_trials_are_worse(registry: Registry, tmp_path: Path) -> None:
    for seed in range(10):
        found = judged([1.6, 1.0, 1.0, 1.0], registry, tmp_path, seed)
        assert found.keeps_default
        assert "The default is kept" in found.sentence


@pytest.mark.parametrize("missing", ["default", "its scores", "all others"])
def test_where_nothing_is_known_nothing_is_kept(missing: str, registry: Registry, tmp_path: Path) -> None:
    trials, out_of_fold = searched([1.6, 1.0, 1.0], registry, tmp_path, 0)
    if missing == "its scores":
        (tmp_path / "scores-0.npy").unlink()
    found = weigh(
        out_of_fold.drafts(trials[:1] if missing == "all others" else trials),
        None if missing == "default" else trials[0],
        out_of_fold,
    )
    assert not found.keeps_default
    assert found.sentence == ""
