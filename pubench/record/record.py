"""A run (`RunSpec`), and its result (`Record`)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from math import isfinite

from pubench.errors import DataError
from pubench.types import Json, Status


@dataclass(frozen=True)
class RunSpec:
    """Everything that decides the result of a run, as plain JSON values; equal specs are the same run.

    Attributes:
        dataset: its name.
        view: what the run sees of it: {"theta_o": 0.5, "rows": None}; theta_o is None where labels were observed.
        method: the method's name.
        configuration: each plugin's name and parameters; see `pubench.configuration.configuration`. Of a tuned run, what
            the search may choose from.
        tuning: the budget of a search, such as {"trials": 30}; empty for a run at a given configuration.
        fold: number of the fold, from 0; of a holdout 0.
        folds: number of folds; of a holdout 1.
        seed: decides folds, labels and training.
    """

    dataset: str
    view: Mapping[str, Json]
    method: str
    configuration: Mapping[str, Json]
    fold: int
    folds: int
    seed: int
    tuning: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the spec as a JSON object."""
        return dict(vars(self))

    @property
    def key(self) -> str:
        """A hash of the content: 32 hex digits, the same on every machine."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class DataFacts:
    """The rows that a run was trained and judged on.

    Attributes:
        hash: of the rows of the data set that were used, and their labels; 32 hex digits.
        rows, features: of the data set.
        train_rows, train_labelled: of the fold.
        test_rows, test_labelled: of the fold.
        stand_in: the data is synthetic and represents other data.
    """

    hash: str
    rows: int
    features: int
    train_rows: int
    train_labelled: int
    test_rows: int
    test_labelled: int
    stand_in: bool = False


@dataclass(frozen=True)
class Record:
    """The result of a run; written once, never changed.

    Attributes:
        spec: what was run.
        status: how it ended; every status but OK has a reason.
        reason: one sentence, empty when status is OK.
        data: its rows; None if they are unknown.
        metrics: name -> finite value: "aul_pu" and "aul_pu_stderr" from PU labels, "auc" and "aul" where truth is known.
        placements: AUL_PU's placement of each labelled test row, in row order: what paired tests and lift curves
            need. Empty unless status is OK.
        seconds: "fit" and "predict", wall clock.
        peak_memory_bytes: of the run's process; None if it is unknown.
        chosen: what fitting or tuning decided.
        origins: kind of plugin -> the package and version it comes from.
        environment: "versions", "hardware", "threads" and what else describes where it ran.
    """

    spec: RunSpec
    status: Status
    reason: str = ""
    data: DataFacts | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    placements: tuple[float, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    peak_memory_bytes: int | None = None
    chosen: Mapping[str, Json] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.status is Status.OK) == bool(self.reason):
            raise DataError("A record states a reason exactly when its status is not 'ok'.")
        if self.status is Status.OK and "aul_pu" not in self.metrics:
            raise DataError("A record of a run that succeeded states its AUL_PU.")
        bad = [name for name, value in self.metrics.items() if not isfinite(value)]
        if bad:
            raise DataError(f"Metric '{bad[0]}' of a record is not finite.")
