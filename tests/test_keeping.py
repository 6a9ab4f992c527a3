"""What is kept comes back the same, or is made again; the cache can cost time, never the answer."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubench import keeping
from pubench.errors import ParameterError
from pubench.keeping import ArrayCache, content_key, machine_cache
from pubench.paths import DEFAULT_CACHE_LIMIT, cache_limit
from pubench.types import Arrays, Resources


class Maker:
    """Counts its calls; each result is about `size` bytes."""

    def __init__(self, size: int = 800) -> None:
        self.calls = 0
        self.size = size

    def __call__(self) -> Arrays:
        self.calls += 1
        return {"ranks": np.arange(self.size // 8, dtype=np.int64), "flags": np.array([True, False])}


def kept(folder: Path, shelf: str = "arrays") -> set[str]:
    return {path.name for path in (folder / shelf).iterdir()}


def assert_same(found: Arrays, made: Arrays) -> None:
    assert found.keys() == made.keys()
    for name, array in made.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


# --- keys


class Word(StrEnum):
    ONE = "1"


DIFFERENT: list[tuple[object, ...]] = [
    (),
    (None,),
    (True,),
    (False,),
    (1,),
    (0,),
    (1.0,),
    (-0.0,),
    (0.0,),
    ("1",),
    ("",),
    ("None",),
    (1, 1),
    (11,),
    ((1, 1),),
    ([1, 1],),
    ((1,), 1),
    (1, (1,)),
    ((),),
    ([],),
    ({},),
    ({"a": 1},),
    ({"a": 1, "b": 2},),
    ({"a": {"b": 2}},),
    ("a", 1),
    ("ab", "c"),
    ("a", "bc"),
    (np.zeros(4),),
    (np.zeros(4, np.float32),),
    (np.zeros(4, ">f8"),),
    (np.zeros((2, 2)),),
    (np.zeros(0),),
    (np.zeros((0, 2)),),
    (np.array(0.0),),
    (np.zeros(4, bool),),
    (np.zeros(4, np.int8),),
    (np.zeros(2), np.zeros(2)),
    (np.zeros(2, [("x", "f4"), ("y", "f4")]),),
    (np.zeros(2, [("x", "f4"), ("z", "f4")]),),
    (np.zeros(4, "datetime64[s]"),),
    (np.zeros(4, "datetime64[D]"),),
]


def test_different_parts_have_different_keys() -> None:
    keys = [content_key(*parts) for parts in DIFFERENT]
    assert len(set(keys)) == len(DIFFERENT)
    assert all(len(key) == 32 and set(key) <= set("0123456789abcdef") for key in keys)


def test_equal_parts_have_equal_keys_however_they_are_stored() -> None:
    matrix = np.arange(24.0).reshape(4, 6)
    for same in (np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2], matrix[::-1].copy()[::-1]):
        assert content_key(same) == content_key(matrix)
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    assert content_key(Word.ONE) == content_key("1")
    assert content_key(np.float64(0.1)) == content_key(0.1)
    assert content_key("\udc80") != content_key("?")


def test_an_array_out_of_order_is_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.arange(60.0).reshape(10, 6)
    monkeypatch.setattr(keeping, "_BLOCK_BYTES", 100)
    assert content_key(np.asfortranarray(matrix)) == content_key(matrix)


def test_a_key_is_the_same_on_every_machine() -> None:
    assert (
        content_key("knn", 18, 0.5, [None, True], np.arange(3, dtype="<i4"))
        == "bbbc8462200fe5c9517f6568e2ced1ba"
    )


parts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(first=parts, second=parts)
@settings(deadline=None)
def test_keys_are_equal_exactly_when_the_written_parts_are(first: object, second: object) -> None:
    # JSON writes every difference between these types, but not their order in mappings.
    equal = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert (content_key(first) == content_key(second)) is equal


@pytest.mark.parametrize(
    "part",
    [
        {1},
        b"bytes",
        Path("x"),
        1j,
        np.int64(1),
        np.array([object()]),
        np.ma.masked_array([1, 2], [True, False]),
        {1: 2},
        [{"a": object()}],
    ],
    ids=lambda part: type(part).__name__,
)
def test_other_types_are_refused(part: object) -> None:
    with pytest.raises(ParameterError, match="key can"):
        content_key(part)


# --- keeping


def test_the_second_time_nothing_is_made(tmp_path: Path) -> None:
    make, cache = Maker(), ArrayCache(tmp_path)
    first, second = (Resources(keep=cache).keep("k", make) for _ in range(2))
    assert make.calls == 1
    assert_same(second, first)
    assert kept(tmp_path) == {"k"}
    assert kept(tmp_path / "arrays", "k") == {"ranks.npy", "flags.npy", "description.json"}


def test_arrays_of_any_plain_type_and_shape_come_back(tmp_path: Path) -> None:
    arrays: Arrays = {
        "scalar": np.array(1.5),
        "empty": np.zeros((0, 3), np.float32),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "text": np.array(["a", "bc"]),
        "records": np.zeros(2, [("x", "f4"), ("y", "i8")]),
        "big-endian": np.arange(3, dtype=">i4"),
    }
    cache = ArrayCache(tmp_path)
    assert_same(cache("k", lambda: arrays), arrays)
    assert_same(cache("k", lambda: pytest.fail("made twice")), arrays)
    assert cache("none", dict) == {} == cache("none", lambda: pytest.fail("made twice"))


def test_arrays_are_read_only_whether_made_or_read(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            ArrayCache(tmp_path)("k", Maker())["ranks"][0] = 1


def test_shelves_do_not_mix(tmp_path: Path) -> None:
    make, cache = Maker(), ArrayCache(tmp_path)
    cache("k", make)
    replace(cache, shelf="datasets")("k", make)
    assert make.calls == 2
    with pytest.raises(ParameterError, match="no shelf 'sets'"):
        ArrayCache(tmp_path, shelf="sets")


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a.b", ".a", "A", "é", "x" * 65, "a\n", "-a"])
def test_names_and_keys_lead_nowhere_else(name: str, tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path / "cache")
    with pytest.raises(ParameterError, match="can not name"):
        cache("k", lambda: {name: np.zeros(1)})
    with pytest.raises(ParameterError, match="can not name"):
        cache(name, Maker())
    assert not list(tmp_path.rglob("*.npy"))


def test_python_objects_are_never_kept(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Python objects"):
        ArrayCache(tmp_path)("k", lambda: {"a": np.array([object()])})


def test_an_error_while_making_goes_through_and_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> Arrays:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ArrayCache(tmp_path)("k", fail)
    assert list(tmp_path.rglob("*")) == []


# --- damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("file", ["ranks.npy", "description.json"])
@pytest.mark.parametrize("damage", [cut, flip, empty, Path.unlink, replace_by_folder])
def test_a_damaged_entry_is_made_again_and_said_so(
    file: str, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    make = Maker()
    notices: list[str] = []
    cache = ArrayCache(tmp_path, notice=notices.append)
    made = cache("k", make)
    damage(tmp_path / "arrays/k" / file)
    assert_same(cache("k", make), made)
    assert make.calls == 2
    assert len(notices) == 1
    assert "damaged" in notices[0]
    assert_same(cache("k", make), made)
    assert make.calls == 2
    assert kept(tmp_path) == {"k"}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "3",
        "{}",
        '{"checksums": 3}',
        '{"checksums": ["ranks"]}',
        '{"checksums": {"ranks": 3}}',
        '{"checksums": {"../k/ranks": "x"}}',
        "[" * 100_000,
        "\udc80",
    ],
    ids=lambda text: text[:20],
)
def test_a_junk_description_is_damage(text: str, tmp_path: Path) -> None:
    make = Maker()
    notices: list[str] = []
    cache = ArrayCache(tmp_path, notice=notices.append)
    cache("k", make)
    (tmp_path / "arrays/k/description.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    assert_same(cache("k", make), make())
    assert "damaged" in notices[0]


def test_a_pickle_is_not_opened_even_with_the_right_checksum(tmp_path: Path) -> None:
    entry = tmp_path / "arrays/k"
    entry.mkdir(parents=True)
    np.save(entry / "ranks.npy", np.array([Explosive()], dtype=object), allow_pickle=True)
    checksum = keeping._checksum(entry / "ranks.npy")
    (entry / "description.json").write_text(json.dumps({"checksums": {"ranks": checksum}}))
    assert_same(ArrayCache(tmp_path)("k", Maker()), Maker()())


class Explosive:
    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return pytest.fail, ("a pickle was opened",)


def test_a_file_in_the_place_of_an_entry_is_damage(tmp_path: Path) -> None:
    (tmp_path / "arrays").mkdir()
    (tmp_path / "arrays/k").write_text("not an entry")
    make = Maker()
    for _ in range(2):
        ArrayCache(tmp_path)("k", make)
    assert make.calls == 1


# --- a cache that can not be written


def test_a_folder_that_can_not_be_made_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "arrays").write_text("a file where the folder should be")
    notices: list[str] = []
    assert_same(ArrayCache(tmp_path, notice=notices.append)("k", Maker()), Maker()())
    assert len(notices) == 1
    assert "could not be kept" in notices[0]


def test_a_full_disk_costs_only_time_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    notices: list[str] = []
    assert_same(ArrayCache(tmp_path, notice=notices.append)("k", Maker()), Maker()())
    assert "No space left on device" in notices[0]
    assert kept(tmp_path) == set()


def test_a_read_only_folder_still_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    make, cache = Maker(), ArrayCache(tmp_path)
    cache("k", make)
    monkeypatch.setattr(os, "utime", refuse)
    cache("k", make)
    assert make.calls == 1


# --- the limit


def use(folder: Path, key: str, seconds_ago: float, shelf: str = "arrays") -> None:
    then = time.time() - seconds_ago
    os.utime(folder / shelf / key, (then, then))


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path, limit_bytes=40_000)
    for age, key in ((30, "old"), (20, "older-but-read"), (10, "young")):
        cache(key, Maker(10_000))
        use(tmp_path, key, age)
    use(tmp_path, "older-but-read", 40)
    cache("older-but-read", lambda: pytest.fail("made twice"))
    cache("new", Maker(10_000))
    assert kept(tmp_path) == {"older-but-read", "young", "new"}
    assert cache.used_bytes <= 40_000


def test_all_shelves_share_the_limit(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path, limit_bytes=15_000)
    replace(cache, shelf="datasets")("first", Maker(10_000))
    use(tmp_path, "first", 10, "datasets")
    cache("second", Maker(10_000))
    assert kept(tmp_path, "datasets") == set()
    assert kept(tmp_path) == {"second"}


def test_the_newest_stays_even_where_clocks_disagree(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path, limit_bytes=15_000)
    cache("from-the-future", Maker(10_000))
    use(tmp_path, "from-the-future", -1000)
    cache("new", Maker(10_000))
    assert kept(tmp_path) == {"new"}


def test_what_is_beyond_the_limit_is_not_kept_and_said_so(tmp_path: Path) -> None:
    notices: list[str] = []
    cache = ArrayCache(tmp_path, 15_000, notices.append)
    cache("small", Maker(10_000))
    cache("large", Maker(20_000))
    assert kept(tmp_path) == {"small"}
    assert len(notices) == 1
    assert "PUBENCH_CACHE_LIMIT" in notices[0]


def test_a_limit_of_0_keeps_nothing_without_a_word(tmp_path: Path) -> None:
    ArrayCache(tmp_path, 0, pytest.fail)("k", Maker())
    assert list(tmp_path.iterdir()) == []


def test_what_dead_processes_left_is_swept_out_and_nothing_else(tmp_path: Path) -> None:
    shelf = tmp_path / "arrays"
    dead, alive = f".k-{'0' * 16}", f".k-{'1' * 16}"
    strangers = {".git", "My notes"}
    for name in (dead, alive, *strangers):
        (shelf / name).mkdir(parents=True)
        (shelf / name / "file").write_bytes(b"x" * 50_000)
        use(tmp_path, name, 60 if name == alive else 2 * 24 * 60 * 60)
    ArrayCache(tmp_path, limit_bytes=10_000)("k", Maker())
    assert kept(tmp_path) == {alive, "k", *strangers}


def test_the_size_of_a_cache_that_is_not_there_is_0(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path / "no" / "where")
    assert cache.used_bytes == 0
    assert not cache.folder.exists()


# --- several at once


def test_an_entry_that_another_process_made_meanwhile_is_fine(tmp_path: Path) -> None:
    cache, make = ArrayCache(tmp_path, notice=pytest.fail), Maker()

    def slow() -> Arrays:
        cache("k", make)
        return make()

    assert_same(cache("k", slow), make())
    assert kept(tmp_path) == {"k"}


def test_an_entry_removed_while_it_is_read_is_made_again_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, cache = Maker(), ArrayCache(tmp_path, notice=pytest.fail)
    cache("k", make)
    checksum = keeping._checksum

    def vanishing(path: Path) -> str:
        value = checksum(path)
        if path.parent.name == "k":
            shutil.rmtree(path.parent)
        return value

    monkeypatch.setattr(keeping, "_checksum", vanishing)
    assert_same(cache("k", make), make())


def test_an_entry_removed_and_made_again_while_it_is_read_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, cache = Maker(), ArrayCache(tmp_path, notice=pytest.fail)
    cache("k", make)
    read, vanished = keeping._read, [FileNotFoundError()]

    def interrupted(entry: Path) -> Arrays:
        if vanished:
            raise vanished.pop()
        return read(entry)

    monkeypatch.setattr(keeping, "_read", interrupted)
    cache("k", make)
    assert make.calls == 1


def test_a_cache_can_be_sent_to_another_process(tmp_path: Path) -> None:
    made = ArrayCache(tmp_path)("k", Maker())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(ArrayCache(tmp_path), ("k", dict))
    assert_same(found, made)


WORKER = """
import sys
from pathlib import Path
import numpy as np
from pubench.keeping import ArrayCache

