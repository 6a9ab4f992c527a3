"""Label and score columns are read, or refused with the exact problem."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pubench.data.label_columns import parse_labels, parse_scores, read_columns
from pubench.errors import DataError

TEXT = "id,bought,a\n7,1,0.5\n8,0,0.25\n9,0,-3\n"


def write(folder: Path, text: str | bytes, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(
    path: Path, label: str = "bought", score: str = "a", positive: str | None = None
) -> tuple[list[bool], list[float]]:
    columns = read_columns(path, [label, score])
    return parse_labels(columns[label], label, positive).tolist(), parse_scores(
        columns[score], score
    ).tolist()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_recognised(separator: str, tmp_path: Path) -> None:
    assert read(write(tmp_path, TEXT.replace(",", separator))) == ([True, False, False], [0.5, 0.25, -3.0])


def test_compressed_and_parquet_files(tmp_path: Path) -> None:
    expected = read(write(tmp_path, TEXT))
    assert read(write(tmp_path, gzip.compress(TEXT.encode()), "f.csv.gz")) == expected
    pd.read_csv(tmp_path / "f.csv").to_parquet(tmp_path / "f.parquet")
    assert read(tmp_path / "f.parquet") == expected


def test_quoted_names_crlf_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = '\ufeff"bought","the score, raw"\r\n1,2\r\n0,3\r\n'
    assert read(write(tmp_path, text), score="the score, raw") == ([True, False], [2.0, 3.0])


@pytest.mark.parametrize(
    ("values", "positive", "labelled"),
    [
        (["1", "0"], None, [True, False]),
        (["1", "-1"], None, [True, False]),
        (["1.0", "0.0"], None, [True, False]),
        (["true", "false"], None, [True, False]),
        (["yes", "no"], "yes", [True, False]),
        (["true", "false"], "false", [False, True]),
        (["0", "1"], "0", [True, False]),
        (["2", "1"], "2.0", [True, False]),
        (["1", ""], None, [True, False]),
        (["yes", ""], None, [True, False]),
    ],
)
def test_labels(values: list[str], positive: str | None, labelled: list[bool], tmp_path: Path) -> None:
    text = "bought,a\n" + "".join(f"{value},1\n" for value in values)
    assert read(write(tmp_path, text), positive=positive)[0] == labelled


def test_missing_labels_in_parquet_are_unlabeled(tmp_path: Path) -> None:
    pd.DataFrame({"bought": [1.0, np.nan], "a": [1, 2]}).to_parquet(tmp_path / "f.parquet")
    assert read(tmp_path / "f.parquet")[0] == [True, False]


def test_scores_beyond_the_precision_of_a_float(tmp_path: Path) -> None:
    assert read(write(tmp_path, f"bought,a\n1,{2**60 + 1}\n0,2\n"))[1] == [2.0**60, 2.0]


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty"),
    "blank": ("\n\n", "is empty"),
    "header only": ("bought,a\n", "has a header but no rows"),
    "unknown column": ("bougth,a\n1,2\n", r"no column 'bought' \(it has: bougth, a\). Did you mean 'bougth'"),
    "twice": ("bought,a,a\n1,2,3\n", "2 columns called 'a'"),
    "ragged": ("bought,a\n1,2\n0\n", "cannot be read: .*Expected 2 columns, got 1"),
    "text score": ("bought,a\n1,2\n0,high\n", "Column 'a' holds 'high' in row 2; scores must be numbers"),
    "a number for Python alone": ("bought,a\n1,2\n0,1_000\n", "Column 'a' holds '1_000' in row 2"),
    "missing score": ("bought,a\n1,2\n0,\n", r"Column 'a' has no score in row 2 \(1 rows in all\)"),
    "nan score": ("bought,a\n1,2\n0,nan\n", "Column 'a' has no score in row 2"),
    "no positive": ("bought,a\n0,2\n0,3\n", "holds 0: no row is labelled positive"),
    "no positive but blanks": ("bought,a\n0,2\n,3\n", "holds 0: no row is labelled positive"),
    "only blanks": ("bought,a\n,2\n,3\n", "only blanks: no row is labelled"),
    "all positive": ("bought,a\n1,2\n1,3\n", "marks every row as positive"),
    "three labels": ("bought,a\n1,2\n0,3\n2,3\n", r"holds 3 values \(1, 0, 2\); say with --positive"),
    "two labels and blanks": ("bought,a\n1,2\n0,3\n,3\n", "2 values and blanks"),
    "unclear labels": ("bought,a\nyes,2\nno,3\n", "'yes' and 'no'; say which is positive with --positive"),
    "not UTF-8": (b"bought,a\n1,\xff\xfe\n0,1\n", "Column 'a' holds"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_bad_file_gives_one_sentence(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    with pytest.raises(DataError, match=message) as caught:
        read(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_positive_value_that_never_occurs(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="never holds 'x'; it holds 1 and 0"):
        read(write(tmp_path, TEXT), positive="x")


def test_a_file_that_only_claims_to_be_parquet(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read(write(tmp_path, TEXT, "f.parquet"))


def test_categories_of_pandas_are_read_as_their_values(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"bought": pd.Categorical(["yes", "no", "no"]), "a": pd.Categorical([3.0, 1.0, 1.0])}
    )
    frame.to_parquet(tmp_path / "f.parquet")
    assert read(tmp_path / "f.parquet", positive="yes") == ([True, False, False], [3.0, 1.0, 1.0])


def test_both_zeros_are_one_label(tmp_path: Path) -> None:
    assert read(write(tmp_path, "bought,a\n1.0,1\n0.0,2\n-0.0,3\n"))[0] == [True, False, False]


def test_a_nested_column_is_no_label_and_no_score(tmp_path: Path) -> None:
    pd.DataFrame({"bought": [[1], [0]], "a": [1, 2], "s": [1, 0], "b": [[1], [2]]}).to_parquet(
        tmp_path / "f.parquet"
    )
    with pytest.raises(DataError, match="plain values"):
        read(tmp_path / "f.parquet")
    with pytest.raises(DataError, match="plain values"):
        read(tmp_path / "f.parquet", label="s", score="b")


def test_a_named_positive_makes_all_others_unlabeled(tmp_path: Path) -> None:
    text = "region,a\nNorth,1\nSouth,2\n,3\nWest,4\n"
    assert read(write(tmp_path, text), label="region", positive="North")[0] == [True, False, False, False]
