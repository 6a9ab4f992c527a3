"""Markup that can not be injected into: plain text is escaped wherever it meets an element."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

#: Elements of HTML that have no end tag.
VOID = frozenset({"meta", "br", "col"})
#: What XML and HTML have no place for, such as NUL; a browser would show or drop them as it likes.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Markup(str):
    """Text that is markup already; only this module and what it is given by its callers' constants make it."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Attribute: TypeAlias = str | int | float | None


def text(value: str) -> Markup:
    """Return text as markup: special characters escaped, control characters replaced; markup stays as it is."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_CONTROL.sub("\ufffd", value), quote=True))


def join(*children: Child) -> Markup:
    """Return the children one after the other; None is nothing."""
    return Markup("".join(_flat(children)))


def element(
    name: str,
    *children: Child,
    attributes: Mapping[str, Attribute] | None = None,
    **named: Attribute,
) -> Markup:
    """Return an element of HTML or SVG.

    Args:
        name: of the element.
        *children: text, which is escaped, or markup, which is not.
        attributes: by their own names.
        **named: further ones; `class_` is class, and other underscores are hyphens. None leaves one out.
    """
    every = {
        **(attributes or {}),
        **{key.rstrip("_").replace("_", "-"): value for key, value in named.items()},
    }
    start = "".join(f' {key}="{text(_number(value))}"' for key, value in every.items() if value is not None)
    if name in VOID:
        return Markup(f"<{name}{start}>")
    return Markup(f"<{name}{start}>{join(*children)}</{name}>")


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if isinstance(child, str):
            yield text(child)
        elif child is not None:
            yield from _flat(child)


def _number(value: str | float) -> str:
    """Return a coordinate with two decimals at most: a tenth of a pixel is seen by nobody, and pages stay small."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)
