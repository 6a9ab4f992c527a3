"""Machine code of kernels is kept on disk, and never used after one of the kernel files has changed."""

import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from pubench.neighbors import compilation
from pubench.neighbors.compilation import KERNEL_FILES, kernel

#: Kernels in two files: one calls a function and reads a constant of the other.
CANDIDATES = """
from neighbors.compilation import kernel

STEP = {step}

@kernel()
def raised(x):
    return x + {summand}
"""
LEAF_KERNELS = """
from neighbors.candidates import STEP, raised
from neighbors.compilation import kernel

@kernel()
def walked(x):
    return raised(x) + STEP
"""
RUN = """
from neighbors.leaf_kernels import walked
print(walked(0), sum(walked.stats.cache_hits.values()))
"""
#: A kernel with a named tuple for an argument.
PAIRS = """
from typing import NamedTuple
from neighbors.compilation import kernel

class {name}(NamedTuple):
    x: int

@kernel()
def first(pair):
    return pair.x

def run():
    return first({name}(3))
"""


def write_kernels(folder: Path, summand: int = 1, step: int = 10) -> None:
    """Write a package whose kernels add `summand` and `step`."""
    package = folder / "neighbors"
    package.mkdir(exist_ok=True)
    for name in ("__init__.py", *KERNEL_FILES):
        (package / name).touch()
    (package / "compilation.py").write_bytes(Path(compilation.__file__).read_bytes())
    (package / "candidates.py").write_text(CANDIDATES.format(summand=summand, step=step))
    (package / "leaf_kernels.py").write_text(LEAF_KERNELS)


def run(folder: Path) -> list[int]:
    """Return the result of the kernel in a new process, and the number of its functions read from the cache."""
    program = [sys.executable, "-B", "-c", RUN]
    return [int(word) for word in subprocess.check_output(program, cwd=folder, text=True).split()]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_a_change_in_one_kernel_file_recompiles_the_kernels_of_the_others(tmp_path: Path) -> None:
    write_kernels(tmp_path)
    assert run(tmp_path) == [11, 0]
    assert run(tmp_path) == [11, 1]
    write_kernels(tmp_path, summand=2)
    assert run(tmp_path) == [12, 0]
    write_kernels(tmp_path, summand=2, step=20)
    assert run(tmp_path) == [22, 0]
    assert run(tmp_path) == [22, 1]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_a_renamed_named_tuple_recompiles_its_kernels(tmp_path: Path) -> None:
    write_kernels(tmp_path)
    for name in ("Pair", "Couple"):
        (tmp_path / "neighbors" / "all_distances.py").write_text(PAIRS.format(name=name))
        program = [sys.executable, "-B", "-c", "from neighbors.all_distances import run; print(run())"]
        assert subprocess.check_output(program, cwd=tmp_path, text=True) == "3\n"


def test_a_kernel_in_a_file_that_is_not_listed_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Add test_compilation\.py to KERNEL_FILES"):
        kernel()(lambda x: x)


def test_all_files_that_kernels_import_are_listed() -> None:
    folder = Path(compilation.__file__).parent
    for name in KERNEL_FILES:
        for line in (folder / name).read_text().splitlines():
            if line.startswith("from pubench.neighbors."):
                imported = line.split()[1].rpartition(".")[2] + ".py"
                assert imported in {*KERNEL_FILES, "engine.py"}, (
                    name
                )  # engine: Python alone, nothing is compiled of it
