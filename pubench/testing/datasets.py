"""What every data set promises, as checks: run `check_dataset`, or the `DATASET_CHECKS` one by one.

    from pubench.testing.datasets import check_dataset
    check_dataset(MyDataset())

Each check raises `PluginError` with the promise that is broken, and does not catch exceptions of the loader.
Nothing is downloaded: of a data set whose files are missing, only the rest is checked.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pubench.api.dataset import Dataset, DatasetLoader
from pubench.data.sources import local_files
from pubench.seeds import Seed
from pubench.testing.checks import PLUGIN_CHECKS, Check, Remark, expect, expect_no_data, expect_untouched

#: Number of rows that is requested; a generator need not make more.
_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class DatasetSubject:
    """A data set to be checked, on the files that it needs where these are on this machine."""

    plugin: DatasetLoader

    @cached_property
    def paths(self) -> list[Path] | None:
        """The paths of its files; None if one is missing."""
        return local_files(self.plugin.files)

    def load(self, seed: int = 0) -> Dataset:
        """Load about as many rows as are requested, or more."""
        return self.plugin.load(self.paths or [], min(_ROWS, self.plugin.info.rows), Seed(seed))

    @cached_property
    def timed(self) -> tuple[Dataset, float]:
        """The data set, loaded with seed 0, and the seconds that took."""
        began = time.perf_counter()
        loaded = self.load()
        return loaded, time.perf_counter() - began

    @property
    def loaded(self) -> Dataset:
        """The data set, loaded with seed 0."""
        return self.timed[0]

    @property
    def absent(self) -> Remark | None:
        """The remark where a file is missing."""
        if self.paths is not None:
            return None
        return Remark(
            f"Its files are missing; fetch them with 'pubench datasets fetch {self.plugin.name}'.",
            declined=True,
        )


def check_dataset(dataset: DatasetLoader) -> None:
    """Run every check.

    Raises:
        PluginError: a promise is broken; the message says which.
    """
    subject = DatasetSubject(dataset)
    for check in DATASET_CHECKS.values():
        check(subject)


def check_info(subject: DatasetSubject) -> None:
    """`info` is complete: title, source, licence, and counts that are possible."""
    info = subject.plugin.info
    for name in ("title", "source", "licence"):
        expect(bool(str(getattr(info, name)).strip()), f"`info` states the {name}.")
    expect(info.features > 0, "`info` counts the features.")
    expect(0 < info.positives < info.rows, "`info` counts rows and positives; there are some of each kind.")


def check_files(subject: DatasetSubject) -> None:
    """Each file has a name, an address, and a checksum if its publisher never changes it."""
    for file in subject.plugin.files:
        expect(bool(file.names) and all(file.names), "A file has a name.")
        expect(
            file.url.startswith(("http://", "https://")), f"{file.names[0]} has an address to fetch it from."
        )
        expect(
            file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256) is not None,
            f"The SHA-256 of {file.names[0]} is 64 hex digits.",
        )


def check_loads(subject: DatasetSubject) -> Remark | None:
    """It loads, with as many features as it says, and rows of both kinds."""
    if subject.absent:
        return subject.absent
    data, info = subject.loaded, subject.plugin.info
    expect(isinstance(data, Dataset), "`load` returns a `Dataset`.")
    expect(
        data.X.n_features == info.features,
        f"As many features are loaded as `info` counts; there are {data.X.n_features}, not {info.features}.",
    )
    expect(0 < data.labels.sum() < data.X.n_rows, "Some rows are positive, or labelled, and some are not.")
    return None


def check_values(subject: DatasetSubject) -> Remark | None:
    """Columns hold what their kind says: codes of categories, flags of 0 and 1."""
    if subject.absent:
        return subject.absent
    X = subject.loaded.X
    for feature, column in zip(X.features, X.values.T, strict=True):
        known = column[~np.isnan(column)]
        if feature.kind in ("categorical", "boolean"):
            codes = 2 if feature.kind == "boolean" else len(feature.categories)
            expect(
                bool(np.isin(known, np.arange(codes)).all()),
                f"'{feature.name}' is {feature.kind}: it holds 0 to {codes - 1}, or is missing.",
            )
    return None


def check_rows(subject: DatasetSubject) -> Remark | None:
    """At least the requested number of rows is loaded, with about the same share of positives."""
    if subject.absent:
        return subject.absent
    data, info = subject.loaded, subject.plugin.info
    requested = min(_ROWS, info.rows)
    expect(
        data.X.n_rows >= 0.9 * requested, f"{requested:,} rows were requested; {data.X.n_rows:,} were loaded."
    )
    expected, found = data.X.n_rows * info.positives / info.rows, int(data.labels.sum())
    expect(
        bool(abs(found - expected) <= 5 * np.sqrt(expected) + 1),
        f"About {expected:.0f} of {data.X.n_rows:,} rows should be positive, as `info` counts them; {found} are.",
    )
    return None


def check_seed(subject: DatasetSubject) -> Remark | None:
    """Equal arguments give equal data, and every seed gives the same features."""
    if subject.absent:
        return subject.absent
    first, again = subject.loaded, subject.load()
    same = (
        first.X.features == again.X.features
        and np.array_equal(first.X.values, again.X.values, equal_nan=True)
        and np.array_equal(first.labels, again.labels)
    )
    expect(same, "Equal arguments give equal data; all chance comes from `seed`.")
    if not subject.plugin.files:  # those read the same file again
        expect(subject.load(seed=1).X.features == first.X.features, "Features are the same with every seed.")
    return None


def check_environment(subject: DatasetSubject) -> Remark | None:
    """Global random state, the environment and the loader itself stay as they were."""
    if subject.absent:
        return subject.absent
    _ = subject.loaded  # libraries are loaded
    with expect_untouched():
        subject.load()
    expect_no_data(subject.plugin)
    return None


def check_speed(subject: DatasetSubject) -> Remark:
    """How long loading takes; a figure, not a promise."""
    if subject.absent:
        return subject.absent
    loaded, seconds = subject.timed
    return Remark(f"{loaded.X.n_rows:,} rows are loaded in {seconds:.2f} s.")


#: Every check, by the name of what it checks.
DATASET_CHECKS: Mapping[str, Check[DatasetSubject]] = {
    **PLUGIN_CHECKS,
    "info": check_info,
    "file list": check_files,
    "loads": check_loads,
    "values": check_values,
    "rows": check_rows,
    "seed": check_seed,
    "environment": check_environment,
    "speed": check_speed,
}
