"""The loaders of public files: what the real files give, and what a file that is not the real one gets."""

import gzip
import hashlib
import io
import lzma
import os
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import csv

from pubench.api.dataset import Dataset
from pubench.data import compression, unpacking
from pubench.data.download import find
from pubench.errors import DataError
from pubench.seeds import Seed
from pubench.testing.datasets import check_dataset
from pubench_plugins.datasets.adbench import ADBENCH, ADBenchDataset
from pubench_plugins.datasets.aps import APS, APSPart
from pubench_plugins.datasets.bank_marketing import BankMarketing
from pubench_plugins.datasets.creditcard import CreditCard
from pubench_plugins.datasets.digits import Digits
from pubench_plugins.datasets.public import PublicDataset, thinned_rows

LOADERS: tuple[type[PublicDataset], ...] = (CreditCard, APS, APSPart, BankMarketing, *ADBENCH)
AT_HAND = tuple(loader for loader in LOADERS if loader is not APS)


def load(loader: type[PublicDataset], path: Path) -> Dataset:
    return loader().load([path], None, Seed(0))


def refusal(loader: type[PublicDataset], path: Path) -> str:
    """Load in vain; the one sentence names the data set and the file to delete."""
    with pytest.raises(DataError) as caught:
        load(loader, path)
    message = str(caught.value)
    end = f": the file is damaged or another version; delete {path} and fetch it again."
    assert message.startswith(f"{loader.name} ")
    assert message.endswith(end)
    assert "\n" not in message
    return message.removesuffix(end)


# The real files.


def real(loader: type[PublicDataset]) -> Path:
    folder = os.environ.get("PUBENCH_DATA")
    found = find(loader.files[0], [Path(folder)]) if folder else None
    if found is None:
        pytest.skip(f"{loader.files[0].names[0]} is not in the folder that PUBENCH_DATA names")
    return found


@pytest.mark.needs_data
@pytest.mark.parametrize("loader", AT_HAND, ids=lambda loader: str(loader.name))
def test_the_real_file_is_what_its_info_says(loader: type[PublicDataset]) -> None:
    data = load(loader, real(loader))
    assert data.observed is None
    assert data.truth is not None
    assert data.X.values.shape == (loader.info.rows, loader.info.features)
    assert data.truth.y.sum() == loader.info.positives
    kinds = {feature.name: feature.kind for feature in data.X.features}
    categorical = set(getattr(loader, "categorical", ()))
    assert {name for name, kind in kinds.items() if kind == "categorical"} == categorical
    assert np.isnan(data.X.values).any() == (loader is APSPart)


@pytest.mark.needs_data
@pytest.mark.parametrize("loader", ADBENCH, ids=lambda loader: str(loader.name))
def test_the_real_file_has_the_stated_checksum(loader: type[ADBenchDataset]) -> None:
    assert hashlib.sha256(real(loader).read_bytes()).hexdigest() == loader.files[0].sha256


@pytest.mark.needs_data
def test_the_first_call_of_the_campaign() -> None:
    X = load(BankMarketing, real(BankMarketing)).X
    first = {
        feature.name: feature.categories[int(value)] if feature.categories else value
        for feature, value in zip(X.features, X.values[0], strict=True)
    }
    assert "duration" not in first
    assert [first[name] for name in ("age", "job", "month", "pdays", "euribor3m")] == [
        *(56, "housemaid", "may", 999, 4.857),
    ]
    assert X.features[1].categories[:2] == ("admin.", "blue-collar")


@pytest.mark.needs_data
def test_the_campaign_of_adbench_holds_the_duration_of_the_call() -> None:
    campaign = adbench("campaign")
    assert "x50 is the duration" in campaign.info.note
    with compression.open_compressed(real(BankMarketing)) as stream:
        calls = csv.read_csv(stream, parse_options=csv.ParseOptions(delimiter=";"))
    seconds = np.sort(calls["duration"].to_numpy())
    scaled = (seconds - seconds[0]) / (seconds[-1] - seconds[0])
    np.testing.assert_allclose(np.sort(load(campaign, real(campaign)).X.values[:, 50]), scaled, atol=1e-6)


