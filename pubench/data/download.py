"""Finds the files of data sets on this machine, and fetches those that are not there.

find -> obtain <- fetch: one attempt after the other into a hidden file beside the target, which then takes its name
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias
from urllib import request
from urllib.error import HTTPError, URLError

from pubench.atomic import replacing
from pubench.errors import DataError, FetchError

if TYPE_CHECKING:
    # Only its type: what moves bytes stays out of reach of the truth that data sets carry.
    from pubench.dataset_api import DataFile

#: Called with the bytes that have arrived and, where the server said, how many there will be. May go back to 0.
Progress: TypeAlias = Callable[[int, int | None], None]

_PACKED = ("", ".gz", ".xz", ".zst")
_BLOCK = 1 << 18
_SCHEMES = ("http", "https")
_TRY_AGAIN = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class Limits:
    """How much a download may ask of time and disk.

    Attributes:
        timeout: seconds to connect, and seconds in which at least one byte must arrive.
        attempts: how often it is tried when the connection is cut or stalls or the server is busy.
        pause: seconds before the second attempt; doubled before each further one.
        size: bytes of the largest file that is accepted.
    """

    timeout: float = 30.0
    attempts: int = 4
    pause: float = 1.0
    size: int = 4 << 30


_LIMITS = Limits()


def find(file: "DataFile", folders: Sequence[Path]) -> Path | None:
    """Return the first of the file's names, bare or with .gz, .xz or .zst, in the first folder that has one.

    Raises:
        DataError: a folder cannot be looked into.
    """
    for folder in folders:
        for name in file.names:
            for suffix in _PACKED:
                path = folder / f"{name}{suffix}"
                if _is_file(path):
                    return path
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise DataError(f"{path} can not be looked for: {error.strerror or error}.") from error


def obtain(
    file: "DataFile",
    data_folder: Path,
    *,
    allow_download: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Return where the file is in `data_folder`, fetching it there if it is not and `allow_download` is set.

    Raises:
        FetchError: it is not there and cannot or may not be fetched; names the address and the place to put it.
    """
    found = find(file, [data_folder])
    if found is not None:
        return found
    if not allow_download:
        target = data_folder / file.names[0]
        raise FetchError(
            f"{target.name} is not in {data_folder} and downloading is off; get it from {file.url} and save it as {target}."
        )
    return fetch(file, data_folder, progress=progress)


def fetch(
    file: "DataFile", folder: Path, *, progress: Progress | None = None, limits: Limits = _LIMITS
) -> Path:
    """Download the file to `folder / names[0]` and return that path.

    The file appears there whole, of the announced length and with the known checksum, or not at all: on any failure,
    Ctrl-C and an exception of `progress` included, whatever was there before still is and nothing else is left.
    Several processes may fetch the same file at once. A cut or stalled connection is taken up again where it ended if
    the server can do that for the same version of the file, else from the beginning.

    Raises:
        DataError: the folder can not be written to or the disk is full.
        FetchError: anything else; with the reason, the address and the
            place to put the file by hand.
    """
    target = folder / file.names[0]
    if file.url.partition(":")[0].lower() not in _SCHEMES:
        raise _error(file, folder, "only http and https addresses are fetched")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{target} can not be written: {error.strerror or error}.") from error
    with replacing(target) as temporary:
        try:
            _download(file, temporary, progress or _unseen, limits)
        except _Failure as failure:
            raise _error(file, folder, failure.reason) from failure.__cause__
    return target


def _unseen(received: int, total: int | None) -> None:
    """Show nothing."""


def _error(file: "DataFile", folder: Path, reason: str) -> FetchError:
    name = file.names[0]
    return FetchError(
        f"{name} could not be fetched from {file.url}: {reason}; get it by hand and save it as {folder / name}."
    )


