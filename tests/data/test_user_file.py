"""The user's own table: its features and labels, the notices, and the errors for a bad one."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather

from pubench.data.column_types import read_table
from pubench.data.user_file import FileData, FileSpec, read_file
from pubench.errors import DataError

TEXT = "id,bought,a,where\n7,1,0.5,Ulm\n8,0,,Bonn\n9,0,-3,Ulm\n"


def write(folder: Path, text: str | bytes, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def column(values: list[Any], *, name: str = "x") -> str:
    """Return a table of a feature and another one, in which the first row is labelled."""
    rows = (f"{1 if i == 0 else 0},{value},{i % 3}" for i, value in enumerate(values))
    return f"bought,{name},z\n" + "\n".join(rows) + "\n"


def matrix(data: FileData) -> npt.NDArray[Any]:
    return data.dataset.X.values  # noqa: PD011 - of a Table, not of pandas


def decoded(data: FileData, name: str) -> list[Any]:
    """Return a feature as it was in the file: categories as text, missing as None."""
    table = data.dataset.X
    place = [feature.name for feature in table.features].index(name)
    values = [None if math.isnan(value) else float(value) for value in matrix(data)[:, place]]
    categories = table.features[place].categories
    return [categories[int(v)] if categories and v is not None else v for v in values]


def test_features_labels_and_ids(tmp_path: Path) -> None:
    data = read_file(FileSpec(write(tmp_path, TEXT), "bought", id="id"))
    table = data.dataset.X
    assert [(f.name, f.kind, f.categories) for f in table.features] == [
        ("a", "numeric", ()),
        ("where", "categorical", ("Bonn", "Ulm")),
    ]
    np.testing.assert_array_equal(matrix(data), [[0.5, 1], [np.nan, 0], [-3, 1]])
    assert matrix(data).flags.c_contiguous
    assert data.dataset.observed is not None
    assert data.dataset.observed.tolist() == [True, False, False]
    assert data.dataset.truth is None
    assert data.ids is not None
    assert data.ids.tolist() == [7, 8, 9]
    assert data.notices == ()


def test_columns_can_be_dropped_and_the_positive_value_named(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    data = read_file(FileSpec(path, "where", positive="Bonn", drop=("id", "bought")))
    assert [f.name for f in data.dataset.X.features] == ["a"]
    assert data.dataset.observed is not None
    assert data.dataset.observed.tolist() == [False, True, False]
    assert data.ids is None


def test_features_without_a_label(tmp_path: Path) -> None:
    table, notices = read_table(write(tmp_path, TEXT), columns=["where", "a"])
    assert [f.name for f in table.features] == ["where", "a"]
    np.testing.assert_array_equal(table.values, [[1, 0.5], [0, np.nan], [1, -3]])
    assert notices == ()
    assert read_table(tmp_path / "f.csv")[0].n_features == 4


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_quotes_separators_newlines_and_names(separator: str, tmp_path: Path) -> None:
    rows = [
        ["bought", ' "the score, raw"', "a;b|c", ""],
        ["1", "2", '"x\r\n""y"""', "5"],
        ["0", "3", '" , ;"', "6"],
    ]
    text = "\ufeff\r\n" + "".join(separator.join(_quoted(row)) + "\r\n\r\n" for row in rows)
    data = read_file(FileSpec(write(tmp_path, text), "bought"))
    assert [f.name for f in data.dataset.X.features] == ["the score, raw", "a;b|c", "column 4"]
    assert decoded(data, "a;b|c") == ['x\r\n"y"', " , ;"]
    assert decoded(data, "column 4") == [5, 6]


def _quoted(fields: list[str]) -> list[str]:
    return [field.strip() if '"' in field else f'"{field}"' for field in fields]


@pytest.mark.parametrize(
    "missing", ["", "na", "NA", "N/A", "?", "NULL", "null", "nan", "NaN", "None", r"\N", '""']
)
def test_missing_values_stay_missing(missing: str, tmp_path: Path) -> None:
    text = f"bought,number,text,flag,day\n1,{','.join([missing] * 4)}\n0,2,x,true,2020-01-02\n0,3,y,false,2020-01-03\n"
    data = read_file(FileSpec(write(tmp_path, text), "bought"))
    assert [f.kind for f in data.dataset.X.features] == ["numeric", "categorical", "boolean", "date"]
    assert decoded(data, "number") == [None, 2, 3]
    assert decoded(data, "text") == [None, "x", "y"]
    assert decoded(data, "flag") == [None, 1, 0]
    assert decoded(data, "day") == [None, 18263, 18264]


