"""What the page shows, as values; see `pubench.reporting.gathering` for how they are come by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from pubench.metrics.scar import SCARDiagnostic
from pubench.neighbors.selection import KChoice
from pubench.tuning.run import Found
from pubench.types import BoolVector


@dataclass(frozen=True)
class Subject:
    """Which data set it is.

    Attributes:
        name: what it is called.
        title: one line that says what its rows and positives are; empty for a file.
        stand_in: it is synthetic and stands for data that is not public.
        note: what a reader of its results has to know; empty when there is nothing.
        source: where it comes from; empty for a file.
    """

    name: str
    title: str = ""
    stand_in: bool = False
    note: str = ""
    source: str = ""


@dataclass(frozen=True)
class Provenance:
    """What it takes to do it again.

    Attributes:
        day: on which the run ended.
        command: what was typed, word by word; addresses in it are shown without what may be secret.
        versions: of Python and the libraries, by name.
        machine: in a few words.
        out: the run's folder.
        configuration: the tuned one as TOML.
    """

    day: date
    command: tuple[str, ...]
    versions: Mapping[str, str]
    machine: str
    out: Path
    configuration: str


@dataclass(frozen=True)
class Facts:
    """The data in numbers.

    Attributes:
        rows, labelled: of all.
        searched, searched_labelled: of those that the search saw.
        kinds: how many features there are of each kind.
        missing: share of values.
        incomplete: how many features have missing values.
    """

    rows: int
    labelled: int
    searched: int
    searched_labelled: int
    kinds: Mapping[str, int]
    missing: float
    incomplete: int


@dataclass(frozen=True, eq=False)
class Neighbours:
    """E_k of a model whose similarity counts neighbours.

    Attributes:
        owner: the contender whose similarity it is.
        k: how many neighbours count.
        given: k was given; else it was read off the curve.
        choice: the curve, and the k that the rule reads off it.
    """

    owner: str
    k: int
    given: bool
    choice: KChoice


@dataclass(frozen=True, eq=False)
class Report:
    """Everything on the page.

    Attributes:
        subject: the data set.
        provenance: how it came about.
        facts: of the data.
        found: of the run.
        s: which rows of the holdout are labelled.
        features: name -> importance in the tuned model; empty where it does not know.
        parameters: name -> share of what parameters matter; empty where trials are too few to say.
        neighbours: None where no similarity counts neighbours.
        scar: whether labelling looks random; None where it was not asked.
        notices: a sentence each.
    """

    subject: Subject
    provenance: Provenance
    facts: Facts
    found: Found
    s: BoolVector
    features: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    neighbours: Neighbours | None = None
    scar: SCARDiagnostic | None = None
    notices: tuple[str, ...] = ()
