"""What importing costs and gives."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import pubench

ROOT = Path(__file__).parents[2]
HEAVY = {
    "xgboost", "lightgbm", "catboost", "pandas", "optuna", "matplotlib", "sklearn", "scipy", "numba", "numpy", "jax",
    "optax",
}  # fmt: skip
PUBLIC = {
    # evaluation without negatives
    "AULComparison", "AULInterval", "LiftCurve", "LiftCurveDisplay", "PairwiseComparison", "PriorBand",
    "SCARDiagnostic", "auc_from_aul", "aul_from_auc", "aul_pu_interval", "aul_pu_score", "aul_pu_scorer",
    "compare_aul", "compare_models", "corrected_auc", "lee_liu_score", "lift_curve", "precision_at", "recall_at",
    "scar_diagnostic", "sensitivity_bound",
    # Step 1 of ProbTagging
    "Embedding", "ExpectedPositivesDisplay", "FittedEmbedding", "KChoice", "PositiveNeighbors", "choose_k",
    "positive_neighbors", "positive_neighbors_of_folds", "positive_neighbors_of_new",
    # the share of positives
    "PriorEstimate", "best_bin_prior", "elkan_prior", "labelling_chance", "prior_in_all", "prior_in_unlabeled",
    # whom to call
    "CallRow", "CallTable", "Calibration", "ReliabilityBin", "reliability", "HiddenPositives", "ProfitCurve", "Range", "Withheld", "call_list", "estimate_hidden",
    "hidden_from_prior", "profit_over_depth",
    # PU data from tables
    "Labelling", "PUView", "draw_view", "holdout", "stratified_folds",
    # trained models
    "SavedModel", "Trained", "load_model", "permutation_importance", "save_model",
    # tuning
    "TuneResult", "tune",
    # evaluation with truth
    "auc", "aul_pn_score",
    # what a plugin imports
    "Affinity", "BoolVector", "Choice", "DataError", "DataFile", "DataSize", "Dataset", "DatasetInfo", "DatasetLoader", "Examples", "Feature",
    "FittedEnsemble", "FittedMethod", "FittedSimilarity", "Float", "FloatVector", "IndexVector", "Int", "Learner", "Method", "Model",
    "NotApplicableError", "PUData", "ParameterError", "Parts", "Prepared", "PubenchError", "Resources", "Scores", "Seed", "Similarity",
    "Table", "Tags", "Takes", "Truth", "content_key", "blas_threads", "hookimpl", "Ensemble", "Json", "Kind", "Related",
    "Trainer", "read_json", "write_json", "open_compressed", "BlendMethod", "BlendMember",
    # scikit-learn classifiers
    "PUClassifier", "ProbTaggingClassifier", "load_classifier",
    # Steps 2 and 3 of ProbTagging
    "Tagging", "member_tags", "train_members", "until_settled",
}  # fmt: skip


def modules() -> list[str]:
    names = []
    for folder in (ROOT, ROOT / "plugins"):
        for package in ("pubench", "pubench_plugins"):
            for path in (folder / package).rglob("*.py"):
                parts = path.relative_to(folder).with_suffix("").parts
                names.append(".".join(parts).removesuffix(".__init__"))
    return sorted(names)


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


ALONE = """
import os, sys, traceback
import click, numpy, rich.live, scipy.optimize, scipy.stats, sklearn.base  # what takes long; ours is what is tried

for module in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            __import__(module)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(module)
"""


def test_each_module_imports_alone() -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE, *modules()], capture_output=True, text=True, check=True
    )
    assert len(modules()) > 200
    assert result.stdout.split() == [], result.stderr


def test_exports_are_exact() -> None:
    assert set(vars(pubench)["__all__"]) == PUBLIC
    assert set(dir(pubench)) >= PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_each_export_is_there_and_documented(name: str) -> None:
    value = getattr(pubench, name)
    assert value.__doc__ or not (inspect.isclass(value) or inspect.isfunction(value))


@pytest.mark.parametrize(("former", "name"), [("Voter", "BlendMember"), ("Blended", "BlendMethod")])
def test_former_names_warn_and_still_work(former: str, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"pubench.{former} is deprecated; use pubench.{name}"):
        value = getattr(pubench, former)
    assert value is getattr(pubench, name)
    assert former not in dir(pubench)


def test_importing_pubench_loads_nothing_heavy() -> None:
    result = run(f"import sys, pubench; print({HEAVY!r} & set(sys.modules))")
    assert result.stdout.strip() == "set()"


@pytest.mark.parametrize("arguments", [["--help"], ["tune", "--help"], ["plugins", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    result = run(
        "import sys\n"
        "from pubench.cli.main import main\n"
        f"main({arguments!r}, standalone_mode=False)\n"
        f"print({HEAVY | {'rich'}!r} & set(sys.modules))"
    )
    assert result.stdout.splitlines()[-1] == "set()", result.stderr


def test_listing_plugins_loads_no_learner_library() -> None:
    result = run(
        "import sys\n"
        "from pubench.cli.main import main\n"
        "main(['plugins', 'list'], standalone_mode=False)\n"
        f"print({HEAVY - {'numpy'}!r} & set(sys.modules))"
    )
    assert result.stdout.splitlines()[-1] == "set()", result.stdout + result.stderr