def adbench(name: str) -> type[ADBenchDataset]:
    return next(loader for loader in ADBENCH if loader.name == name)


@pytest.mark.needs_data
def test_only_positives_are_thinned_out() -> None:
    loader = adbench("spambase")
    data = load(loader, real(loader))
    assert data.truth is not None
    with np.load(real(loader)) as arrays:
        X, y = arrays["X"], arrays["y"]
    np.testing.assert_array_equal(data.X.values[~data.truth.y], X[y == 0])
    rows = {row.tobytes() for row in X[y == 1]}
    assert {row.tobytes() for row in data.X.values[data.truth.y]} <= rows


@pytest.mark.parametrize("loader", ADBENCH, ids=lambda loader: str(loader.name))
def test_thinned_positives_are_one_in_fifty_and_the_note_says_so(loader: type[ADBenchDataset]) -> None:
    info = loader.info
    if loader.drawn_from is None:
        assert "fixed draw" not in info.note
        return
    assert info.positives / info.rows == pytest.approx(0.02, abs=5e-4)
    assert f"{info.positives:,} of the file's {loader.drawn_from:,} positives" in info.note
    assert info.title.endswith("thinned out to 2%")


def test_a_thinned_draw_is_the_same_everywhere() -> None:
    positive = np.arange(40) % 2 == 1
    rows = thinned_rows(positive, 4, "small")
    assert rows[positive[rows]].tolist() == [3, 23, 27, 29]
    assert rows[~positive[rows]].tolist() == list(range(0, 40, 2))
    assert (np.diff(rows) > 0).all()
    assert set(thinned_rows(positive, 3, "small")) < set(rows)
    assert thinned_rows(positive, 4, "other").tolist() != rows.tolist()


def test_digits_need_no_file() -> None:
    check_dataset(Digits())
    data = Digits().load([], None, Seed(5))
    assert data.truth is not None
    assert data.X.values.shape == (Digits.info.rows, Digits.info.features)
    assert data.truth.y.sum() == Digits.info.positives
    assert data.truth.y.mean() == pytest.approx(0.05, abs=5e-4)


# Small files of the same form, for loaders that expect as many rows.


class SmallCard(CreditCard):
    info = replace(CreditCard.info, rows=3, features=2, positives=1)


class SmallAPS(APS):
    info = replace(APS.info, rows=3, features=2, positives=1)


class SmallPart(APSPart):
    info = SmallAPS.info
    head = 3


class SmallBank(BankMarketing):
    info = replace(BankMarketing.info, rows=3, features=2, positives=1)


class SmallMatrix(ADBenchDataset):
    name = "small"
    info = replace(ADBENCH[0].info, rows=3, features=2, positives=1)


class SmallThinned(SmallMatrix):
    info = replace(SmallMatrix.info, rows=4, positives=2)
    drawn_from = 3


CARD = '"Time","Amount","Class"\n0,1.5,"0"\n1,2.5,"1"\n2,-1e3,"0"\n'
TRUCKS = "class,aa_000,ab_000\nneg,1,na\npos,2130706438,0.84\nneg,na,na\n"
LICENCE = "This file is part of a class, free software:\n\n" * 10
CALLS = '"age";"job";"duration";"y"\n56;"b";261;"no"\n57;"a";149;"yes"\n37;"b";226;"no"\n'


def zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(value))
    return stream.getvalue()