class _Failure(Exception):  # noqa: N818 - a reason on its way to a DataError, not an error that anybody sees
    """Why an attempt ended, and whether another one may end better."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.passing = passing


class _Part:
    """The bytes that have arrived so far, on disk and in the checksum."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.start_again()

    def start_again(self) -> None:
        self._stream.seek(0)
        self._stream.truncate()
        self._digest = hashlib.sha256()
        self.size = 0
        self.version = ""

    def add(self, block: bytes) -> None:
        self._stream.write(block)
        self._digest.update(block)
        self.size += len(block)

    def finish(self, sha256: str | None) -> None:
        if self.size == 0:
            raise _Failure("the server sent an empty file")
        got = self._digest.hexdigest()
        if sha256 is not None and got != sha256.lower():
            raise _Failure(
                f"what arrived has the SHA-256 checksum {got[:12]}..., expected {sha256[:12].lower()}..."
            )
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _download(file: "DataFile", path: Path, progress: Progress, limits: Limits) -> None:
    with path.open("wb") as stream:
        part = _Part(stream)
        for attempt in range(1, limits.attempts + 1):
            try:
                _receive(file.url, part, progress, limits)
                break
            except _Failure as failure:
                if not failure.passing:
                    raise
                if attempt == limits.attempts:
                    times = f" in the last of {attempt} attempts" if attempt > 1 else ""
                    raise _Failure(f"{failure.reason}{times}") from failure.__cause__
            time.sleep(limits.pause * 2 ** (attempt - 1))
        part.finish(file.sha256)


def _receive(url: str, part: _Part, progress: Progress, limits: Limits) -> None:
    """Bring `part` to its end; on a passing failure it holds what arrived."""
    with _open(url, part, limits) as response:
        if response.status != 206:
            part.start_again()
            part.version = response.headers.get("ETag", "")
        total = None if response.length is None else part.size + response.length
        _check_size(total or 0, limits)
        progress(part.size, total)
        for block in _blocks(response, part, total, limits):
            part.add(block)
            _check_size(part.size, limits)
            progress(part.size, total)
        if total is not None and part.size < total:
            raise _Failure(f"the connection was cut after {_share(part.size, total)}", passing=True)


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.size:
        raise _Failure(f"it is larger than the limit of {limits.size:,} bytes")


def _share(size: int, total: int | None) -> str:
    return f"{size:,} bytes" if total is None else f"{size:,} of {total:,} bytes"


def _blocks(response: HTTPResponse, part: _Part, total: int | None, limits: Limits) -> Iterator[bytes]:
    """Yield what arrives as it arrives."""
    try:
        while block := response.read1(_BLOCK):
            yield block
    except TimeoutError as error:
        reason = f"nothing arrived for {limits.timeout:g} s after {_share(part.size, total)}"
        raise _Failure(reason, passing=True) from error
    except (OSError, HTTPException) as error:
        raise _Failure(f"the connection was cut after {_share(part.size, total)}", passing=True) from error


def _open(url: str, part: _Part, limits: Limits) -> HTTPResponse:
    """Ask for the file, or for the rest of it if the server still has the version that `part` began with."""
    headers = {"User-Agent": "pubench"}
    if part.size and part.version:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": part.version}
    asked = request.Request(url, headers=headers)  # noqa: S310 - the opener knows http and https alone
    try:
        response: HTTPResponse = _opener().open(asked, timeout=limits.timeout)
    except HTTPError as error:
        with error:
            answer = _one_line(f"the server answered {error.code} {error.reason}")
            raise _Failure(answer, passing=error.code in _TRY_AGAIN) from error
    except TimeoutError as error:
        raise _Failure(f"the server did not answer within {limits.timeout:g} s", passing=True) from error
    except (OSError, HTTPException, ValueError) as error:
        raise _no_connection(error.reason if isinstance(error, URLError) else error, limits) from error
    if not _is_what_was_asked(response, part):
        with response:
            raise _Failure(_one_line(f"the server answered {response.status} {response.reason}"))
    return response


def _is_what_was_asked(response: HTTPResponse, part: _Part) -> bool:
    """Whether this is the whole file, or what comes after `part`."""
    if response.status == 206:
        return bool(part.size) and response.headers.get("Content-Range", "").startswith(f"bytes {part.size}-")
    return response.status == 200


def _no_connection(cause: object, limits: Limits) -> _Failure:
    if isinstance(cause, TimeoutError):
        return _Failure(f"no connection within {limits.timeout:g} s")
    if isinstance(cause, ConnectionResetError):
        return _Failure("the connection was cut before the server answered", passing=True)
    return _Failure(_one_line(f"no connection ({getattr(cause, 'strerror', None) or cause})"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _opener() -> request.OpenerDirector:
    """Return what opens http and https, through proxies and redirections, and no other kind of address."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.UnknownHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener
