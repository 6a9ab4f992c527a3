"""`digits`: small pictures of digits that come with scikit-learn, so nothing is downloaded."""

from collections.abc import Sequence
from pathlib import Path

from pubench import Dataset, DatasetInfo, DatasetLoader, Seed, Table, Truth
from pubench_plugins.datasets.public import thinned_rows

_POSITIVE = 8


class Digits(DatasetLoader):
    """The digit 8 among the other nine, thinned out to 5%."""

    name = "digits"
    info = DatasetInfo(
        title="Digits written by hand, as 8 x 8 pixels; positive: the digit 8, thinned out to 5%",
        rows=1_708,
        features=64,
        positives=85,
        source="UCI Optical Recognition of Handwritten Digits, its test part, as scikit-learn's load_digits gives it",
        licence="CC BY 4.0 as the UCI page says",
        note=(
            "85 of the 174 positives, a fixed draw, and all other rows. optdigits is from the same pictures, with "
            "another digit as the positive one."
        ),
    )

    def load(self, paths: Sequence[Path], rows: int | None, seed: Seed) -> Dataset:  # noqa: ARG002
        """Return the pictures and the truth, always all of them; nothing is observed."""
        from sklearn.datasets import load_digits  # noqa: PLC0415

        X, digit = load_digits(return_X_y=True)
        kept = thinned_rows(digit == _POSITIVE, self.info.positives, self.name)
        return Dataset(Table.from_array(X[kept]), truth=Truth(digit[kept] == _POSITIVE))
