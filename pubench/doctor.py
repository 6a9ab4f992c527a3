"""Checks what pubench finds on this machine: versions, hardware, folders, storage, plugins; changes nothing."""

import os
import platform
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from warnings import catch_warnings

from pubench.api.discovery import PACKAGE, guard
from pubench.api.plugin import Learner
from pubench.api.registry import Registry
from pubench.errors import InputError, PluginError, one_line
from pubench.system.cache import machine_cache
from pubench.system.machine import cores, free_memory, memory_limit
from pubench.system.paths import data_folder, runs_folder
from pubench.system.redaction import redacted
from pubench.system.streams import silence

#: This folder may be read-only: data sets that are there need not be written.
DATA = "data sets"
_CONNECT_SECONDS = 5


@dataclass(frozen=True)
class FolderStatus:
    """A folder that pubench uses: whether it can be written to or created, and its free space.

    The cache also has the bytes used and their limit.
    """

    role: str
    path: str
    exists: bool
    writable: bool
    free_bytes: int
    used_bytes: int | None = None
    limit_bytes: int | None = None


@dataclass(frozen=True)
class CudaStatus:
    """Whether one learner can train on CUDA here; `problem` is empty if it can."""

    learner: str
    package: str
    problem: str


@dataclass(frozen=True)
class StorageStatus:
    """The storage of studies; `problem` is empty if it can be used. Passwords are masked."""

    place: str
    problem: str


@dataclass(frozen=True)
class Diagnosis:
    """The result of all checks."""

    versions: Mapping[str, str]
    system: str
    cores: int
    memory_bytes: int
    memory_available_bytes: int
    cuda: tuple[CudaStatus, ...]
    folders: tuple[FolderStatus, ...]
    storage: StorageStatus
    plugins: int
    plugin_problems: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether pubench can work here; a missing GPU is not a problem."""
        return (
            not self.storage.problem
            and not self.plugin_problems
            and "not installed" not in self.versions.values()
            and all(folder.writable for folder in self.folders if folder.role != DATA)
        )


def diagnose(registry: Registry, storage_url: str | None = None) -> Diagnosis:
    """Check versions, cores, memory, CUDA for each learner, folders, storage and plugins."""
    import psutil  # noqa: PLC0415 - heavy imports happen when used

    memory = psutil.virtual_memory()
    limit = memory_limit()
    return Diagnosis(
        versions=_versions(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=cores(),
        memory_bytes=min(memory.total, limit or memory.total),
        memory_available_bytes=free_memory(),
        cuda=_cuda(registry),
        folders=(
            _folder(DATA, data_folder()),
            _cache(),
            _folder("runs", runs_folder()),
        ),
        storage=_storage(storage_url),
        plugins=len(registry.entries),
        plugin_problems=tuple(str(failure.error) for failure in registry.failures),
    )


def _versions() -> dict[str, str]:
    required = [requirement for requirement in requires(PACKAGE) or [] if "extra ==" not in requirement]
    packages = [PACKAGE, *(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in required)]
    return {"python": platform.python_version()} | {name: _version(name) for name in packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cuda(registry: Registry) -> tuple[CudaStatus, ...]:
    statuses = []
    for entry in registry.entries:
        if not issubclass(entry.plugin, Learner) or not entry.plugin.supports_cuda:
            continue
        try:
            with (
                guard(entry.origin, "could not check for CUDA"),
                silence(),
                catch_warnings(action="ignore"),
            ):
                problem = entry.plugin.cuda_problem() or ""
        except PluginError as error:
            problem = str(error)
        statuses.append(CudaStatus(entry.name, str(entry.origin), problem))
    return tuple(statuses)


def _folder(role: str, path: Path) -> FolderStatus:
    nearest = next(parent for parent in (path, *path.parents) if os.path.exists(parent))  # noqa: PTH110 - never raises
    return FolderStatus(
        role=role,
        path=str(path),
        exists=os.path.isdir(path),  # noqa: PTH112 - never raises
        writable=os.access(nearest, os.W_OK) and nearest.is_dir(),
        free_bytes=shutil.disk_usage(nearest).free,
    )


def _cache() -> FolderStatus:
    cache = machine_cache()
    folder = _folder("cache", cache.folder)
    return replace(folder, used_bytes=cache.used_bytes, limit_bytes=cache.limit_bytes)


def _storage(url: str | None) -> StorageStatus:
    if url is None:
        return StorageStatus("a journal file in each run folder", "")
    from sqlalchemy import create_engine, make_url  # noqa: PLC0415
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError  # noqa: PLC0415

    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # The text may contain a password, so the message does not repeat it.
        raise InputError(
            "--storage is not a database address; it looks like postgresql+psycopg://user@host/name or sqlite:///file.db."
        ) from None
    masked = redacted(url)
    backend = address.get_backend_name()
    if backend == "sqlite":
        return StorageStatus(masked, _sqlite_problem(address.database))
    timeout = {"connect_timeout": _CONNECT_SECONDS} if backend == "postgresql" else {}
    try:
        create_engine(address, connect_args=timeout).connect().close()
    except (ModuleNotFoundError, NoSuchModuleError):
        advice = (
            ": postgresql+psycopg://... with pip install 'pubench[postgres]'"
            if backend == "postgresql"
            else ""
        )
        return StorageStatus(masked, f"its driver is not installed{advice}")
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        return StorageStatus(masked, f"no connection: {redacted(one_line(str(cause)))}")
    return StorageStatus(masked, "")


def _sqlite_problem(database: str | None) -> str:
    """Return why an SQLite file cannot be used; without connecting, which would create it."""
    if not database or database == ":memory:":
        return "a study in memory is lost when the process ends; name a file"
    path = Path(database).absolute()
    if path.is_dir():
        return "it is a folder; name a file in it"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return f"{path} cannot be written"
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return "" if file.read(16) in (b"", b"SQLite format 3\0") else "the file is not an SQLite database"
