"""The plugins that come with pubench. They use its public names alone, like anybody's plugin."""

from collections.abc import Callable

from pubench import DatasetLoader, Learner, Method, Similarity, hookimpl
from pubench_plugins.datasets.adbench import ADBENCH
from pubench_plugins.datasets.aps import APS, APSPart
from pubench_plugins.datasets.bank import Bank1, Bank2, Bank3
from pubench_plugins.datasets.bank_marketing import BankMarketing
from pubench_plugins.datasets.creditcard import CreditCard
from pubench_plugins.datasets.digits import Digits
from pubench_plugins.learners.catboost import CatBoost
from pubench_plugins.learners.forest import Forest
from pubench_plugins.learners.histgb import HistGB
from pubench_plugins.learners.lightgbm import LightGBM
from pubench_plugins.learners.logistic import Logistic
from pubench_plugins.learners.mlp import MLP
from pubench_plugins.learners.xgboost import XGBoost
from pubench_plugins.methods.bagging import Bagging
from pubench_plugins.methods.elkan import Elkan
from pubench_plugins.methods.elkan_weighted import ElkanWeighted
from pubench_plugins.methods.liu import Liu
from pubench_plugins.methods.naive import Naive
from pubench_plugins.methods.nnpu import NNPU
from pubench_plugins.methods.oracle import Oracle
from pubench_plugins.methods.probtagging import ProbTagging
from pubench_plugins.methods.pu_auc import PUAUC
from pubench_plugins.methods.pu_trees import PUTrees
from pubench_plugins.methods.rank_average import RankAverage
from pubench_plugins.similarities.isolation import Isolation
from pubench_plugins.similarities.kernel import Kernel
from pubench_plugins.similarities.knn import KNN

pubench_api = 1


@hookimpl
def pubench_register_datasets(register: Callable[[type[DatasetLoader]], None]) -> None:
    """Add the paper's data sets, those of the banks as stand-ins, and other public ones."""
    loaders: list[type[DatasetLoader]] = [Bank1, Bank2, Bank3, CreditCard, APS, APSPart, BankMarketing]
    loaders += [Digits, *ADBENCH]
    for loader in loaders:
        register(loader)


@hookimpl
def pubench_register_similarities(register: Callable[[type[Similarity]], None]) -> None:
    """Add the similarities."""
    for similarity in (KNN, Kernel, Isolation):
        register(similarity)


@hookimpl
def pubench_register_learners(register: Callable[[type[Learner]], None]) -> None:
    """Add the base learners."""
    for learner in (XGBoost, LightGBM, CatBoost, HistGB, Forest, Logistic, MLP):
        register(learner)


@hookimpl
def pubench_register_methods(register: Callable[[type[Method]], None]) -> None:
    """Add the PU methods."""
    for method in (
        ProbTagging,
        Naive,
        Oracle,
        Elkan,
        ElkanWeighted,
        Liu,
        Bagging,
        NNPU,
        PUAUC,
        PUTrees,
        RankAverage,
    ):
        register(method)
