"""Trains one system on the rows of a folder and scores others; run by `benchmarks/peers.py` in that system's environment.

    python peer_systems.py FOLDER

The folder has `task.json` (the system, seconds, threads, seed, and what the columns are), `train.npz` (X, and s: 1 for a
labelled row) and `test.npz` (X). `scores.npy` and `answer.json` are written. Only the standard library and NumPy are
imported before the system's own packages, and no true label is in the folder.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """What a system is given.

    Attributes:
        folder: where it may write.
        system: its name in `SYSTEMS`.
        seconds: the budget of a system that has one.
        threads: it may use.
        seed: of its randomness.
        categories: column -> the texts of its codes, for categorical columns.
        X, s: rows to train on, and which are labelled (1).
        X_test: rows to score.
    """

    folder: Path
    system: str
    seconds: float
    threads: int
    seed: int
    categories: dict[int, list[str]]
    X: Matrix
    s: npt.NDArray[np.int64]
    X_test: Matrix

    @classmethod
    def read(cls, folder: Path) -> "Task":
        """Return the task of a folder."""
        task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        with np.load(folder / "train.npz", allow_pickle=False) as train:
            X, s = train["X"].astype(np.float64), train["s"].astype(np.int64)
        with np.load(folder / "test.npz", allow_pickle=False) as test:
            X_test = test["X"].astype(np.float64)
        categories = {int(column): texts for column, texts in task["categories"].items()}
        return cls(
            folder, task["system"], task["seconds"], task["threads"], task["seed"], categories, X, s, X_test
        )

    @property
    def names(self) -> list[str]:
        """Names of columns that no library objects to."""
        return [f"f{column}" for column in range(self.X.shape[1])]

    def frames(self) -> tuple[Any, Any]:
        """Return the rows to train on and to score as pandas tables, categorical columns as such."""
        import pandas as pd  # noqa: PLC0415

        def frame(X: Matrix) -> Any:
            columns: dict[str, Any] = {}
            for column, name in enumerate(self.names):
                texts = self.categories.get(column)
                if texts is None:
                    columns[name] = X[:, column]
                else:
                    codes = np.where(np.isnan(X[:, column]), -1, X[:, column]).astype(np.int64)
                    columns[name] = pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype=object))
            return pd.DataFrame(columns)

        return frame(self.X), frame(self.X_test)

    def matrices(self) -> tuple[Matrix, Matrix]:
        """Return both as numbers without gaps: a column per category, and a training median for a missing value."""
        blocks: list[tuple[Matrix, Matrix]] = []
        for column in range(self.X.shape[1]):
            known, asked = self.X[:, column], self.X_test[:, column]
            texts = self.categories.get(column)
            if texts is None:
                present = known[~np.isnan(known)]
                fill = float(np.median(present)) if len(present) else 0.0
                pair = tuple(np.where(np.isnan(part), fill, part)[:, None] for part in (known, asked))
            else:
                codes = np.arange(len(texts))
                pair = tuple((part[:, None] == codes).astype(np.float64) for part in (known, asked))
            blocks.append((pair[0], pair[1]))
        return np.hstack([block[0] for block in blocks]), np.hstack([block[1] for block in blocks])


def tune(task: Task) -> Scores:
    """The command line as anybody would use it, reading and writing Parquet."""
    import pandas as pd  # noqa: PLC0415

    known, asked = task.frames()
    train, test, out, scores = (
        task.folder / name for name in ("train.parquet", "test.parquet", "run", "scores.parquet")
    )
    known.assign(s=task.s).to_parquet(train)
    asked.to_parquet(test)
    threads = ["--threads", str(task.threads)]
    budget = ["--timeout", f"{task.seconds:g}s", "--seed", str(task.seed), *threads]
    _pubench("tune", "--dataset", str(train), "--label", "s", *budget, "--out", str(out), "--quiet")
    _pubench("predict", str(out), str(test), "--out", str(scores), *threads)
    return np.asarray(pd.read_parquet(scores)["score"], dtype=np.float64)


def default(task: Task) -> Scores:
    """Pubench's classifier at its defaults."""
    from pubench import ProbTaggingClassifier  # noqa: PLC0415

    known, asked = task.frames()
    model = ProbTaggingClassifier(n_jobs=task.threads, random_state=task.seed).fit(known, task.s)
    return _of_positives(model.predict_proba(asked))


