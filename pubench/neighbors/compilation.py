"""Compiles kernels, and keeps the machine code on disk until a kernel file changes.

numba's cache compares the file of a function alone: a function, a constant or a named tuple that it imports from another
file can change while stale machine code goes on being used (numba's manual, "Caching: Limitations"). Kernels are built
from several files here, so the cache of each depends on the content of all of them.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit
from numba.core.caching import FunctionCache

#: The files of this folder that hold kernels, or what these are compiled from.
KERNEL_FILES = (
    "compilation.py",
    "simd.py",
    "candidates.py",
    "leaf_codes.py",
    "leaf_kernels.py",
    "product_kernels.py",
    "all_distances.py",
    "partition.py",
)

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(**options: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles a function when it is first called, outside the GIL, or reads it from the cache.

    Args:
        **options: for `numba.njit`.

    Raises:
        ValueError: the function is in a file that is not among `KERNEL_FILES`.
    """

    def decorate(function: Function) -> Function:
        name = Path(function.__code__.co_filename).name
        if name not in KERNEL_FILES:
            raise ValueError(
                f"Add {name} to KERNEL_FILES: the cache of kernels depends on the files listed there."
            )
        compiled: Any = njit(nogil=True, **options)(function)
        if not config.DISABLE_JIT:
            compiled._cache = _KernelCache(function)  # noqa: SLF001 - as its `enable_caching` does
        return compiled

    return decorate


class _KernelCache(FunctionCache):  # type: ignore[misc]  # numba ships no types
    """The machine code of one function, valid as long as no kernel file changes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Compared before the index is unpickled, which fails if a named tuple in it was renamed or removed.
        self._cache_file._version += f" {_sources()}"  # noqa: SLF001


@cache
def _sources() -> str:
    """Return a hash of the content of all kernel files."""
    folder = Path(__file__).parent
    return sha256(b"".join((folder / name).read_bytes() for name in KERNEL_FILES)).hexdigest()
