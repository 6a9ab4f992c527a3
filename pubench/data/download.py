"""Finds the files of data sets on this machine, and downloads missing ones.

find     the path of a file that is here
fetch    the path of a file after a download, in several attempts, into a temporary file beside it
obtain   find, else fetch
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias
from urllib import request
from urllib.error import HTTPError, URLError

from pubench.errors import DataError, FetchError, one_line
from pubench.system.files import make_folder, write_whole

if TYPE_CHECKING:
    # Only its type: a module that moves bytes must not reach the truth that data sets contain.
    from pubench.api.dataset import DataFile

#: Called with the number of bytes received and, if the server says, of all bytes. May go back to 0.
Progress: TypeAlias = Callable[[int, int | None], None]

_SUFFIXES = ("", ".gz", ".xz", ".zst")
_BLOCK = 1 << 18
_SCHEMES = ("http", "https")
_TEMPORARY_STATUS = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class DownloadLimits:
    """Limits of a download in time and on disk.

    Attributes:
        timeout: seconds to connect, and seconds in which at least one byte must arrive.
        attempts: number of attempts when the connection is cut or stalls or the server is busy.
        pause: seconds before the second attempt; doubled before each further one.
        size: maximum size of a file in bytes.
    """

    timeout: float = 30.0
    attempts: int = 4
    pause: float = 1.0
    size: int = 4 << 30


_LIMITS = DownloadLimits()


def find(file: "DataFile", folders: Sequence[Path]) -> Path | None:
    """Return the path of a file: the first of its names, also with .gz, .xz or .zst, in the first folder with one.

    Raises:
        DataError: a folder cannot be read.
    """
    for folder in folders:
        for name in file.names:
            for suffix in _SUFFIXES:
                path = folder / f"{name}{suffix}"
                if _is_file(path):
                    return path
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def obtain(
    file: "DataFile",
    data_folder: Path,
    *,
    allow_download: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Return the path of the file in `data_folder`; a missing one is downloaded if `allow_download` is set.

    Raises:
        FetchError: it is missing and cannot or may not be downloaded; with its address and the path to save it to.
    """
    path = find(file, [data_folder])
    if path is not None:
        return path
    if not allow_download:
        target = data_folder / file.names[0]
        raise FetchError(
            f"{target.name} is not in {data_folder} and downloading is off; get it from {file.url} and save it as {target}."
        )
    return fetch(file, data_folder, progress=progress)


def fetch(
    file: "DataFile", folder: Path, *, progress: Progress | None = None, limits: DownloadLimits = _LIMITS
) -> Path:
    """Download the file to `folder / names[0]` and return that path.

    The file appears there whole, of the announced length and with the known checksum, or not at all: after any
    failure, Ctrl-C and an exception of `progress` included, an old file is still there and nothing else is left.
    Several processes may fetch the same file at once. After a cut or stalled connection the download is resumed if the
    server can do that for the same version of the file, else it starts again.

    Raises:
        DataError: the folder cannot be written to or the disk is full.
        FetchError: anything else; with the reason, the address and the path to save the file to by hand.
    """
    target = folder / file.names[0]
    if file.url.partition(":")[0].lower() not in _SCHEMES:
        raise _error(file, folder, "only http and https addresses are fetched")
    make_folder(target.parent)
    with write_whole(target, sync=True) as temporary:
        try:
            _download(file, temporary, progress or _ignore_progress, limits)
        except _Failure as failure:
            raise _error(file, folder, failure.reason) from failure.__cause__
    return target


def _ignore_progress(received: int, total: int | None) -> None:
    """Ignore the progress."""


def _error(file: "DataFile", folder: Path, reason: str) -> FetchError:
    name = file.names[0]
    return FetchError(
        f"{name} could not be fetched from {file.url}: {reason}; get it by hand and save it as {folder / name}."
    )