def test_values_late_in_a_long_file_count(tmp_path: Path) -> None:
    """Arrow reads a MiB at a time, and the kind of a column can turn in any of them."""
    rows = 60_000
    numbers = [str(i % 90) for i in range(rows)]
    late = [*numbers[:-1], "0.5"]
    odd = [*numbers[:-1], "none yet"]
    cells = zip(numbers, late, odd, strict=True)
    body = "".join(
        f'{1 if i < 9 else 0},{n},{x},{o},"two\nlines, {i % 3}"\n' for i, (n, x, o) in enumerate(cells)
    )
    data = read_file(FileSpec(write(tmp_path, f"bought,a,late,odd,text\n{body}"), "bought"))
    assert matrix(data).shape == (rows, 4)
    assert [f.kind for f in data.dataset.X.features] == ["numeric", "numeric", "categorical", "categorical"]
    assert decoded(data, "late")[-2:] == [float(numbers[-2]), 0.5]
    assert decoded(data, "text")[-1] == f"two\nlines, {(rows - 1) % 3}"
    assert len(data.notices) == 1
    assert (
        "because of 'none yet' in row 60000, although 59999 of its 60000 values are numbers"
        in data.notices[0]
    )


def test_dates_and_times_become_days(tmp_path: Path) -> None:
    text = "bought,day,moment,clock\n1,1970-01-02,1970-01-01 12:00:00,06:00\n0,1969-12-31,2000-01-01 00:00:00,12:00\n"
    data = read_file(FileSpec(write(tmp_path, text), "bought"))
    np.testing.assert_array_equal(matrix(data), [[1, 0.5, 0.25], [-1, 10957, 0.5]])
    assert [f.kind for f in data.dataset.X.features] == ["date", "date", "numeric"]
    assert "Dates became days since 1970-01-01: 'day', 'moment'." in data.notices
    assert "Times became days: 'clock'." in data.notices


def test_types_of_arrow(tmp_path: Path) -> None:
    table = pa.table(
        {
            "bought": [True, False, False, False],
            "small": pa.array([1, 2, 2, None], pa.int8()),
            "money": pa.array([1, 2, 2, None], pa.decimal128(9, 2)),
            "half": pa.array(np.array([1, 2, 2, np.nan], np.float16)),
            "flag": [True, True, False, None],
            "day": pa.array([0, 86_400_000, 0, None], pa.date64()),
            "zone": pa.array([0, 864 * 10**11, 0, None], pa.timestamp("ns", "Europe/Berlin")),
            "span": pa.array([86_400, 43_200, 0, None], pa.duration("s")),
            "view": pa.array(["b", "a", "a", None], pa.string_view()),
            "grade": pa.array([3, 10, 10, None]).dictionary_encode(),
        }
    )
    feather.write_feather(table, tmp_path / "f.feather", chunksize=3)
    data = read_file(FileSpec(tmp_path / "f.feather", "bought"))
    kinds = {f.name: f.kind for f in data.dataset.X.features}
    assert [name for name, kind in kinds.items() if kind == "categorical"] == ["view", "grade"]
    assert kinds["flag"] == "boolean"
    assert decoded(data, "money") == decoded(data, "half") == decoded(data, "small") == [1, 2, 2, None]
    assert decoded(data, "flag") == [1, 1, 0, None]
    assert decoded(data, "day") == [0, 1, 0, None]
    assert decoded(data, "zone") == [0, 1, 0, None]
    assert decoded(data, "span") == [1, 0.5, 0, None]
    assert decoded(data, "view") == ["b", "a", "a", None]
    assert decoded(data, "grade") == ["3", "10", "10", None]
    assert matrix(data).shape == (4, 9)


@pytest.mark.parametrize(
    ("extra", "dtype"),
    [
        ([], np.float32),
        (["text"], np.float32),
        (["flag"], np.float32),
        (["whole"], np.float64),
        (["long"], np.float64),
        (["moment"], np.float64),
    ],
)
def test_a_table_of_float32_stays_so(extra: list[str], dtype: type, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "bought": [1, 0],
            "short": np.array([0.1, np.nan], np.float32),
            "text": ["a", "b"],
            "flag": [True, False],
            "whole": [1, 2],
            "long": [0.1, 0.2],
            "moment": pd.to_datetime(["2020-01-01", "2020-01-02"]),
        }
    )
    frame[["bought", "short", *extra]].to_parquet(tmp_path / "f.parquet")
    assert matrix(read_file(FileSpec(tmp_path / "f.parquet", "bought"))).dtype == dtype


