"""DataFrames as tables: their columns in Arrow, which the rest of the room reads."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubench.data.table_file import TableFile, like_texts
from pubench.errors import DataError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow


def frame_table(frame: "pd.DataFrame", name: str) -> TableFile:
    """Return a DataFrame as a table that is read as a Parquet file with the same columns would be.

    Args:
        frame: the table; its index is left out.
        name: what messages call it.
    """
    names = tuple(map(str, frame.columns))

    def load(wanted: Sequence[str]) -> "pyarrow.Table":
        import pyarrow  # noqa: PLC0415 - heavy imports happen when used

        columns = frame.iloc[:, [names.index(one) for one in wanted]]
        return like_texts(pyarrow.table(frame_columns(columns, wanted)))

    return TableFile(Path(name), "frame", names, load)


def frame_columns(frame: "pd.DataFrame", names: Sequence[str]) -> dict[str, "pyarrow.ChunkedArray"]:
    """Return the columns of a DataFrame by these names, in order.

    Raises:
        DataError: there is no row or no column, or a column mixes types.
    """
    if not len(frame) or not names:
        raise DataError(
            f"X has {len(frame)} rows (samples) and {len(names)} columns; at least one of each is needed."
        )
    return {name: _column(name, frame.iloc[:, number]) for number, name in enumerate(names)}


def _column(name: str, values: "pd.Series[Any]") -> "pyarrow.ChunkedArray":
    import pyarrow  # noqa: PLC0415

    try:
        column = pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"Column '{name}' has values of several types, or of a type that cannot be a feature ({error}); make all of "
            "them numbers, texts or dates."
        ) from error
    return column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column])
