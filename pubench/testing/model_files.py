"""What learners promise of the files of their models: they come back bit for bit, and hostile ones are refused."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pubench.errors import DataError
from pubench.testing.learner_subjects import LearnerSubject
from pubench.testing.promises import expect
from pubench.testing.running import Check
from pubench.types import Resources

_ONE = Resources(n_threads=1)
_JUNK = (b"", b"\x00" * 100, b"{}", b"[1, 2]", b"tree\n", b'{"form": 1}', b"\xff\xfe", b"\x80\x04N.")
#: How pickles of protocols 2 to 5 begin.
_PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def check_files(subject: LearnerSubject) -> None:
    """A model that was saved comes back and predicts the same, bit for bit, also when it is saved again."""
    with _folder() as folder:
        first, second = (folder / f"{name}{subject.plugin.suffix}" for name in ("first", "second"))
        subject.model.save(first)
        expect([*folder.iterdir()] == [first], "`save` writes the one file whose name it is given.")
        expect(not first.read_bytes().startswith(_PICKLES), "A model is never saved as a pickle.")
        loaded = subject.plugin.load(first)
        loaded.save(second)
        again = subject.plugin.load(second)
    for model in (loaded, again):
        found = model.predict(subject.X, _ONE)
        expect(
            np.array_equal(found, subject.probabilities),
            "A model that was saved predicts the same, bit for bit.",
        )
    expect(
        bool(np.allclose(loaded.importances(), subject.model.importances(), rtol=1e-5)),
        "A model that was saved has the same importances.",
    )


def check_damaged_files(subject: LearnerSubject) -> None:
    """Files that are missing, damaged or something else are refused with `DataError`."""
    with _folder() as folder:
        path = folder / f"model{subject.plugin.suffix}"
        _expect_refused(subject, path, "a file that is not there")
        subject.model.save(path)
        content = path.read_bytes()
        for damaged in (*_JUNK, content[: len(content) // 10], content[: len(content) // 2]):
            path.write_bytes(damaged)
            _expect_refused(
                subject, path, f"a file that begins with {damaged[:20]!r}, of {len(damaged)} bytes,"
            )


#: Every check, by the name of what it checks.
MODEL_FILE_CHECKS: Mapping[str, Check[LearnerSubject]] = {
    "files": check_files,
    "damaged files": check_damaged_files,
}


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


def _expect_refused(subject: LearnerSubject, path: Path, what: str) -> None:
    try:
        subject.plugin.load(path)
    except DataError:
        return
    expect(kept=False, promise=f"`load` refuses {what} with DataError.")