def test_npz(tmp_path: Path) -> None:
    X = np.array([[1.0, np.nan], [3, 4], [5, 6]])
    np.savez_compressed(tmp_path / "f.npz", X=X, y=[0, 1, 0], other=[1, 0, 0], number=[5, 6, 7])
    spec = FileSpec(tmp_path / "f.npz", None, drop=("other",), id="number")
    data = read_file(spec)
    np.testing.assert_array_equal(matrix(data), X)
    assert [f.name for f in data.dataset.X.features] == ["x0", "x1"]
    assert data.dataset.observed is not None
    assert data.dataset.observed.tolist() == [False, True, False]
    assert data.ids is not None
    assert data.ids.tolist() == [5, 6, 7]
    other = read_file(FileSpec(tmp_path / "f.npz", "other", drop=("y", "x0", "number")))
    np.testing.assert_array_equal(matrix(other), X[:, 1:])


def test_npz_of_float32_of_another_byte_order(tmp_path: Path) -> None:
    X = np.arange(6, dtype=">f4").reshape(3, 2)
    np.savez(tmp_path / "f.npz", X=np.asfortranarray(X), y=np.array([0.0, 1, 0]))
    values = matrix(read_file(FileSpec(tmp_path / "f.npz", None)))
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, X)


# What is pointed out ------------------------------------------------------------------------------------------------

NOTICES: dict[str, tuple[str, str]] = {
    "constant": (column(["5"] * 3), "The same in every row, so of no use to a model: 'x'."),
    "constant text": (column(["u"] * 3), "The same in every row, so of no use to a model: 'x'."),
    "empty": (column([""] * 3), "Left out because no row has a value: 'x'."),
    "counting rows": (
        column([4, 3, 2, 1, 5, 6, 9, 8, 7, 10], name="the id"),
        (
            "Column 'the id' looks like an identifier, with a value of its own in each row; set it aside with "
            "--id 'the id' or drop it with --drop 'the id'."
        ),
    ),
    "text of its own": (column([f"C-{i}" for i in range(12)]), "Column 'x' looks like an identifier"),
    "large numbers": (
        column([str(7 * i * i + 10**9) for i in range(10_000)]),
        "Column 'x' looks like an identifier",
    ),
    "the label": (column([1, 0, 0, 0]), "Column 'x' looks like the label itself; drop it with --drop x."),
    "not the label": (column([0, 1, 1, 1]), "Column 'x' looks like the label itself"),
    "the label in words": (column(["yes", "no", "no", "no"]), "Column 'x' looks like the label itself"),
    "the label in blanks": (column(["", "no", "no", "no"]), "Column 'x' looks like the label itself"),
    "only for positives": (column(["2020-01-01", "", "", ""]), "Column 'x' looks like the label itself"),
    "only for others": (column(["", 3, 1, 2]), "Column 'x' looks like the label itself"),
    "an odd value": (
        column([*["1.5"] * 20, "unknown", "unknown"]),
        "Column 'x' is taken as categories because of 'unknown' in row 21, although 20 of its 22 values are numbers; ",
    ),
    "dates as written in Germany": (
        column(["31.12.2020", "1.2.2021"] * 2),
        "Column 'x' is taken as categories though it looks like dates ('31.12.2020'); write them as 2024-12-31",
    ),
}


@pytest.mark.parametrize("case", sorted(NOTICES))
def test_each_notice_is_given_once(case: str, tmp_path: Path) -> None:
    text, sentence = NOTICES[case]
    notices = read_file(FileSpec(write(tmp_path, text), "bought")).notices
    assert [notice for notice in notices if notice.startswith(sentence)], notices
    assert len(notices) <= 2
    assert not any("\n" in notice for notice in notices)


FINE: dict[str, list[Any]] = {
    "flags": ["0", "1"] * 10,
    "amounts": [str(i * i) for i in range(20)],
    "few rows": [1, 2, 3, 4],
    "few values": ["u", "v"] * 10,
    "half numbers": ["1", "u"] * 10,
    "one value and blanks": ["", "5", "", "5"],
    "missing at times": ["", "1", "2", "", "3"],
    "codes with commas": ["1,5", "a"] * 5,
}


