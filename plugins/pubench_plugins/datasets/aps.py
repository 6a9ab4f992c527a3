"""`aps` and `aps-part`: trucks in a workshop, some for a failure of their air pressure system."""

import io
import re
from typing import IO

from pubench import DataFile, DatasetInfo
from pubench_plugins.datasets.public import CsvDataset

# The publisher's own name, so that a manual download need not be renamed.
_ARCHIVE = "aps+failure+at+scania+trucks.zip"
_URL = f"https://archive.ics.uci.edu/static/public/421/{_ARCHIVE}"
_SOURCE = "Scania CV AB, APS Failure at Scania Trucks, UCI 421, https://doi.org/10.24432/C51S51"
_LICENCE = "GPL-3.0-or-later as the files say; CC BY 4.0 as the UCI page says"


class _Scania(CsvDataset):
    """A file of the archive: 170 counters and histogram bins, with many missing values."""

    missing = ("na",)
    label = "class"
    positive = "pos"
    negative = "neg"

    def from_header(self, stream: IO[bytes]) -> IO[bytes]:
        """Skip the licence, which stands above the column names in the original files and is absent in some copies."""
        content = stream.read()
        header = re.search(rb"^class,", content, re.MULTILINE)
        return io.BytesIO(content[header.start() if header else 0 :])


class APS(_Scania):
    """The file that the paper used: the test set."""

    name = "aps"
    info = DatasetInfo(
        title="Failed Scania trucks, the test file; positive: the air pressure system failed",
        rows=16_000,
        features=170,
        positives=375,
        source=_SOURCE,
        licence=_LICENCE,
    )
    files = (DataFile((_ARCHIVE, "aps_failure_test_set.csv"), _URL),)
    members = ("aps_failure_test_set.csv",)


class APSPart(_Scania):
    """A part of the training set, which the paper did not use."""

    name = "aps-part"
    info = DatasetInfo(
        title="A part of the training file of Scania trucks; positive: the air pressure system failed",
        rows=9_000,
        features=170,
        positives=173,
        source=_SOURCE,
        licence=_LICENCE,
        note=(
            "The first 9,000 of the training file's 60,000 rows, not the 16,000-row test file that the paper used "
            "(that is aps): results are not comparable with the paper's."
        ),
    )
    files = (DataFile((_ARCHIVE, "aps_failure_training_set.csv", "aps_train_partial_9000rows.csv"), _URL),)
    members = ("aps_failure_training_set.csv",)
    head = 9_000
