"""Rows with PU labels, as a saved model sees them."""

from pathlib import Path

from pubench.data.columns import as_labels
from pubench.data.schema import encode_as
from pubench.data.tables import open_table
from pubench.types import Feature, PUData


def read_labelled(
    path: Path, label: str, positive: str | None, features: tuple[Feature, ...]
) -> tuple[PUData, tuple[str, ...]]:
    """Return the rows of a file with these features and its label, and what is worth knowing of them.

    Raises:
        DataError: one sentence that names the file, column or row at fault.
    """
    columns = open_table(path).read([label, *(feature.name for feature in features)])
    X, notices = encode_as(columns, features)
    return PUData(X, as_labels(columns[label], label, positive)), notices