folder, start = Path(sys.argv[1]), int(sys.argv[2])
notices = []
cache = ArrayCache(folder, limit_bytes=30_000, notice=notices.append)
for step in range(300):
    number = (start + step * step) % 7
    arrays = cache(f"k{number}", lambda: {"a": np.full(1000, number), "b": np.full(100, -number)})
    assert (arrays["a"] == number).all() and len(arrays["a"]) == 1000
    assert (arrays["b"] == -number).all() and len(arrays["b"]) == 100
print(len([notice for notice in notices if "could not be kept" in notice]))
"""


def test_processes_that_make_read_and_evict_at_once_all_get_the_right_arrays(tmp_path: Path) -> None:
    # Three of seven entries fit, so every process removes what others are reading.
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(start)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for start in range(3)
    ]
    for worker in workers:
        out, error = worker.communicate(timeout=120)
        assert worker.returncode == 0, error
        assert out.strip() == "0"
    assert not [name for name in kept(tmp_path) if name.startswith(".")]
    assert ArrayCache(tmp_path).used_bytes <= 40_000


# --- where and how much


def test_the_cache_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("PUBENCH_CACHE_LIMIT", "1MB")
    assert machine_cache(print) == ArrayCache(tmp_path, 10**6, print)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5GB", 5 * 10**9),
        ("5 gb", 5 * 10**9),
        (" 1.5GiB ", 3 * 2**29),
        ("200MB", 2 * 10**8),
        ("1kib", 1024),
        ("2TB", 2 * 10**12),
        ("0", 0),
        ("", DEFAULT_CACHE_LIMIT),
    ],
)
def test_the_environment_sets_the_limit(text: str, limit: int) -> None:
    assert cache_limit({"PUBENCH_CACHE_LIMIT": text}) == limit


@pytest.mark.parametrize(
    "text", ["5", "plenty", "-1GB", "GB", "1e3GB", "5GBs", "٣GB", "nan", "9" * 400 + "GB"]
)
def test_a_limit_that_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="PUBENCH_CACHE_LIMIT is"):
        cache_limit({"PUBENCH_CACHE_LIMIT": text})