def lightgbm(task: Task) -> Scores:
    """LightGBM's class as it comes."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415

    known, asked = task.frames()
    model = LGBMClassifier(n_jobs=task.threads, random_state=task.seed, verbose=-1).fit(known, task.s)
    return _of_positives(model.predict_proba(asked))


def catboost(task: Task) -> Scores:
    """CatBoost's class as it comes."""
    from catboost import CatBoostClassifier  # noqa: PLC0415

    known, asked = task.frames()
    named = [task.names[column] for column in task.categories]
    for frame in (known, asked):
        frame[named] = frame[named].astype(object).fillna("missing")
    model = CatBoostClassifier(
        thread_count=task.threads,
        random_seed=task.seed,
        silent=True,
        allow_writing_files=False,
        cat_features=named,
    )
    return _of_positives(model.fit(known, task.s).predict_proba(asked))


def autogluon(task: Task) -> Scores:
    """AutoGluon's best quality; without XGBoost where that cannot be loaded.

    If its trial of stacking, a quarter of the time, is too short for one model, it cannot go on without ray; then it gets
    the rest of the time without that trial, as its own message advises.
    """
    from autogluon.tabular import TabularPredictor  # noqa: PLC0415

    known, asked = task.frames()
    end = time.perf_counter() + task.seconds

    def fitted(name: str, **options: Any) -> Any:
        predictor = TabularPredictor(
            label="s", problem_type="binary", eval_metric="roc_auc", path=str(task.folder / name), verbosity=1
        )
        return predictor.fit(
            known.assign(s=task.s),
            presets="best_quality",
            time_limit=max(1.0, end - time.perf_counter()),
            num_cpus=task.threads,
            excluded_model_types=[] if _loads_xgboost() else ["XGB"],
            **options,
        )

    try:
        predictor = fitted("models")
    except AssertionError as error:
        if "already fit" not in str(error):
            raise
        predictor = fitted("models-again", dynamic_stacking=False, num_stack_levels=1)
    return np.asarray(predictor.predict_proba(asked)[1], dtype=np.float64)


def flaml(task: Task) -> Scores:
    """FLAML's search for the greatest AUC."""
    from flaml import AutoML  # noqa: PLC0415

    known, asked = task.frames()
    search = AutoML()
    search.fit(
        X_train=known,
        y_train=task.s,
        task="classification",
        metric="roc_auc",
        time_budget=task.seconds,
        n_jobs=task.threads,
        seed=task.seed,
        verbose=0,
    )
    return _of_positives(search.predict_proba(asked))


def pulearn(task: Task) -> Scores:
    """Bagging of decision trees, pulearn's default."""
    from pulearn import BaggingPuClassifier  # noqa: PLC0415

    known, asked = task.matrices()
    model = BaggingPuClassifier(n_jobs=task.threads, random_state=task.seed).fit(known, task.s)
    return _of_positives(model.predict_proba(asked))


def pu_toolbox(task: Task) -> Scores:
    """The pipeline that estimates the prior and recommends a method."""
    from pu_toolbox import PUPipeline  # noqa: PLC0415

    known, asked = task.matrices()
    model = PUPipeline(random_state=task.seed).fit_evaluate(known, task.s).final_model
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(asked), dtype=np.float64)
    return _of_positives(model.predict_proba(asked))


#: Name -> the function that trains and scores, and the package whose version is recorded.
SYSTEMS: dict[str, tuple[Callable[[Task], Scores], str]] = {
    "tune": (tune, "pubench"),
    "default": (default, "pubench"),
    "autogluon": (autogluon, "autogluon.tabular"),
    "flaml": (flaml, "flaml"),
    "lightgbm": (lightgbm, "lightgbm"),
    "catboost": (catboost, "catboost"),
    "pulearn": (pulearn, "pulearn"),
    "pu-toolbox": (pu_toolbox, "pu-toolbox"),
}


def _pubench(*arguments: str) -> None:
    """Run the command; if it fails, what it printed last is the reason."""
    program = [sys.executable, "-c", "from pubench.cli.main import main; main()"]
    code = subprocess.run([*program, *arguments], check=False).returncode
    if code:
        sys.exit(code)


def _of_positives(probabilities: Any) -> Scores:
    return np.asarray(probabilities, dtype=np.float64)[:, 1]


def _loads_xgboost() -> bool:
    try:
        import xgboost  # noqa: F401, PLC0415
    except Exception:  # noqa: BLE001 - a library that is there and cannot be loaded raises its own errors
        return False
    return True


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def main() -> None:
    """Do the task of the folder that the command line names."""
    task = Task.read(Path(sys.argv[1]).resolve())
    os.chdir(task.folder)  # for files that libraries leave where they are
    run, package = SYSTEMS[task.system]
    start = time.perf_counter()
    scores = run(task)
    answer = {"seconds": time.perf_counter() - start, "version": _version(package)}
    np.save(task.folder / "scores.npy", scores, allow_pickle=False)
    (task.folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
