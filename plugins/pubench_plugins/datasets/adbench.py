"""Classical data sets of ADBench, a row of a table each.

Where positives are not rare in the file, a fixed draw of them is part of the data set: all other rows stay, and a name
means the same rows on every machine.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pubench import DataFile, DatasetInfo, Table, open_compressed
from pubench_plugins.datasets.public import Labels, PublicDataset, thinned_rows

_URL = "https://github.com/Minqi824/ADBench/raw/main/adbench/datasets/Classical/"
_ODDS = "ODDS (Rayana 2016)"
_PANG = "Pang, Shen and van den Hengel 2019"
_CAMPOS = "Campos et al. 2016"


class ADBenchDataset(PublicDataset):
    """An .npz file with a matrix X, columns called x0, x1, ..., and labels y of 0 and 1.

    Attributes:
        drawn_from: number of positives in the file, of which `info.positives` are drawn; None: all are kept.
    """

    drawn_from: ClassVar[int | None] = None

    def read(self, path: Path) -> tuple[Table, Labels]:
        """Return X as it is, integers as the smallest float that holds them exactly, and where y is 1."""
        X, y = (self._array(path, name) for name in ("X", "y"))
        if y.shape != X.shape[:1] or not np.isin(y, (0, 1)).all():
            raise ValueError(f"y of shape {y.shape} does not label X of shape {X.shape} with 0 and 1")
        X, positive = X.astype(np.result_type(X.dtype, np.float16), copy=False), y == 1
        if self.drawn_from is not None:
            if positive.sum() != self.drawn_from:
                raise ValueError(f"y marks {positive.sum():,} positives, expected {self.drawn_from:,}")
            rows = thinned_rows(positive, self.info.positives, self.name)
            X, positive = X[rows], positive[rows]
        return Table.from_array(X), positive

    def _array(self, path: Path, name: str) -> npt.NDArray[np.number]:
        with open_compressed(path, f"{name}.npy") as stream:  # np.load would decompress any size
            array: npt.NDArray[np.number] = np.lib.format.read_array(stream, allow_pickle=False)
        if array.dtype.kind not in "iuf":
            raise ValueError(f"{name} holds {array.dtype}, not numbers")
        return array


@dataclass(frozen=True)
class _Row:
    """A data set; the counts are those of the file, `kept` is the number of positives that are drawn of it."""

    stem: str
    rows: int
    features: int
    positives: int
    title: str
    origin: str
    sha256: str
    terms: str = ""
    note: str = ""
    kept: int | None = None

    @property
    def name(self) -> str:
        return self.stem.partition("_")[2].lower().replace(".", "-")

    @property
    def left_out(self) -> int:
        return 0 if self.kept is None else self.positives - self.kept

    @property
    def notes(self) -> str:
        if self.kept is None:
            return self.note
        drawn = f"{self.kept:,} of the file's {self.positives:,} positives, a fixed draw, and all other rows."
        return f"{drawn} {self.note}".rstrip()


_TABLE = (
    _Row(
        "10_cover",
        286_048,
        10,
        2_747,
        "Patches of forest; positive: cottonwood or willow, among lodgepole pine",
        f"{_ODDS}, from UCI Covertype",
        "945a097c3542ae81a551bf1c06dcad78a755d94f84fcaf1d60687e42d1a656df",
    ),
    _Row(
        "16_http",
        567_498,
        3,
        2_211,
        "Connections to web servers; positive: attack",
        f"{_ODDS}, from KDD Cup 1999",
        "9d98710091551587f4740cfc851a6b064fff6319a337c2dc77ee6da4bcc2e02c",
    ),
    _Row(
        "34_smtp",
        95_156,
        3,
        30,
        "Connections to mail servers; positive: attack",
        f"{_ODDS}, from KDD Cup 1999",
        "d2569fc9bc12115419e3f5b37d19921e10e6c26e5ad1e61064cfb0fbc402dfdd",
    ),
    _Row(
        "8_celeba",
        202_599,
        39,
        4_547,
        "Portraits of celebrities by 39 yes-or-no attributes; positive: bald",
        f"{_PANG}, from CelebA (Liu et al. 2015)",
        "1cadfdea14cd8d240eca715a70c09c88af8621d086a7478c63f602d97adef0b5",
        terms="; CelebA itself is for research that is not commercial",
    ),
    _Row(
        "23_mammography",
        11_183,
        6,
        260,
        "Spots in X-ray pictures of the breast; positive: microcalcification",
        f"{_ODDS}, from OpenML 310 (Woods et al. 1993)",
        "a0308ac9712d78321073b1c2dc98dc37665c0f35c1cc33019416fe8f8d7de7ea",
    ),
    _Row(
        "28_pendigits",
        6_870,
        16,
        156,
        "Digits written with a pen, as traces; positive: the digit 0, thinned out",
        f"{_ODDS}, from UCI Pen-Based Recognition of Handwritten Digits",
        "c4936b89dcdad59d303020e492f763a0f54170080d787c77497609acbb9c2d79",
    ),
    _Row(
        "31_satimage-2",
        5_803,
        36,
        71,
        "Pixels of satellite pictures; positive: cotton crop, thinned out",
        f"{_ODDS}, from UCI Statlog (Landsat Satellite)",
        "1b056e357f801b8b20c3f380a30224a3c4088d7ed764ec5a24828dc9b1918d6f",
    ),
    _Row(
        "26_optdigits",
        5_216,
        64,
        150,
        "Digits written by hand, as 8 x 8 pixels; positive: the digit 0, thinned out",
        f"{_ODDS}, from UCI Optical Recognition of Handwritten Digits",
        "60de17a375a278ba220a7849727d998aa02b5e2f9fd17732a004bba28de4656e",
    ),
    _Row(
        "5_campaign",
        41_188,
        62,
        4_640,
        "Calls of a Portuguese bank's campaign; positive: the client subscribes a term deposit",
        f"{_PANG}, from UCI Bank Marketing",
        "74dd4d0072d6c6f1aabab63bc102f9633454f32bb936fa9bcfbd38f9f2386bcd",
        note="Column x50 is the duration of the call, which gives the outcome away; bank-marketing leaves it out.",
    ),
    _Row(
        "12_fault",
        1_941,
        27,
        673,
        "Faults of steel plates; positive: a fault of no named kind, thinned out to 2%",
        "UCI Steel Plates Faults",
        "ec27301f9a4cf7c5d8b22c360cf37ddb043b7fb062465723dfd8b34e2771e5dd",
        kept=26,
    ),
    _Row(
        "17_InternetAds",
        1_966,
        1_555,
        368,
        "Pictures on web pages; positive: an advertisement, thinned out to 2%",
        f"{_CAMPOS}, from UCI Internet Advertisements",
        "bdd8ad5cf5bf2cb96cba53dde30d522d0f6a279083a8e2bc7efbac5981b04385",
        kept=33,
    ),
    _Row(
        "22_magic.gamma",
        19_020,
        10,
        6_688,
        "Showers in a gamma telescope; positive: of a hadron, thinned out to 2%",
        "UCI MAGIC Gamma Telescope",
        "0be375984d7af9ea7a63b12206c240840d8b7daa3607021c5fb8756407dd86f1",
        kept=252,
    ),
    _Row(
        "35_SpamBase",
        4_207,
        57,
        1_679,
        "E-mails by the frequency of words; positive: spam, thinned out to 2%",
        f"{_CAMPOS}, from UCI Spambase",
        "d0c46c7928e43f6496bcd06e09de0b70f6bc8143792dfa0a43f450263d254e9b",
        kept=52,
    ),
    _Row(
        "47_yeast",
        1_484,
        8,
        507,
        "Proteins of yeast; positive: in the cytosol, or in a membrane with a cleaved signal, thinned out to 2%",
        "UCI Yeast, classes CYT and ME1",
        "bbb15c873d78a4f6a589f46d0f75814595e2282d2ae7ce7779c750f276c3770d",
        kept=20,
    ),
    _Row(
        "33_skin",
        245_057,
        3,
        50_859,
        "Pixels of faces and of other pictures, by colour; positive: skin, thinned out to 2%",
        "UCI Skin Segmentation",
        "d02aa01ffc1b6bf2b8b1ac250c90e8a8eacd0cefc962940ed5cc4bf5deac9c95",
        kept=3_963,
    ),
    _Row(
        "40_vowels",
        1_456,
        12,
        50,
        "Sounds of a vowel by nine speakers; positive: one of the speakers, thinned out",
        f"{_ODDS}, from UCI Japanese Vowels",
        "4bfc4244d1c882773bbbc50d4a5db5e52276e53506e46b2d45e02d074cfcb1b6",
    ),
)


def _loader(row: _Row) -> type[ADBenchDataset]:
    class Loader(ADBenchDataset):
        __doc__ = f"{row.title}."
        name = row.name
        info = DatasetInfo(
            title=row.title,
            rows=row.rows - row.left_out,
            features=row.features,
            positives=row.positives - row.left_out,
            source=f"{row.origin}; in the form of ADBench (Han et al. 2022)",
            licence=f"BSD-2-Clause as the ADBench repository says{row.terms}",
            note=row.notes,
        )
        drawn_from = None if row.kept is None else row.positives
        files = (DataFile((f"adbench/{row.stem}.npz",), f"{_URL}{row.stem}.npz", row.sha256),)

    Loader.__name__ = Loader.__qualname__ = row.name.title().replace("-", "")
    return Loader


#: Every loader of this module, to be registered.
ADBENCH = tuple(_loader(row) for row in _TABLE)

# A plugin instance can be sent to other processes, which import its class by name.
globals().update({loader.__name__: loader for loader in ADBENCH})
