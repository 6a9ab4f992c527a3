"""Every exception that pubench raises on purpose.

    PubenchError                    exit code 1: the work failed
    ├── NotApplicableError          this plugin cannot run on this data; neither is at fault
    ├── FetchError                  a download failed
    └── InputError (ValueError)     exit code 2: the caller can correct it
        ├── DataError               a file, column or array is not what it must be
        ├── ParameterError          a parameter is unknown or out of range
        └── PluginError             a plugin is at fault
            ├── PluginLoadError     it does not import, does not register or breaks the contract
            ├── ApiVersionError     it was written for another version of the contract
            ├── DuplicateNameError  two packages registered one name
            └── UnknownPluginError  nothing is registered under that name

Messages are one sentence that says what is wrong, where, and what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class PubenchError(Exception):
    """The root: catch this to catch everything that pubench raises on purpose. Its message is one line."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class NotApplicableError(PubenchError):
    """A plugin refuses a task that it cannot do, for instance with too few labelled rows; recorded, never a crash."""


class FetchError(PubenchError):
    """A download failed; the message has the address, and the path to save the file to by hand."""


class InputError(PubenchError, ValueError):
    """What the caller passed in cannot be used; a ValueError too, as scikit-learn's conventions ask."""

    exit_code = 2


class DataError(InputError):
    """A file, column or array is not what it must be."""


class ParameterError(InputError):
    """A parameter is unknown, of the wrong type or out of its range."""


class PluginError(InputError):
    """A plugin is at fault."""


class PluginLoadError(PluginError):
    """A plugin does not import, does not register, or breaks its contract."""


class ApiVersionError(PluginError):
    """A plugin was written for another version of the plugin contract."""


class DuplicateNameError(PluginError):
    """Two packages registered the same kind of plugin under one name."""


class UnknownPluginError(PluginError):
    """Nothing is registered under the name that was asked for."""


def one_line(text: str) -> str:
    """Return `text` on one line and without control characters, which could take over a terminal."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest known name, else an empty string."""
    close = get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""


def shown(text: str, length: int = 60) -> str:
    """Return a name or value from a file for use in a message: on one line, of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]}..."