def save(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zstd(content: bytes) -> bytes:
    return bytes(pyarrow.compress(content, codec="zstd", asbytes=True))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


@pytest.mark.parametrize("packing", PACKERS)
def test_a_packed_table(tmp_path: Path, packing: str) -> None:
    path = save(tmp_path, f"creditcard.csv{packing}", PACKERS[packing](CARD.encode()))
    data = load(SmallCard, path)
    assert data.X.values.tolist() == [[0, 1.5], [1, 2.5], [2, -1000]]
    assert data.truth is not None
    assert data.truth.y.tolist() == [False, True, False]


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst"])
def test_a_packed_table_that_is_cut(tmp_path: Path, packing: str) -> None:
    content = np.random.default_rng(0).bytes(1 << 16).hex().encode()
    packed = PACKERS[packing](b"Time,Amount,Class\n" + content)
    message = refusal(SmallCard, save(tmp_path, f"creditcard.csv{packing}", packed[: len(packed) // 2]))
    assert message.startswith("creditcard cannot be read (")


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst", ".zip"])
def test_a_file_that_only_claims_to_be_packed(tmp_path: Path, packing: str) -> None:
    assert "cannot be read (" in refusal(SmallCard, save(tmp_path, f"creditcard.csv{packing}", CARD))


DAMAGED_CARDS = {
    "more rows": (CARD + "3,1,0\n", "has 4 rows, expected 3"),
    "fewer rows": (CARD.replace('2,-1e3,"0"\n', ""), "has 2 rows, expected 3"),
    "another column": (
        CARD.replace("\n", ",1\n").replace('"Class",1', '"Class",b'),
        "has 3 features, expected 2",
    ),
    "a missing column": ("Time,Class\n0,0\n1,1\n2,0\n", "has 1 features, expected 2"),
    "more positives": (CARD.replace('"0"', '"1"', 1), "has 2 positives, expected 1"),
    "no label": (CARD.replace("Class", "class"), "cannot be read (it has no column 'Class')"),
    "a third label": (
        CARD.replace('"0"', '"2"'),
        "cannot be read (column 'Class' holds '2', not only '1' and '0')",
    ),
    "a word": (CARD.replace("2.5", "much"), "cannot be read (Failed to parse string: 'much'"),
    "an infinite value": (
        CARD.replace("2.5", "inf"),
        "cannot be read (Feature 'Amount' is infinite in row 1",
    ),
    "a ragged row": (CARD + "3,1\n", "cannot be read (CSV parse error: Expected 3 columns, got 2"),
    "two columns of one name": (
        CARD.replace("Amount", "Time"),
        "cannot be read (Two features are called 'Time'",
    ),
    "a web page": ("<html><body>Sign in</body></html>\n", "cannot be read (it has no column 'Class')"),
    "nothing": ("", "cannot be read (Empty CSV file)"),
}


@pytest.mark.parametrize("case", DAMAGED_CARDS)
def test_a_damaged_table(tmp_path: Path, case: str) -> None:
    text, finding = DAMAGED_CARDS[case]
    assert refusal(SmallCard, save(tmp_path, "creditcard.csv", text)).startswith(f"creditcard {finding}")


def test_another_table_under_the_same_name_is_caught_by_its_counts(tmp_path: Path) -> None:
    path = save(tmp_path, "creditcard.csv.xz", lzma.compress(CARD.encode()))
    assert refusal(CreditCard, path) == "creditcard has 3 rows, expected 284,807"


def test_a_file_that_is_not_there_or_not_for_us(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.csv cannot be read: No such file or directory\.$"):
        load(SmallCard, tmp_path / "gone.csv")
    with pytest.raises(DataError, match=r"cannot be read: Is a directory\.$"):
        load(SmallCard, tmp_path)


def test_the_licence_above_the_trucks_is_skipped_and_na_is_missing(tmp_path: Path) -> None:
    archive = zipped(
        **{
            "aps_failure_test_set.csv": (LICENCE + TRUCKS).encode(),
            "aps_failure_training_set.csv": (LICENCE + TRUCKS + "pos,1,1\n").encode(),
        }
    )
    expected = [[1, np.nan], [2130706438, 0.84], [np.nan, np.nan]]
    for loader in (SmallAPS, SmallPart):
        data = load(loader, save(tmp_path, loader.files[0].names[0], archive))
        np.testing.assert_array_equal(data.X.values, expected)


@pytest.mark.parametrize("name", ["aps_failure_test_set.csv", "aps_train_partial_9000rows.csv"])
def test_trucks_outside_the_archive(tmp_path: Path, name: str) -> None:
    loader = SmallAPS if name in SmallAPS.files[0].names else SmallPart
    path = save(tmp_path, f"{name}.gz", gzip.compress(TRUCKS.encode()))
    assert find(loader.files[0], [tmp_path]) == path
    assert load(loader, path).X.n_rows == 3


def test_the_part_of_the_trucks_says_so() -> None:
    assert "part of the training file" in APSPart.info.title
    assert "not the 16,000-row test file that the paper used" in APSPart.info.note


def test_the_training_file_is_no_test_file(tmp_path: Path) -> None:
    path = save(tmp_path, "aps_failure_test_set.csv", LICENCE + TRUCKS + "neg,1,1\n")
    assert refusal(SmallAPS, path) == "aps has 4 rows, expected 3"


def test_the_calls_are_in_an_archive_in_an_archive(tmp_path: Path) -> None:
    inner = zipped(**{"bank-additional/bank-additional-full.csv": CALLS.encode(), "../escape": b""})
    outer = save(tmp_path, "bank+marketing.zip", zipped(**{"bank-additional.zip": inner, "bank.zip": b""}))
    bare = save(tmp_path, "bank-additional-full.csv", CALLS)
    for path in (outer, bare):
        X = load(SmallBank, path).X
        assert [(feature.name, feature.categories) for feature in X.features] == [
            *(("age", ()), ("job", ("a", "b"))),
        ]
        assert X.values.tolist() == [[56, 1], [57, 0], [37, 1]]


@pytest.mark.parametrize(
    "name", ["../creditcard.csv", "/creditcard.csv", "deep/creditcard.csv", "CREDITCARD.CSV"]
)
def test_a_member_counts_only_under_its_exact_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = save(folder, "creditcardfraud.zip", zipped(**{name: CARD.encode()}))
    assert refusal(SmallCard, path) == f"creditcard cannot be read ({path} has no member creditcard.csv)"
    assert list(tmp_path.rglob("*.csv")) == []


def test_members_that_would_escape_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    members = {"../escaped.csv": b"x", str(tmp_path / "absolute.csv"): b"x", "creditcard.csv": CARD.encode()}
    assert load(SmallCard, save(folder, "creditcardfraud.zip", zipped(**members))).X.n_rows == 3
    assert list(tmp_path.rglob("*.csv")) == []


@pytest.mark.parametrize("packing", [".zip", ".gz", ".xz", ".zst"])
def test_a_file_that_unpacks_to_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    monkeypatch.setattr(unpacking, "free_memory", lambda: 20)
    path = (
        save(tmp_path, "creditcardfraud.zip", zipped(**{"creditcard.csv": CARD.encode()}))
        if packing == ".zip"
        else save(tmp_path, f"creditcard.csv{packing}", PACKERS[packing](CARD.encode()))
    )
    assert "unpacks to more than" in refusal(SmallCard, path)


def test_a_damaged_member(tmp_path: Path) -> None:
    content = zipped(**{"creditcard.csv": CARD.encode()})
    start = content.index(b"creditcard.csv") + len("creditcard.csv")
    path = save(tmp_path, "creditcardfraud.zip", content[:start] + b"\x07" * 8 + content[start + 8 :])
    assert "cannot be read (" in refusal(SmallCard, path)


def test_a_member_with_a_password(tmp_path: Path) -> None:
    content = bytearray(zipped(**{"creditcard.csv": CARD.encode()}))
    content[6] |= 1  # the flag in the member's own header, and in the directory at the end
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert "password required" in refusal(SmallCard, save(tmp_path, "creditcardfraud.zip", bytes(content)))


MATRIX = [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("kind", "kept"), [("int16", "float32"), ("int64", "float64"), ("float32", "float32")]
)
def test_a_matrix_keeps_its_values_exactly(tmp_path: Path, kind: str, kept: str) -> None:
    data = load(SmallMatrix, save(tmp_path, "a.npz", npz(X=np.array(MATRIX, kind), y=[0, 1, 0])))
    assert data.X.values.dtype == kept
    assert data.X.values.tolist() == MATRIX
    assert [feature.name for feature in data.X.features] == ["x0", "x1"]


def test_positives_are_thinned_out_in_a_file_with_the_stated_number(tmp_path: Path) -> None:
    X = np.arange(10).reshape(5, 2)
    data = load(SmallThinned, save(tmp_path, "a.npz", npz(X=X, y=[1, 0, 1, 0, 1])))
    assert data.truth is not None
    assert data.truth.y.sum() == 2
    assert data.X.values[~data.truth.y].tolist() == [[2, 3], [6, 7]]
    message = refusal(SmallThinned, save(tmp_path, "b.npz", npz(X=X, y=[1, 0, 1, 0, 0])))
    assert message == "small cannot be read (y marks 2 positives, expected 3)"


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.path,)


def test_a_pickled_matrix_is_not_unpickled(tmp_path: Path) -> None:
    trap = np.array([[Trap(tmp_path / "sprung"), 1]] * 3, dtype=object)
    for arrays in ({"X": trap, "y": [0, 1, 0]}, {"X": MATRIX, "y": trap[:, 0]}):
        message = refusal(SmallMatrix, save(tmp_path, "a.npz", npz(**arrays)))
        assert message == "small cannot be read (Object arrays cannot be loaded when allow_pickle=False)"
    assert not (tmp_path / "sprung").exists()


DAMAGED_MATRICES = {
    "more rows": (npz(X=[*MATRIX, [6, 7]], y=[0, 1, 0, 0]), "has 4 rows, expected 3"),
    "fewer columns": (npz(X=[[0], [1], [2]], y=[0, 1, 0]), "has 1 features, expected 2"),
    "more positives": (npz(X=MATRIX, y=[0, 1, 1]), "has 2 positives, expected 1"),
    "a short y": (
        npz(X=MATRIX, y=[0, 1]),
        "cannot be read (y of shape (2,) does not label X of shape (3, 2)",
    ),
    "a third label": (npz(X=MATRIX, y=[0, 1, 2]), "cannot be read (y of shape (3,) does not label"),
    "a vector": (npz(X=[0, 1, 2], y=[0, 1, 0]), "cannot be read (A table holds a float32 or float64 matrix"),
    "a number": (npz(X=1, y=1), "cannot be read (A table holds a float32 or float64 matrix"),
    "words": (npz(X=[["a", "b"]] * 3, y=[0, 1, 0]), "cannot be read (X holds <U1, not numbers)"),
    "no y": (npz(X=MATRIX), "cannot be read ({path} has no member y.npy)"),
    "no arrays": (zipped(**{"X.npy": b"no array"}), "cannot be read ("),
    "half a file": (npz(X=MATRIX, y=[0, 1, 0])[:200], "cannot be read (File is not a zip file)"),
    "nothing": (b"", "cannot be read ("),
}


@pytest.mark.parametrize("case", DAMAGED_MATRICES)
def test_a_damaged_matrix(tmp_path: Path, case: str) -> None:
    content, finding = DAMAGED_MATRICES[case]
    path = save(tmp_path, "a.npz", content)
    assert refusal(SmallMatrix, path).startswith(f"small {finding.replace('{path}', str(path))}")


@pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: str(loader.name))
def test_every_loader_says_where_its_one_file_is(loader: type[PublicDataset]) -> None:
    (file,) = loader.files
    assert file.url.startswith("https://")
    assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
    assert all((loader.info.title, loader.info.source, loader.info.licence, loader.__doc__))
    assert loader() == loader()
    assert getattr(sys.modules[loader.__module__], loader.__name__) is loader  # where other processes find it
    assert not loader.info.stand_in
