"""Markup that user text cannot inject into: plain text is escaped wherever it enters an element."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

#: Elements of HTML that have no end tag.
VOID = frozenset({"meta", "br", "col"})
#: Characters that XML and HTML do not allow, such as NUL; browsers differ in how they treat them.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Markup(str):
    """Text that is markup already. Only this module and constants in its callers create it."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Attribute: TypeAlias = str | int | float | None


def text(value: str) -> Markup:
    """Return text as markup: special characters escaped, control characters replaced; markup stays as it is."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_CONTROL.sub("\ufffd", value), quote=True))


def join(*children: Child) -> Markup:
    """Return the children concatenated; None is skipped."""
    return Markup("".join(_flat(children)))


def element(
    name: str,
    *children: Child,
    attributes: Mapping[str, Attribute] | None = None,
    **named: Attribute,
) -> Markup:
    """Return an element of HTML or SVG.

    Args:
        name: tag name.
        *children: text, which is escaped, or markup, which is not.
        attributes: attribute name -> value.
        **named: more attributes; `class_` is class, and other underscores become hyphens. None omits one.
    """
    merged = {
        **(attributes or {}),
        **{key.rstrip("_").replace("_", "-"): value for key, value in named.items()},
    }
    start = "".join(
        f' {key}="{text(_formatted(value))}"' for key, value in merged.items() if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{start}>")
    return Markup(f"<{name}{start}>{join(*children)}</{name}>")


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if isinstance(child, str):
            yield text(child)
        elif child is not None:
            yield from _flat(child)


def _formatted(value: str | float) -> str:
    """Return a coordinate with at most two decimals, which is finer than a pixel and keeps pages small."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)