@pytest.mark.parametrize("case", sorted(FINE))
def test_a_good_column_gives_no_notice(case: str, tmp_path: Path) -> None:
    text = column([f'"{value}"' for value in FINE[case]])
    assert read_file(FileSpec(write(tmp_path, text), "bought")).notices == ()


def test_many_columns_share_a_sentence(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(13)]
    text = f"bought,a,{','.join(names)}\n" + "".join(f"{i},{i * i},{'0,' * 12}0\n" for i in (1, 0, 0, 0))
    text = text.replace("0,0,0", "0,5,0", 1)
    constant = read_file(FileSpec(write(tmp_path, text), "bought")).notices[-1]
    assert constant.startswith("The same in every row, so of no use to a model: 'c")
    assert constant.endswith("more.")


def test_numbers_stored_as_text_give_a_notice(tmp_path: Path) -> None:
    pd.DataFrame({"bought": [1, 0, 0], "x": ["1", "2", "1"]}).to_parquet(tmp_path / "f.parquet")
    data = read_file(FileSpec(tmp_path / "f.parquet", "bought"))
    assert data.dataset.X.features[0].categories == ("1", "2")
    (notice,) = data.notices
    assert notice.startswith(
        "Column 'x' holds numbers that are stored as text and is taken as categories; store"
    )


