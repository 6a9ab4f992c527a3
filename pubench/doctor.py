"""Looks at this machine and says what pubench will find here; changes nothing."""

import os
import platform
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from warnings import catch_warnings

from pubench.discovery import PACKAGE, guard
from pubench.errors import InputError, PluginError, one_line
from pubench.keeping import machine_cache
from pubench.machine import cores, free_memory, memory_limit
from pubench.paths import data_folder, runs_folder
from pubench.plugin_api import Learner
from pubench.registry import Registry
from pubench.streams import silence

#: May be read-only: data sets that are there need no writing.
DATA = "data sets"
_CONNECT_SECONDS = 5


@dataclass(frozen=True)
class Folder:
    """A folder pubench uses: whether it can be written to, or created, and the free space there.

    The cache also has a limit and what is used of it.
    """

    role: str
    path: str
    exists: bool
    writable: bool
    free_bytes: int
    used_bytes: int | None = None
    limit_bytes: int | None = None


@dataclass(frozen=True)
class Cuda:
    """Whether one learner can train on CUDA here; `problem` is empty if it can."""

    learner: str
    package: str
    problem: str


@dataclass(frozen=True)
class Storage:
    """Where studies are kept, and whether it answers; `problem` is empty if it does. Passwords are masked."""

    place: str
    problem: str


@dataclass(frozen=True)
class Diagnosis:
    """What was found."""

    versions: Mapping[str, str]
    system: str
    cores: int
    memory_bytes: int
    memory_available_bytes: int
    cuda: tuple[Cuda, ...]
    folders: tuple[Folder, ...]
    storage: Storage
    plugins: int
    plugin_problems: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether `pubench` can work here; a missing GPU is no illness."""
        return (
            not self.storage.problem
            and not self.plugin_problems
            and "not installed" not in self.versions.values()
            and all(folder.writable for folder in self.folders if folder.role != DATA)
        )


def diagnose(registry: Registry, storage_url: str | None = None) -> Diagnosis:
    """Look at versions, cores, memory, CUDA as each learner sees it, folders, storage and plugins."""
    import psutil  # noqa: PLC0415 - heavy: only `doctor` pays for it

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
    wanted = [requirement for requirement in requires(PACKAGE) or [] if "extra ==" not in requirement]
    packages = [PACKAGE, *(re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in wanted)]
    return {"python": platform.python_version()} | {name: _version(name) for name in packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cuda(registry: Registry) -> tuple[Cuda, ...]:
    found = []
    for entry in registry.entries:
        if not issubclass(entry.plugin, Learner) or not entry.plugin.supports_cuda:
            continue
        try:
            with (
                guard(entry.origin, "could not say whether it sees CUDA"),
                silence(),
                catch_warnings(action="ignore"),
            ):
                problem = entry.plugin.cuda_problem() or ""
        except PluginError as error:
            problem = str(error)
        found.append(Cuda(entry.name, str(entry.origin), problem))
    return tuple(found)


def _folder(role: str, path: Path) -> Folder:
    nearest = next(place for place in (path, *path.parents) if os.path.exists(place))  # noqa: PTH110 - never raises
    return Folder(
        role=role,
        path=str(path),
        exists=os.path.isdir(path),  # noqa: PTH112 - never raises
        writable=os.access(nearest, os.W_OK) and nearest.is_dir(),
        free_bytes=shutil.disk_usage(nearest).free,
    )


def _cache() -> Folder:
    cache = machine_cache()
    found = _folder("cache", cache.folder)
    return replace(found, used_bytes=cache.used_bytes, limit_bytes=cache.limit_bytes)


def _storage(url: str | None) -> Storage:
    if url is None:
        return Storage("a journal file in each run folder", "")
    from sqlalchemy import create_engine, make_url  # noqa: PLC0415
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError  # noqa: PLC0415

    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # The text may hold a password, so it is not repeated.
        raise InputError(
            "--storage is not a database address; it looks like postgresql+psycopg://user@host/name or sqlite:///file.db."
        ) from None
    place = address.set(query={}).render_as_string(hide_password=True)
    backend = address.get_backend_name()
    if backend == "sqlite":
        return Storage(place, _sqlite_problem(address.database))
    timeout = {"connect_timeout": _CONNECT_SECONDS} if backend == "postgresql" else {}
    try:
        create_engine(address, connect_args=timeout).connect().close()
    except (ModuleNotFoundError, NoSuchModuleError):
        advice = (
            ": postgresql+psycopg://... with pip install 'pubench[postgres]'"
            if backend == "postgresql"
            else ""
        )
        return Storage(place, f"its driver is not installed{advice}")
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        return Storage(place, f"no connection: {one_line(str(cause))}")
    return Storage(place, "")


def _sqlite_problem(database: str | None) -> str:
    """Return what keeps an SQLite file from being used; connecting would create it, so that is not tried."""
    if not database or database == ":memory:":
        return "a study in memory is gone when the process ends; name a file"
    path = Path(database).absolute()
    if path.is_dir():
        return "it is a folder; name a file in it"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return f"{path} can not be written"
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return "" if file.read(16) in (b"", b"SQLite format 3\0") else "the file is no SQLite database"
