"""Where suites are found: those that come with pubench, by name, and any other by its file."""

from collections.abc import Iterator
from pathlib import Path

from pubench.errors import InputError, suggestion
from pubench.experiment.suite import Suite, read_suite

#: In a wheel they stand beside this module; in a checkout, at its root.
_FOLDERS = (Path(__file__).parent / "suites", Path(__file__).parents[2] / "benchmarks" / "suites")


def shipped_suites() -> Iterator[Path]:
    """Yield the files of the suites that come with pubench, by name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    if folder is not None:
        yield from sorted(folder.glob("*.toml"))


def find_suite(text: str) -> Suite:
    """Return the suite that a person means: one that comes with pubench, or a file.

    Raises:
        InputError: there is neither.
        DataError: it is no suite.
    """
    shipped = {path.stem: path for path in shipped_suites()}
    if text in shipped:
        return read_suite(shipped[text])
    if Path(text).is_file():
        return read_suite(Path(text))
    raise InputError(
        f"There is no suite and no file '{text}'.{suggestion(text, shipped)} 'pubench bench list' shows the suites."
    )
