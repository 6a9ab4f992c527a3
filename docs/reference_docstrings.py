"""Docstrings as reStructuredText: sections by napoleon, public names as links, and no accidental markup."""

from re import Match
from re import compile as pattern

from reference_signatures import EXPORTS
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

_IN_BACKTICKS = pattern(r"(`+)(.+?)\1")
_MARKUP = pattern(r"\||(?<=\w)_(?!\w)")
_SECTIONS = Config(napoleon_use_rtype=False)


def as_rst(what: str, lines: list[str]) -> list[str]:
    """Return the lines of a docstring as Sphinx reads them; `what` is the kind of object, such as a function or class."""
    linked = with_links(_with_list_of_attributes(lines))
    # In the docstring of a property napoleon would read all text before a colon as its type.
    if what in {"property", "attribute"}:
        return linked
    return GoogleDocstring(linked, _SECTIONS).lines()  # type: ignore[arg-type]  # napoleon's own configuration


def with_links(lines: list[str]) -> list[str]:
    """Return lines in which public names in backticks are links, and other text in backticks is code."""
    return [_with_links(line) for line in lines]


def _with_links(line: str) -> str:
    parts, end = [], 0
    for match in _IN_BACKTICKS.finditer(line):
        parts += [_MARKUP.sub(r"\\\g<0>", line[end : match.start()]), _link(match)]
        end = match.end()
    return "".join([*parts, _MARKUP.sub(r"\\\g<0>", line[end:])])


def _link(match: Match[str]) -> str:
    name = match[2].removeprefix("pubench.")
    return f":py:obj:`~pubench.{name}`" if name in EXPORTS else f"``{match[2]}``"


def _with_list_of_attributes(lines: list[str]) -> list[str]:
    """Return the section on attributes as a list; unlike napoleon's, it may describe several in one line."""
    result: list[str] = []
    inside = False
    for line in lines:
        if line == "Attributes:":
            inside = True
            result += [".. rubric:: Attributes", ""]
        elif inside and line.startswith("    ") and line[4:5].strip():
            names, _, text = line.strip().partition(": ")
            result.append(f"- `{names}`: {text}")
        elif inside and line.startswith("    "):
            result.append(f"  {line.strip()}")
        else:
            inside = False
            result.append(line)
    return result