class _Failure(Exception):  # noqa: N818 - a reason on its way to a FetchError, which users see
    """Why an attempt failed, and whether another one may succeed."""

    def __init__(self, reason: str, *, temporary: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.temporary = temporary


class _Received:
    """The bytes received so far, on disk and in the checksum."""

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


def _download(file: "DataFile", path: Path, progress: Progress, limits: DownloadLimits) -> None:
    with path.open("wb") as stream:
        received = _Received(stream)
        for attempt in range(1, limits.attempts + 1):
            try:
                _receive(file.url, received, progress, limits)
                break
            except _Failure as failure:
                if not failure.temporary:
                    raise
                if attempt == limits.attempts:
                    times = f" in the last of {attempt} attempts" if attempt > 1 else ""
                    raise _Failure(f"{failure.reason}{times}") from failure.__cause__
            time.sleep(limits.pause * 2 ** (attempt - 1))
        received.finish(file.sha256)


def _receive(url: str, received: _Received, progress: Progress, limits: DownloadLimits) -> None:
    """Receive the rest of a file; after a temporary failure, `received` has what arrived."""
    with _open(url, received, limits) as response:
        if response.status != 206:
            received.start_again()
            received.version = response.headers.get("ETag", "")
        total = None if response.length is None else received.size + response.length
        _check_size(total or 0, limits)
        progress(received.size, total)
        for block in _blocks(response, received, total, limits):
            received.add(block)
            _check_size(received.size, limits)
            progress(received.size, total)
        if total is not None and received.size < total:
            raise _Failure(
                f"the connection was cut after {_progress_text(received.size, total)}", temporary=True
            )


def _check_size(size: int, limits: DownloadLimits) -> None:
    if size > limits.size:
        raise _Failure(f"it is larger than the limit of {limits.size:,} bytes")


def _progress_text(size: int, total: int | None) -> str:
    return f"{size:,} bytes" if total is None else f"{size:,} of {total:,} bytes"


def _blocks(
    response: HTTPResponse, received: _Received, total: int | None, limits: DownloadLimits
) -> Iterator[bytes]:
    """Yield the bytes as they arrive."""
    try:
        while block := response.read1(_BLOCK):
            yield block
    except TimeoutError as error:
        reason = f"nothing arrived for {limits.timeout:g} s after {_progress_text(received.size, total)}"
        raise _Failure(reason, temporary=True) from error
    except (OSError, HTTPException) as error:
        raise _Failure(
            f"the connection was cut after {_progress_text(received.size, total)}", temporary=True
        ) from error


def _open(url: str, received: _Received, limits: DownloadLimits) -> HTTPResponse:
    """Request the file, or the rest of it if the server still has the version that was received in part."""
    headers = {"User-Agent": "pubench"}
    if received.size and received.version:
        headers |= {"Range": f"bytes={received.size}-", "If-Range": received.version}
    http_request = request.Request(url, headers=headers)  # noqa: S310 - the opener knows only http and https
    try:
        response: HTTPResponse = _opener().open(http_request, timeout=limits.timeout)
    except HTTPError as error:
        with error:
            answer = one_line(f"the server answered {error.code} {error.reason}")
            raise _Failure(answer, temporary=error.code in _TEMPORARY_STATUS) from error
    except TimeoutError as error:
        raise _Failure(f"the server did not answer within {limits.timeout:g} s", temporary=True) from error
    except (OSError, HTTPException, ValueError) as error:
        raise _no_connection(error.reason if isinstance(error, URLError) else error, limits) from error
    if not _is_expected(response, received):
        with response:
            raise _Failure(one_line(f"the server answered {response.status} {response.reason}"))
    return response


def _is_expected(response: HTTPResponse, received: _Received) -> bool:
    """Whether this is the whole file, or the part after `received`."""
    if response.status == 206:
        return bool(received.size) and response.headers.get("Content-Range", "").startswith(
            f"bytes {received.size}-"
        )
    return response.status == 200


def _no_connection(cause: object, limits: DownloadLimits) -> _Failure:
    if isinstance(cause, TimeoutError):
        return _Failure(f"no connection within {limits.timeout:g} s")
    if isinstance(cause, ConnectionResetError):
        return _Failure("the connection was cut before the server answered", temporary=True)
    return _Failure(one_line(f"no connection ({getattr(cause, 'strerror', None) or cause})"))


def _opener() -> request.OpenerDirector:
    """Return an opener of http and https addresses alone, with proxies and redirections."""
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
