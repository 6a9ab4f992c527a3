"""What every data set promises, as checks: run `check_dataset`, or the `DATASET_CHECKS` one by one.

    from pubench.testing.datasets import check_dataset
    check_dataset(MyDataset())

Each check raises `PluginError` with the promise that is broken, and lets through whatever the loader itself raises.
Nothing is downloaded: a data set whose files are not here is checked as far as that goes.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pubench.data.sources import local_files
from pubench.dataset_api import Dataset, DatasetLoader
from pubench.seeds import Seed
from pubench.testing.plugins import PLUGIN_CHECKS, expect_no_data
from pubench.testing.promises import Remark, expect
from pubench.testing.running import Check
from pubench.testing.surroundings import expect_untouched

#: So many rows are wished for; a generator may spare itself the others.
_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class DatasetSubject:
    """A data set to be checked, on the files that it needs where these are on this machine."""

    plugin: DatasetLoader

    @cached_property
    def paths(self) -> list[Path] | None:
        """The places of its files; None if one is not here."""
        return local_files(self.plugin.files)

    def load(self, seed: int = 0) -> Dataset:
        """Load about so many rows as are wished for, or more."""
        return self.plugin.load(self.paths or [], min(_ROWS, self.plugin.info.rows), Seed(seed))

    @cached_property
    def timed(self) -> tuple[Dataset, float]:
        """The data set, loaded with seed 0, and how many seconds that took."""
        began = time.perf_counter()
        loaded = self.load()
        return loaded, time.perf_counter() - began

    @property
    def loaded(self) -> Dataset:
        """The data set, loaded with seed 0."""
        return self.timed[0]

    @property
    def absent(self) -> Remark | None:
        """What is said where a file is not here."""
        if self.paths is not None:
            return None
        return Remark(
            f"Its files are not here; bring them with 'pubench datasets fetch {self.plugin.name}'.",
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
    """What is known beforehand is complete: title, source, licence, and counts that can be."""
    info = subject.plugin.info
    for name in ("title", "source", "licence"):
        expect(bool(str(getattr(info, name)).strip()), f"`info` states the {name}.")
    expect(info.features > 0, "`info` counts the features.")
    expect(0 < info.positives < info.rows, "`info` counts rows and positives; there are some of each kind.")


def check_files(subject: DatasetSubject) -> None:
    """Each file has a name, an address, and a checksum if its publisher keeps it as it is."""
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
    """As many rows come as were wished for, or more, with about the same share of positives."""
    if subject.absent:
        return subject.absent
    data, info = subject.loaded, subject.plugin.info
    wanted = min(_ROWS, info.rows)
    expect(data.X.n_rows >= 0.9 * wanted, f"{wanted:,} rows were wished for; {data.X.n_rows:,} came.")
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


def check_surroundings(subject: DatasetSubject) -> Remark | None:
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
    "surroundings": check_surroundings,
    "speed": check_speed,
}
