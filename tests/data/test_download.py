"""Files of data sets are found, or downloaded whole, or refused in one sentence; with a real server on loopback."""

import hashlib
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pubench.api.dataset import DataFile
from pubench.data.download import DownloadLimits, fetch, find, obtain
from pubench.errors import DataError, FetchError

BODY = bytes(range(256)) * 40
SHA256 = hashlib.sha256(BODY).hexdigest()
QUICK = DownloadLimits(timeout=10, attempts=3, pause=0)
PATIENCE = 20


class Handler(BaseHTTPRequestHandler):
    """Does what the test's own function says."""

    server: "Server"

    def do_GET(self) -> None:
        self.server.asked.append(dict(self.headers))
        self.server.answer(self, len(self.server.asked))

    def start(self, status: int = 200, length: int | None = len(BODY), **headers: str) -> None:
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def whole(self) -> None:
        self.start()
        self.wfile.write(BODY)

    def half(self, etag: str = "") -> None:
        self.start(ETag=etag)
        self.wfile.write(BODY[: len(BODY) // 2])

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Remembers what it was asked; `answer` is called with the handler and the number of the request."""

    daemon_threads = False  # closing waits for every handler

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, str]] = []
        self.answer: Callable[[Handler, int], None] = lambda handler, _: handler.whole()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/table.csv"

    def handle_error(self, *_: object) -> None:
        """A client that hung up is what some tests are about."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "*")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def file(server: Server) -> DataFile:
    return DataFile(("table.csv",), server.url, SHA256)


def failure(file: DataFile, folder: Path, limits: DownloadLimits = QUICK) -> str:
    """Fetch in vain: nothing is left, and the one sentence names the address and the place."""
    with pytest.raises(FetchError) as caught:
        fetch(file, folder, limits=limits)
    message = str(caught.value)
    assert message.startswith(f"{file.names[0]} could not be fetched from {file.url}: ")
    assert message.endswith(f"; get it by hand and save it as {folder / file.names[0]}.")
    assert "\n" not in message
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    return message


def test_a_file_arrives_with_the_permissions_of_any_new_file(file: DataFile, tmp_path: Path) -> None:
    path = fetch(file, tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "table.csv"
    assert path.read_bytes() == BODY
    (tmp_path / "plain").touch()
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert list(path.parent.iterdir()) == [path]


def test_it_goes_into_its_subfolder_and_replaces_what_was_there(file: DataFile, tmp_path: Path) -> None:
    old = tmp_path / "sets" / "table.csv"
    old.parent.mkdir()
    old.write_text("old")
    assert fetch(replace(file, names=("sets/table.csv",)), tmp_path) == old
    assert old.read_bytes() == BODY


def test_a_checksum_may_be_unknown_or_in_capitals(file: DataFile, tmp_path: Path) -> None:
    for sha256 in (None, SHA256.upper()):
        assert fetch(replace(file, sha256=sha256), tmp_path).read_bytes() == BODY


def test_a_slow_server_is_followed_byte_by_byte(server: Server, file: DataFile, tmp_path: Path) -> None:
    seen = threading.Semaphore(0)
    calls: list[tuple[int, int | None]] = []

    def drip(handler: Handler, _: int) -> None:
        handler.start(length=5)
        for byte in b"slow!":
            assert seen.acquire(timeout=PATIENCE)  # the next byte leaves when this one has been reported
            handler.wfile.write(bytes([byte]))

    def progress(received: int, total: int | None) -> None:
        calls.append((received, total))
        seen.release()

    server.answer = drip
    path = fetch(replace(file, sha256=None), tmp_path, progress=progress, limits=QUICK)
    assert path.read_bytes() == b"slow!"
    assert calls == [(n, 5) for n in range(6)]


def test_a_server_that_does_not_announce_the_length(server: Server, file: DataFile, tmp_path: Path) -> None:
    def answer(handler: Handler, _: int) -> None:
        handler.start(length=None)
        handler.wfile.write(BODY)

    server.answer = answer
    totals: set[int | None] = set()
    path = fetch(file, tmp_path, progress=lambda _, total: totals.add(total))
    assert path.read_bytes() == BODY
    assert totals == {None}


def test_a_cut_connection_starts_again(server: Server, file: DataFile, tmp_path: Path) -> None:
    server.answer = lambda handler, n: handler.half() if n == 1 else handler.whole()
    received: list[int] = []
    path = fetch(file, tmp_path, progress=lambda size, _: received.append(size), limits=QUICK)
    assert path.read_bytes() == BODY
    assert received.count(0) == 2
    assert len(server.asked) == 2
    assert "Range" not in server.asked[1]


def test_a_cut_connection_is_resumed_if_the_server_can(
    server: Server, file: DataFile, tmp_path: Path
) -> None:
    middle = len(BODY) // 2

    def answer(handler: Handler, n: int) -> None:
        if n == 1:
            return handler.half('"v1"')
        handler.start(206, len(BODY) - middle, Content_Range=f"bytes {middle}-{len(BODY) - 1}/{len(BODY)}")
        handler.wfile.write(BODY[middle:])
        return None

    server.answer = answer
    received: list[int] = []
    path = fetch(file, tmp_path, progress=lambda size, _: received.append(size), limits=QUICK)
    assert path.read_bytes() == BODY
    assert received == sorted(received)
    assert server.asked[1]["Range"] == f"bytes={middle}-"
    assert server.asked[1]["If-Range"] == '"v1"'


def test_another_version_is_not_appended_to_the_first_half(
    server: Server, file: DataFile, tmp_path: Path
) -> None:
    def answer(handler: Handler, n: int) -> None:
        if n == 1:
            return handler.half('"v1"')
        handler.start(200, 3, ETag='"v2"')
        handler.wfile.write(b"new")
        return None

    server.answer = answer
    assert fetch(replace(file, sha256=None), tmp_path, limits=QUICK).read_bytes() == b"new"


def test_a_range_that_was_not_requested_is_refused(server: Server, file: DataFile, tmp_path: Path) -> None:
    server.answer = lambda handler, _: handler.start(206, 0, Content_Range="bytes 7-8/9")
    assert "the server answered 206 Partial Content" in failure(file, tmp_path)


def test_a_connection_that_is_always_cut(server: Server, file: DataFile, tmp_path: Path) -> None:
    server.answer = lambda handler, _: handler.half()
    message = failure(file, tmp_path)
    assert ": the connection was cut after 5,120 of 10,240 bytes in the last of 3 attempts;" in message
    assert len(server.asked) == 3


def test_a_chunk_that_is_cut(server: Server, file: DataFile, tmp_path: Path) -> None:
    def answer(handler: Handler, _: int) -> None:
        handler.start(length=None, Transfer_Encoding="chunked")
        handler.wfile.write(b"ff\r\nonly so much")

    server.answer = answer
    assert ": the connection was cut after 12 bytes in the last of 3 attempts;" in failure(file, tmp_path)


def test_a_server_that_hangs_up_before_it_answers(server: Server, file: DataFile, tmp_path: Path) -> None:
    server.answer = lambda _, __: None
    assert ": the connection was cut before the server answered in the last of 3" in failure(file, tmp_path)


@pytest.mark.parametrize("sent", [0, 5120, None])
def test_a_server_that_stalls(server: Server, file: DataFile, tmp_path: Path, sent: int | None) -> None:
    def answer(handler: Handler, _: int) -> None:
        if sent is not None:
            handler.start()
            handler.wfile.write(BODY[:sent])
        server.over.wait(PATIENCE)

    server.answer = answer
    message = failure(file, tmp_path, DownloadLimits(timeout=0.1, attempts=2, pause=0))
    reason = (
        "the server did not answer within 0.1 s"
        if sent is None
        else f"nothing arrived for 0.1 s after {sent:,} of 10,240 bytes"
    )
    assert f": {reason} in the last of 2 attempts;" in message


def test_a_wrong_checksum(file: DataFile, tmp_path: Path) -> None:
    message = failure(replace(file, sha256="0123456789ABCDEF" * 4), tmp_path)
    assert f": what arrived has the SHA-256 checksum {SHA256[:12]}..., expected 0123456789ab...;" in message


def test_an_empty_file(server: Server, file: DataFile, tmp_path: Path) -> None:
    server.answer = lambda handler, _: handler.start(length=0)
    assert ": the server sent an empty file;" in failure(replace(file, sha256=None), tmp_path)


@pytest.mark.parametrize(("status", "words"), [(404, "Not Found"), (403, "Forbidden")])
def test_a_refusal_is_final(server: Server, file: DataFile, tmp_path: Path, status: int, words: str) -> None:
    server.answer = lambda handler, _: handler.send_error(status)
    assert f": the server answered {status} {words};" in failure(file, tmp_path)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_busy_server_is_asked_again(server: Server, file: DataFile, tmp_path: Path, status: int) -> None:
    server.answer = lambda handler, _: handler.send_error(status, "busy")
    assert f": the server answered {status} busy in the last of 3 attempts;" in failure(file, tmp_path)
    server.answer = lambda handler, n: handler.send_error(status) if n == 4 else handler.whole()
    assert fetch(file, tmp_path, limits=QUICK).read_bytes() == BODY


def test_a_redirection_is_followed(server: Server, file: DataFile, tmp_path: Path) -> None:
    def answer(handler: Handler, n: int) -> None:
        if n == 1:
            return handler.start(302, 0, Location="/elsewhere")
        return handler.whole()

    server.answer = answer
    assert fetch(file, tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("place", ["file:///etc/hostname", "ftp://127.0.0.1/table.csv"])
def test_a_redirection_out_of_http_is_not(server: Server, file: DataFile, tmp_path: Path, place: str) -> None:
    server.answer = lambda handler, _: handler.start(302, 0, Location=place)
    failure(file, tmp_path)


def test_a_redirection_in_a_circle(server: Server, file: DataFile, tmp_path: Path) -> None:
    server.answer = lambda handler, _: handler.start(302, 0, Location="/table.csv")
    assert "infinite loop" in failure(file, tmp_path)


def test_no_server_at_all(server: Server, file: DataFile, tmp_path: Path) -> None:
    with Server() as gone:
        url = gone.url
    assert ": no connection (Connection refused);" in failure(replace(file, url=url), tmp_path)
    assert not server.asked


@pytest.mark.parametrize("url", ["http://pubench.invalid:port/", "http://127.0.0.1/a b", "http://"])
def test_an_invalid_address(server: Server, file: DataFile, tmp_path: Path, url: str) -> None:
    assert ": no connection (" in failure(replace(file, url=url), tmp_path)
    assert not server.asked


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/a", "table.csv", ""])
def test_other_kinds_of_address_are_refused(tmp_path: Path, url: str) -> None:
    assert "only http and https addresses are fetched" in failure(DataFile(("a",), url), tmp_path)


@pytest.mark.parametrize("length", [len(BODY), None])
def test_a_file_over_the_limit(server: Server, file: DataFile, tmp_path: Path, length: int | None) -> None:
    def answer(handler: Handler, _: int) -> None:
        handler.start(length=length)
        handler.wfile.write(BODY)

    server.answer = answer
    assert ": it is larger than the limit of 5,000 bytes;" in failure(
        file, tmp_path, DownloadLimits(size=5000)
    )


def test_a_full_disk(file: DataFile, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        with pytest.raises(DataError, match=r"table\.csv cannot be written: File too large\.$"):
            fetch(file, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(file: DataFile, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"cannot be made: (Not a directory|File exists)\.$"):
        fetch(file, tmp_path / "file")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ValueError])
def test_an_interruption_passes_through_and_leaves_what_was_there(
    file: DataFile, tmp_path: Path, interruption: type[BaseException]
) -> None:
    (tmp_path / "table.csv").write_text("old")

    def progress(received: int, _: int | None) -> None:
        if received:
            raise interruption

    with pytest.raises(interruption):
        fetch(file, tmp_path, progress=progress)
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    assert (tmp_path / "table.csv").read_text() == "old"


def together(server: Server) -> None:
    """Let two requests wait for each other with half of the file sent."""
    barrier = threading.Barrier(2, timeout=PATIENCE)

    def answer(handler: Handler, _: int) -> None:
        handler.half()
        barrier.wait()
        handler.wfile.write(BODY[len(BODY) // 2 :])

    server.answer = answer


def test_two_threads_fetch_at_once(server: Server, file: DataFile, tmp_path: Path) -> None:
    together(server)
    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(lambda _: fetch(file, tmp_path, limits=QUICK), range(2)))
    assert [path.read_bytes() for path in paths] == [BODY, BODY]
    assert list(tmp_path.iterdir()) == [tmp_path / "table.csv"]


def test_two_processes_fetch_at_once(server: Server, tmp_path: Path) -> None:
    together(server)
    program = (
        "from pathlib import Path; from pubench.data.download import fetch; from pubench.api.dataset import DataFile;"
        f"fetch(DataFile(('table.csv',), '{server.url}', '{SHA256}'), Path('{tmp_path}'))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(PATIENCE) for process in processes] == [0, 0]
    assert len(server.asked) == 2
    assert list(tmp_path.iterdir()) == [tmp_path / "table.csv"]
    assert (tmp_path / "table.csv").read_bytes() == BODY


def test_files_are_found_by_folder_then_name_then_compression(tmp_path: Path) -> None:
    file = DataFile(("sets/a.zip", "a.csv"), "http://127.0.0.1/a.zip")
    first, second = tmp_path / "first", tmp_path / "second"
    (second / "sets").mkdir(parents=True)
    assert find(file, [first, second]) is None
    for name in ("a.csv.zst", "a.csv.xz", "a.csv.gz", "a.csv", "sets/a.zip"):
        (second / name).touch()
        assert find(file, [first, second]) == second / name
    (first / "a.csv").mkdir(parents=True)
    assert find(file, [first, second]) == second / "sets/a.zip"
    (first / "a.csv.gz").touch()
    assert find(file, [first, second]) == first / "a.csv.gz"


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)  # root, as which some run tests, may look everywhere
    with pytest.raises(DataError, match=r"a\.csv cannot be read: Permission denied\.$"):
        find(DataFile(("a.csv",), ""), [tmp_path])


def test_obtaining_asks_the_server_once(server: Server, file: DataFile, tmp_path: Path) -> None:
    assert obtain(file, tmp_path) == obtain(file, tmp_path) == tmp_path / "table.csv"
    assert len(server.asked) == 1


def test_obtaining_without_downloads(server: Server, file: DataFile, tmp_path: Path) -> None:
    with pytest.raises(FetchError) as caught:
        obtain(file, tmp_path, allow_download=False)
    assert str(caught.value) == (
        f"table.csv is not in {tmp_path} and downloading is off;"
        f" get it from {file.url} and save it as {tmp_path / 'table.csv'}."
    )
    assert not server.asked
    (tmp_path / "table.csv.xz").touch()
    assert obtain(file, tmp_path, allow_download=False) == tmp_path / "table.csv.xz"