# What is refused ----------------------------------------------------------------------------------------------------


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def parquet(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


X = np.zeros((3, 2))
#: case -> (content, what differs from FileSpec("f.csv", "bought"), message).
BAD: dict[str, tuple[str | bytes, dict[str, Any], str]] = {
    "missing label": (
        TEXT,
        {"label": "bougth"},
        r"no column 'bougth' \(it has: id, bought, a, where\). Did you mean 'bought'\?",
    ),
    "no label named": (TEXT, {"label": None}, "Say with --label which column of .* is the label"),
    "three labels": (
        "bought,a\n1,2\n0,3\n2,3\n",
        {},
        r"holds 3 values \(1, 0, 2\); say with --positive which one is positive",
    ),
    "no positives": (
        "bought,a\n0,2\n0,3\n",
        {},
        "holds 0: no row is labelled positive; at least one must be",
    ),
    "all positives": (
        "bought,a\n1,2\n1,3\n",
        {},
        "marks every row as positive; unlabeled rows are needed too",
    ),
    "unclear label": ("bought,a\nyes,2\nno,3\n", {}, "say which is positive with --positive"),
    "unknown positive": (TEXT, {"positive": "2"}, "never holds '2'; it holds 1 and 0"),
    "empty": ("", {}, "is empty; it needs a row of column names and rows below it"),
    "blank": ("\ufeff\n \n", {}, "is empty"),
    "header only": ("bought,a\n", {}, "has a header but no rows"),
    "header without an end": ("bought,a", {}, "has a header but no rows"),
    "short row": (
        "bought,a\n1,2\n\n0\n",
        {},
        "line 4: Expected 2 columns, got 1; give every row as many fields",
    ),
    "long row": ('bought,a\n1,"2\n"\n0,3,4\n', {}, "line 4: Expected 2 columns, got 3"),
    "names twice": ("bought,a,a\n1,2,3\n0,2,3\n", {}, "2 columns called 'a'; rename all but one"),
    "label twice": ("bought,a,bought\n1,2,3\n0,2,3\n", {}, "2 columns called 'bought'"),
    "not UTF-8": (
        "bought,where\n1,Ulm\n0,Zürich\n".encode("latin1"),
        {},
        "Column 'where' holds text that is not UTF-8 in row 2 of .*; convert the file, for instance with: iconv",
    ),
    "name not UTF-8": (
        "bought,größe\n1,2\n0,3\n".encode("latin1"),
        {},
        "The name of column 2 .* is not UTF-8",
    ),
    "UTF-16": ("bought,a\n1,2\n0,3\n".encode("utf-16"), {}, "is UTF-16; convert the file"),
    "binary": (b"bought,a\n1,\0\n", {}, "is not text, as its name says it is"),
    "inf": (
        "bought,a\n1,2\n0,inf\n0,-inf\n",
        {},
        r"Column 'a' is infinite in row 2 \(2 rows in all\); make it finite",
    ),
    "too large": ("bought,a\n1,2\n0,1e999\n", {}, "Column 'a' is infinite in row 2"),
    "decimal comma": (
        "bought;a\n1;2\n0;2,5\n0;1.000,25\n",
        {},
        r"Column 'a' writes numbers with a comma \('2,5' in row 2\); write decimals with a point",
    ),
    "label alone": ("bought\n1\n0\n", {}, "no column left to be a feature besides the label"),
    "all dropped": (TEXT, {"drop": ("a", "where"), "id": "id"}, "no column left to be a feature"),
    "all empty": ("bought,a,b\n1,,\n0,,\n", {}, "has no value in any column that could be a feature"),
    "unknown drop": (TEXT, {"drop": ("a", "wher")}, "no column 'wher' .* Did you mean 'where'"),
    "unknown id": (TEXT, {"id": "idd"}, "no column 'idd' .* Did you mean 'id'"),
    "label dropped": (
        TEXT,
        {"drop": ("bought",)},
        "'bought' is the label and cannot be dropped or be the id",
    ),
    "label as id": (TEXT, {"id": "bought"}, "'bought' is the label and cannot be dropped or be the id"),
    "long name": (f"bought,{'a' * 999}\n1,2\n", {"label": "c"}, r"it has: bought, a{60}\.\.\.\)"),
    "name of two lines": ('bought,"a\nb","a\nb"\n1,2,3\n0,2,3\n', {}, "2 columns called 'a b'"),
    "lists": (
        parquet(bought=[1, 0], a=[[1], [2]]),
        {},
        "Column 'a' holds list<.*>, which cannot be a feature",
    ),
    "bytes": (
        parquet(bought=[1, 0], a=[b"u", b"v"]),
        {},
        "Column 'a' holds binary, which cannot be a feature",
    ),
    "parquet without rows": (parquet(bought=pa.array([], "int8"), a=pa.array([], "int8")), {}, "but no rows"),
    "infinite parquet": (parquet(bought=[1, 0], a=[1.0, math.inf]), {}, "Column 'a' is infinite in row 2"),
    "npz of objects": (
        npz(X=X.astype(object), y=[1, 0, 0]),
        {"label": None},
        "Array X of .* holds pickled objects",
    ),
    "npz with an object label": (
        npz(X=X, y=np.array([1, 0, None])),
        {"label": None},
        "Array y of .* holds pickled objects, which can run code when loaded",
    ),
    "npz without X": (npz(x=X, y=[1, 0, 0]), {"label": None}, "has no array X; save the features as X"),
    "npz without y": (npz(X=X, Y=[1, 0, 0]), {"label": None}, r"no column 'y' \(it has: x0, x1, Y\)"),
    "npz of a vector": (npz(X=X[:, 0], y=[1, 0, 0]), {"label": None}, r"Array X of .* has shape \(3,\)"),
    "npz without rows": (npz(X=X[:0], y=[]), {"label": None}, r"Array X of .* has shape \(0, 2\)"),
    "npz with another length": (
        npz(X=X, y=[1, 0]),
        {"label": None},
        r"Array y of .* has shape \(2,\); it must be \(3,\), a value for each row",
    ),
    "npz of complex numbers": (npz(X=X * 1j, y=[1, 0, 0]), {"label": None}, "is of type complex128"),
    "npz with inf": (npz(X=X - math.inf, y=[1, 0, 0]), {"label": None}, "Column 'x0' is infinite in row 1"),
    "no npz": (b"PK", {"label": None}, "damaged, cut off or not what its name says"),
}


def suffix(case: str, content: str | bytes) -> str:
    if "npz" in case:
        return "npz"
    return "parquet" if content[:4] == b"PAR1" else "csv"


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_bad_table_gives_one_sentence(case: str, tmp_path: Path) -> None:
    content, options, message = BAD[case]
    path = write(tmp_path, content, f"f.{suffix(case, content)}")
    with pytest.raises(DataError, match=message) as caught:
        read_file(FileSpec(**{"path": path, "label": "bought", **options}))
    assert "\n" not in str(caught.value)


def test_a_dropped_column_is_not_checked(tmp_path: Path) -> None:
    content = b"bought,a,b,c,c,d\n1,2,\xff,5,6,inf\n0,3,u,5,6,2\n"
    data = read_file(FileSpec(write(tmp_path, content), "bought", drop=("b", "c", "d")))
    assert [f.name for f in data.dataset.X.features] == ["a"]


@pytest.mark.parametrize("kind", ["feather", "parquet"])
def test_damaged_values_do_not_crash(kind: str, tmp_path: Path) -> None:
    """Arrow takes the offsets of text on trust unless it is told not to."""
    frame = pd.DataFrame({"bought": [1, 0] * 50, "a": [f"text {i % 7}" for i in range(100)]})
    path = tmp_path / f"f.{kind}"
    getattr(frame, f"to_{kind}")(path, compression="uncompressed" if kind == "feather" else None)
    content = path.read_bytes()
    for place in range(0, len(content), 29):
        path.write_bytes(content[:place] + b"\xff" + content[place + 1 :])
        try:
            read_file(FileSpec(path, "bought"))
        except DataError as error:
            assert "\n" not in str(error)  # noqa: PT017 - many damages do no harm


# There and back -----------------------------------------------------------------------------------------------------

words = st.text(st.sampled_from("abÄ語 ,;|\t\"\n'é0."), max_size=6).map(lambda text: f"w{text}")
moments = st.datetimes(pd.Timestamp("1900-01-01"), pd.Timestamp("2100-01-01")).map(
    lambda t: t.replace(microsecond=0)
)


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Draw a table of every kind of column, with gaps, whose first row has no gap and whose labels differ."""
    rows = draw(st.integers(2, 30))

    def values(of: st.SearchStrategy[Any], *, gaps: bool = True) -> list[Any]:
        rest = st.none() | of if gaps else of
        return [draw(of), *draw(st.lists(rest, min_size=rows - 1, max_size=rows - 1))]

    return pd.DataFrame(
        {
            "bought": [1, 0, *draw(st.lists(st.integers(0, 1), min_size=rows - 2, max_size=rows - 2))],
            "float": np.array(values(st.floats(allow_nan=False, allow_infinity=False)), dtype=float),
            "int": values(st.integers(-(2**53), 2**53), gaps=False),
            "bool": values(st.booleans(), gaps=False),
            "text": pd.array(values(words), dtype="str"),
            "moment": pd.to_datetime(pd.Series(values(moments))),
        }
    )


@pytest.mark.parametrize("name", ["f.csv", "f.tsv", "f.csv.gz", "f.parquet", "f.feather"])
@given(frame=frames())
@settings(max_examples=25, deadline=None)
def test_a_table_survives_the_way_through_a_file(
    name: str, frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    if name.endswith(("parquet", "feather")):
        getattr(frame, f"to_{path.suffix[1:]}")(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in name else ",", quoting=2)
    data = read_file(FileSpec(path, "bought"))
    features = {f.name: f for f in data.dataset.X.features}
    assert [f.kind for f in features.values()] == ["numeric", "numeric", "boolean", "categorical", "date"]
    assert list(features) == list(frame.columns[1:])
    assert list(features["text"].categories) == sorted(set(frame["text"].dropna()))
    assert decoded(data, "text") == [None if pd.isna(text) else text for text in frame["text"]]
    kept = matrix(data)
    np.testing.assert_array_equal(kept[:, :3], frame[["float", "int", "bool"]].to_numpy(dtype=float))
    days = (frame["moment"] - pd.Timestamp("1970-01-01")).dt.total_seconds() / 86_400
    # Whole days and the rest of a day are added, so that a moment is right to the last digit of a day, not of itself.
    np.testing.assert_allclose(kept[:, 4], days, rtol=1e-15, atol=1e-15)
    assert data.dataset.observed is not None
    assert data.dataset.observed.tolist() == [bool(label) for label in frame["bought"]]


def test_texts_mean_the_same_in_parquet_and_feather_as_in_csv(tmp_path: Path) -> None:
    texts = pd.DataFrame(
        {
            "bought": [1, 0, 0, 0],
            "opened": ["2009-01-16", "2010-02-03", "", "2011-12-31"],
            "seen": ["2020-01-01 10:00:00", None, "2020-01-02 00:00:00", "2020-01-03 12:30:00"],
            "region": ["a", "", "b", "NA"],
        }
    )
    texts.to_csv(tmp_path / "t.csv", index=False)
    texts.to_parquet(tmp_path / "t.parquet")
    texts.to_feather(tmp_path / "t.feather")
    expected, *others = (
        read_file(FileSpec(tmp_path / f"t.{form}", "bought")) for form in ("csv", "parquet", "feather")
    )
    assert [feature.kind for feature in expected.dataset.X.features] == ["date", "date", "categorical"]
    for other in others:
        assert other.dataset.X.features == expected.dataset.X.features
        np.testing.assert_array_equal(other.dataset.X.values, expected.dataset.X.values)
