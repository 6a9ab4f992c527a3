"""Cached arrays come back the same, or are made again; the cache can cost time, never the answer."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pubench.errors import ParameterError
from pubench.system import cache as cache_module
from pubench.system.cache import ArrayCache, machine_cache
from pubench.types import Arrays, Resources


class Maker:
    """Counts its calls; each result is about `size` bytes."""

    def __init__(self, size: int = 800) -> None:
        self.calls = 0
        self.size = size

    def __call__(self) -> Arrays:
        self.calls += 1
        return {"ranks": np.arange(self.size // 8, dtype=np.int64), "flags": np.array([True, False])}


def entries(folder: Path, section: str = "arrays") -> set[str]:
    return {path.name for path in (folder / section).iterdir()}


def assert_same(found: Arrays, made: Arrays) -> None:
    assert found.keys() == made.keys()
    for name, array in made.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


# --- reading and writing


def test_the_second_time_the_arrays_are_read(tmp_path: Path) -> None:
    make, cache = Maker(), ArrayCache(tmp_path)
    first, second = (Resources(keep=cache).keep("k", make) for _ in range(2))
    assert make.calls == 1
    assert_same(second, first)
    assert entries(tmp_path) == {"k"}
    assert entries(tmp_path / "arrays", "k") == {"ranks.npy", "flags.npy", "description.json"}


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


def test_sections_do_not_mix(tmp_path: Path) -> None:
    make, cache = Maker(), ArrayCache(tmp_path)
    cache("k", make)
    replace(cache, section="datasets")("k", make)
    assert make.calls == 2
    with pytest.raises(ParameterError, match="no section 'sets'"):
        ArrayCache(tmp_path, section="sets")


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a.b", ".a", "A", "é", "x" * 65, "a\n", "-a"])
def test_names_and_keys_cannot_lead_out_of_the_folder(name: str, tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path / "cache")
    with pytest.raises(ParameterError, match="cannot name"):
        cache("k", lambda: {name: np.zeros(1)})
    with pytest.raises(ParameterError, match="cannot name"):
        cache(name, Maker())
    assert not list(tmp_path.rglob("*.npy"))


def test_python_objects_are_never_entries(tmp_path: Path) -> None:
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
def test_a_damaged_entry_is_made_again_with_a_notice(
    file: str, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    make = Maker()
    notices: list[str] = []
    cache = ArrayCache(tmp_path, notify=notices.append)
    made = cache("k", make)
    damage(tmp_path / "arrays/k" / file)
    assert_same(cache("k", make), made)
    assert make.calls == 2
    assert len(notices) == 1
    assert "damaged" in notices[0]
    assert_same(cache("k", make), made)
    assert make.calls == 2
    assert entries(tmp_path) == {"k"}


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
def test_an_invalid_description_counts_as_damage(text: str, tmp_path: Path) -> None:
    make = Maker()
    notices: list[str] = []
    cache = ArrayCache(tmp_path, notify=notices.append)
    cache("k", make)
    (tmp_path / "arrays/k/description.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    assert_same(cache("k", make), make())
    assert "damaged" in notices[0]


def test_a_pickle_is_not_opened_even_with_the_right_checksum(tmp_path: Path) -> None:
    entry = tmp_path / "arrays/k"
    entry.mkdir(parents=True)
    np.save(entry / "ranks.npy", np.array([Explosive()], dtype=object), allow_pickle=True)
    checksum = cache_module._checksum(entry / "ranks.npy")
    (entry / "description.json").write_text(json.dumps({"checksums": {"ranks": checksum}}))
    assert_same(ArrayCache(tmp_path)("k", Maker()), Maker()())


class Explosive:
    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return pytest.fail, ("a pickle was opened",)


def test_a_file_at_the_path_of_an_entry_counts_as_damage(tmp_path: Path) -> None:
    (tmp_path / "arrays").mkdir()
    (tmp_path / "arrays/k").write_text("not an entry")
    make = Maker()
    for _ in range(2):
        ArrayCache(tmp_path)("k", make)
    assert make.calls == 1


# --- a cache that cannot be written


def test_a_folder_that_cannot_be_made_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "arrays").write_text("a file where the folder should be")
    notices: list[str] = []
    assert_same(ArrayCache(tmp_path, notify=notices.append)("k", Maker()), Maker()())
    assert len(notices) == 1
    assert "could not be cached" in notices[0]


def test_a_full_disk_costs_only_time_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    notices: list[str] = []
    assert_same(ArrayCache(tmp_path, notify=notices.append)("k", Maker()), Maker()())
    assert "No space left on device" in notices[0]
    assert entries(tmp_path) == set()


def test_a_read_only_folder_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    make, cache = Maker(), ArrayCache(tmp_path)
    cache("k", make)
    monkeypatch.setattr(os, "utime", refuse)
    cache("k", make)
    assert make.calls == 1


# --- the limit


def use(folder: Path, key: str, seconds_ago: float, section: str = "arrays") -> None:
    then = time.time() - seconds_ago
    os.utime(folder / section / key, (then, then))


def test_the_entries_not_used_for_longest_are_removed_first(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path, limit_bytes=40_000)
    for age, key in ((30, "old"), (20, "older-but-read"), (10, "young")):
        cache(key, Maker(10_000))
        use(tmp_path, key, age)
    use(tmp_path, "older-but-read", 40)
    cache("older-but-read", lambda: pytest.fail("made twice"))
    cache("new", Maker(10_000))
    assert entries(tmp_path) == {"older-but-read", "young", "new"}
    assert cache.used_bytes <= 40_000


def test_all_sections_share_the_limit(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path, limit_bytes=15_000)
    replace(cache, section="datasets")("first", Maker(10_000))
    use(tmp_path, "first", 10, "datasets")
    cache("second", Maker(10_000))
    assert entries(tmp_path, "datasets") == set()
    assert entries(tmp_path) == {"second"}


def test_the_newest_entry_stays_even_if_clocks_disagree(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path, limit_bytes=15_000)
    cache("from-the-future", Maker(10_000))
    use(tmp_path, "from-the-future", -1000)
    cache("new", Maker(10_000))
    assert entries(tmp_path) == {"new"}


def test_a_result_beyond_the_limit_is_not_cached_with_a_notice(tmp_path: Path) -> None:
    notices: list[str] = []
    cache = ArrayCache(tmp_path, 15_000, notices.append)
    cache("small", Maker(10_000))
    cache("large", Maker(20_000))
    assert entries(tmp_path) == {"small"}
    assert len(notices) == 1
    assert "PUBENCH_CACHE_LIMIT" in notices[0]


def test_a_limit_of_0_caches_nothing_without_a_notice(tmp_path: Path) -> None:
    ArrayCache(tmp_path, 0, pytest.fail)("k", Maker())
    assert list(tmp_path.iterdir()) == []


def test_only_leftovers_of_dead_processes_are_removed(tmp_path: Path) -> None:
    section = tmp_path / "arrays"
    dead, alive = f".k-{'0' * 16}", f".k-{'1' * 16}"
    strangers = {".git", "My notes"}
    for name in (dead, alive, *strangers):
        (section / name).mkdir(parents=True)
        (section / name / "file").write_bytes(b"x" * 50_000)
        use(tmp_path, name, 60 if name == alive else 2 * 24 * 60 * 60)
    ArrayCache(tmp_path, limit_bytes=10_000)("k", Maker())
    assert entries(tmp_path) == {alive, "k", *strangers}


def test_the_size_of_a_missing_cache_is_0(tmp_path: Path) -> None:
    cache = ArrayCache(tmp_path / "no" / "where")
    assert cache.used_bytes == 0
    assert not cache.folder.exists()


# --- several at once


def test_an_entry_that_another_process_wrote_meanwhile_stays(tmp_path: Path) -> None:
    cache, make = ArrayCache(tmp_path, notify=pytest.fail), Maker()

    def slow() -> Arrays:
        cache("k", make)
        return make()

    assert_same(cache("k", slow), make())
    assert entries(tmp_path) == {"k"}


def test_an_entry_removed_while_it_is_read_is_made_again_without_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, cache = Maker(), ArrayCache(tmp_path, notify=pytest.fail)
    cache("k", make)
    checksum = cache_module._checksum

    def vanishing(path: Path) -> str:
        value = checksum(path)
        if path.parent.name == "k":
            shutil.rmtree(path.parent)
        return value

    monkeypatch.setattr(cache_module, "_checksum", vanishing)
    assert_same(cache("k", make), make())


def test_an_entry_removed_and_written_again_while_it_is_read_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, cache = Maker(), ArrayCache(tmp_path, notify=pytest.fail)
    cache("k", make)
    read, vanished = cache_module._read, [FileNotFoundError()]

    def interrupted(entry: Path) -> Arrays:
        if vanished:
            raise vanished.pop()
        return read(entry)

    monkeypatch.setattr(cache_module, "_read", interrupted)
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
from pubench.system.cache import ArrayCache

folder, start = Path(sys.argv[1]), int(sys.argv[2])
notices = []
cache = ArrayCache(folder, limit_bytes=30_000, notify=notices.append)
for step in range(300):
    number = (start + step * step) % 7
    arrays = cache(f"k{number}", lambda: {"a": np.full(1000, number), "b": np.full(100, -number)})
    assert (arrays["a"] == number).all() and len(arrays["a"]) == 1000
    assert (arrays["b"] == -number).all() and len(arrays["b"]) == 100
print(len([notice for notice in notices if "could not be cached" in notice]))
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
    assert not [name for name in entries(tmp_path) if name.startswith(".")]
    assert ArrayCache(tmp_path).used_bytes <= 40_000


# --- the cache of the machine


def test_the_cache_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("PUBENCH_CACHE_LIMIT", "1MB")
    assert machine_cache(print) == ArrayCache(tmp_path, 10**6, print)
