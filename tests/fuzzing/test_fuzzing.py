"""Whatever a stranger changes in a file, it is read or refused in one sentence: no crash, no hang, no other error.

The files are the same for the same seed. `PUBENCH_FUZZ_CASES=20000 python -m pytest tests/fuzzing` takes about an hour;
`PUBENCH_FUZZ_SEED` draws other changes. A file on which a reader fails stays in the test's temporary folder.
"""

import gzip
import io
import json
import lzma
import os
import time
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from pubench.api.plugin import Kind
from pubench.api.registry import Registry, load_registry
from pubench.bench.suite_file import read_suite
from pubench.configuration.toml_file import read_toml
from pubench.data.aliases import list_aliases
from pubench.data.table_file import open_table
from pubench.errors import PubenchError
from pubench.leaderboard.board import load_board
from pubench.record.record_file import to_document, write_record
from pubench.seeds import Seed
from pubench.tuning.space import SearchSpace, narrowed, read_space
from pubench.types import Resources, Table, Tags
from tests.fuzzing.mutations import mutations
from tests.leaderboard.simulation import simulated

CASES = int(os.environ.get("PUBENCH_FUZZ_CASES", "40"))
SEED = int(os.environ.get("PUBENCH_FUZZ_SEED", "0"))
ROOT = Path(__file__).parents[2]
#: Of the processor, not of the clock: other programs may keep it busy.
MOST_SECONDS = 30

Read: TypeAlias = Callable[[Path], object]


def fuzz(path: Path, content: bytes, read: Read, count: int = CASES) -> None:
    """Write changed copies of a content to `path`, and read each of them."""
    path.write_bytes(content)
    read(path)
    for changed in mutations(content, SEED, count):
        path.write_bytes(changed)
        started = time.process_time()
        try:
            read(path)
        except PubenchError as error:
            message = str(error)
        else:
            message = ""
        assert "\n" not in message
        assert time.process_time() - started < MOST_SECONDS


TABLE = pa.table(
    {"a": np.arange(300.0), "n": np.arange(300) % 7, "t": ["x", "yy", "é"] * 100, "y": [1, 0, 0] * 100}
)


def written(write: Callable[..., object], table: object = TABLE) -> bytes:
    buffer = io.BytesIO()
    write(table, buffer)
    return buffer.getvalue()


def packed(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("f.csv", content)
    return buffer.getvalue()


def npz() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, X=np.arange(600.0).reshape(300, 2), y=np.arange(300) % 2)
    return buffer.getvalue()


CSV = b"a,n,t,y\n" + b"".join(b'%d.5,%d,"x, y",%d\n' % (row, row % 7, row % 2) for row in range(300))
TABLES: dict[str, Callable[[], bytes]] = {
    "f.csv": lambda: CSV,
    "f.csv.gz": lambda: gzip.compress(CSV, mtime=0),
    "f.csv.xz": lambda: lzma.compress(CSV),
    "f.csv.zst": lambda: pa.compress(CSV, "zstd", asbytes=True),
    "f.zip": lambda: packed(CSV),
    "f.parquet": lambda: written(parquet.write_table),
    "f.feather": lambda: written(feather.write_feather),
    "f.npz": npz,
}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_tables(name: str, tmp_path: Path) -> None:
    def read(path: Path) -> object:
        file = open_table(path)
        return file.read(list(dict.fromkeys(file.names)))

    fuzz(tmp_path / name, TABLES[name](), read)


@cache
def registry() -> Registry:
    return load_registry()


#: CatBoost reads its own files, and verifies their form but not every number: see SECURITY.md.
LEARNERS = sorted({*load_registry().names(Kind.LEARNER)} - {"catboost"})


@pytest.mark.parametrize("name", LEARNERS)
def test_models(name: str, tmp_path: Path) -> None:
    plugin: Any = registry().find(name, Kind.LEARNER).plugin
    quick = {"trees": 20, "steps": 100}
    learner = plugin(**{key: value for key, value in quick.items() if key in plugin.space})
    one = Resources(n_threads=1)
    values = np.random.default_rng(1).standard_normal((400, 4))
    X = Table.from_array(values)
    model = learner.train(learner.prepare(X, one), Tags((values[:, 0] > 1).astype(np.float64)), Seed(1), one)
    path = tmp_path / f"model{plugin.suffix}"
    model.save(path)

    def read(changed: Path) -> object:
        loaded = plugin.load(changed)
        return loaded.predict(X, one), loaded.importances()

    fuzz(path, path.read_bytes(), read, 5 * CASES)


def test_records(tmp_path: Path) -> None:
    good = simulated({"a": 1.0, "b": 0.5}, ["alpha", "beta"], folds=2)
    folder = tmp_path / "records"
    for record in good:
        write_record(folder, record)
    (other,) = simulated({"c": 1.0}, ["alpha"], folds=1, tuned=["c"], labelled=5)

    def read(_: Path) -> object:
        board = load_board(folder)
        assert len(board.ranked.runs) + len(board.unreadable) == len(good) + 1
        return board

    fuzz(folder / "other.json", json.dumps(to_document(other), indent=1).encode(), read)


SUITE = (ROOT / "benchmarks/suites/smoke.toml").read_bytes()
CONFIGURATION = b"""seed = 3
[method]
name = "probtagging"
n_members = 5
[similarity]
name = "knn"
k = 7
[learner]
name = "lightgbm"
trees = 30
l2 = 1.5
"""
SPACE = b"""[learner.lightgbm]
depth = [2, 4]
trees = 100
random_cuts = [true]
l2 = [0.5, 20.0]
"""
ALIAS = json.dumps(
    {"schema": 1, "path": "/a/b.csv", "label": "y", "positive": "1", "drop": ["a"], "id": None}
)


def read_narrowed(path: Path) -> object:
    names = {Kind.METHOD: ["probtagging"], Kind.SIMILARITY: ["knn"], Kind.LEARNER: ["lightgbm"]}
    return narrowed(SearchSpace(registry(), names), read_space(path))


TEXTS: dict[str, tuple[str, bytes, Read]] = {
    "suite": ("f.toml", SUITE, read_suite),
    "configuration": ("f.toml", CONFIGURATION, read_toml),
    "space": ("f.toml", SPACE, read_narrowed),
    "alias": ("f.json", ALIAS.encode(), lambda path: list_aliases(path.parent)),
}


@pytest.mark.parametrize("what", sorted(TEXTS))
def test_texts(what: str, tmp_path: Path) -> None:
    name, content, read = TEXTS[what]
    fuzz(tmp_path / name, content, read, 5 * CASES)
