"""The classical data sets of ADBench that are large or extremely imbalanced, a row of a table each."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pubench import DataFile, DatasetInfo, Table
from pubench_plugins.datasets.public import Labels, PublicDataset, member, unpacked

_URL = "https://github.com/Minqi824/ADBench/raw/main/adbench/datasets/Classical/"
_ODDS = "ODDS (Rayana 2016)"
_PANG = "Pang, Shen and van den Hengel 2019"


class ADBenchDataset(PublicDataset):
    """An .npz file with a matrix X, columns called x0, x1, ..., and labels y of 0 and 1."""

    def read(self, path: Path) -> tuple[Table, Labels]:
        """Return X as it is, integers as the smallest float that holds them exactly, and where y is 1."""
        X, y = (self._array(path, name) for name in ("X", "y"))
        if y.shape != X.shape[:1] or not np.isin(y, (0, 1)).all():
            raise ValueError(f"y of shape {y.shape} does not label X of shape {X.shape} with 0 and 1")
        return Table.from_array(X.astype(np.result_type(X.dtype, np.float16), copy=False)), y == 1

    def _array(self, path: Path, name: str) -> npt.NDArray[np.number]:
        # np.load would unpack members of any size.
        with unpacked(path) as archive, member(archive, f"{name}.npy") as stream:
            array: npt.NDArray[np.number] = np.lib.format.read_array(stream, allow_pickle=False)
        if array.dtype.kind not in "iuf":
            raise ValueError(f"{name} holds {array.dtype}, not numbers")
        return array


@dataclass(frozen=True)
class _Row:
    stem: str
    rows: int
    features: int
    positives: int
    title: str
    origin: str
    sha256: str
    terms: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        return self.stem.partition("_")[2]


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
)


def _loader(row: _Row) -> type[ADBenchDataset]:
    class Loader(ADBenchDataset):
        __doc__ = f"{row.title}."
        name = row.name
        info = DatasetInfo(
            title=row.title,
            rows=row.rows,
            features=row.features,
            positives=row.positives,
            source=f"{row.origin}; in the form of ADBench (Han et al. 2022)",
            licence=f"BSD-2-Clause as the ADBench repository says{row.terms}",
            note=row.note,
        )
        files = (DataFile((f"adbench/{row.stem}.npz",), f"{_URL}{row.stem}.npz", row.sha256),)

    Loader.__name__ = Loader.__qualname__ = row.name.title().replace("-", "")
    return Loader


#: Every loader of this module, to be registered.
ADBENCH = tuple(_loader(row) for row in _TABLE)

# A configuration can be sent to other processes, which look its class up by name.
globals().update({loader.__name__: loader for loader in ADBENCH})
