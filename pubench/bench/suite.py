"""A suite: data sets, methods, how they are judged, and the values in the paper; see `pubench.bench.suite_file`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pubench.api.plugin import Kind
from pubench.configuration.configuration import DEFAULTS

METRICS = ("aul_pu", "auc", "aul")
FIGURES = ("sweep", "expected-positives")

#: Kind of plugin -> name -> parameters.
Parameters = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class SuiteLimits:
    """What a job may use, unless the command line sets other limits.

    Attributes:
        minutes: wall clock; None: an hour.
        memory_gib: of the job's processes; None: its share of the free memory.
    """

    minutes: float | None = None
    memory_gib: float | None = None


@dataclass(frozen=True)
class SuiteBlock:
    """A block of jobs: all combinations of what it lists.

    Attributes:
        datasets: names, of registered data sets or of the user's.
        methods: names; the jobs of a plugin that is not installed fail.
        optional_methods: names; plugins that are not installed are left out.
        similarities, learners: names, for methods that use one.
        theta_o: shares of positives to label; empty where labels were observed.
        labelling: further properties of the labelling: mechanism, direction, feature, sampling.
        rows: number of rows to draw, approximately; None: all.
        folds: number of folds, all of which are run.
        seeds: each decides folds, labels and training.
        trials: number of trials for tuning each method on the training fold; None: no tuning.
        parameters: of plugins; with `trials`, the ranges to search.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    optional_methods: tuple[str, ...] = ()
    similarities: tuple[str, ...] = (DEFAULTS[Kind.SIMILARITY],)
    learners: tuple[str, ...] = (DEFAULTS[Kind.LEARNER],)
    theta_o: tuple[float, ...] = ()
    labelling: Mapping[str, str] = field(default_factory=dict)
    rows: int | None = None
    folds: int = 3
    seeds: tuple[int, ...] = (0,)
    trials: int | None = None
    parameters: Parameters = field(default_factory=dict)


@dataclass(frozen=True)
class SuiteFigure:
    """A figure to draw from the records.

    Attributes:
        name: of its files.
        kind: "sweep": a metric of each method over 1 - theta_O. "expected-positives": E_k on a training fold.
        dataset: name of the data set.
        metric: of a sweep.
        title: of the figure.
    """

    name: str
    kind: str
    dataset: str
    metric: str = "auc"
    title: str = ""


@dataclass(frozen=True)
class Suite:
    """A suite, checked.

    Attributes:
        name: the file's, without its suffix.
        title: one line.
        note: what readers of its results must know, on one line; may be empty.
        limits: of each job.
        missing_data: "skip" leaves out data sets that are not here; with "fail" their jobs fail.
        metrics: columns of the tables.
        jobs: blocks of jobs.
        figures: to draw.
        paper: data set -> method -> metric -> the value in the paper.
        text: the content of the file.
    """

    name: str
    title: str
    jobs: tuple[SuiteBlock, ...]
    note: str = ""
    limits: SuiteLimits = field(default_factory=SuiteLimits)
    missing_data: str = "fail"
    metrics: tuple[str, ...] = METRICS
    figures: tuple[SuiteFigure, ...] = ()
    paper: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    text: str = ""
