"""Number formats of pages and terminal output: one kind of number has one format everywhere."""

from collections.abc import Callable
from typing import TypeAlias

from pubench.types import Json

#: Formats one kind of number.
Form: TypeAlias = Callable[[float], str]
#: Shown where there is no value.
NO_VALUE = "\N{EN DASH}"


def area(value: float) -> str:
    """Return an AUL_PU or AUC with four decimals."""
    return f"{value:.4f}"


def area_interval(low: float, high: float) -> str:
    """Return an interval of AUL_PU in brackets."""
    return f"[{area(low)}, {area(high)}]"


def difference(value: float) -> str:
    """Return a difference of AUL_PU with its sign and four decimals."""
    return f"{value:+.4f}"


def difference_interval(low: float, high: float) -> str:
    """Return an interval of a difference in brackets."""
    return f"[{difference(low)}, {difference(high)}]"


def p_value(p: float) -> str:
    """Return a p-value."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def count(value: int) -> str:
    """Return a count with thousands separators."""
    return f"{value:,}"


def counted(value: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is 1."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share in percent; shares below 10% keep two significant digits."""
    return f"{100 * share:#.2g}%" if 0 < share < 0.0995 else f"{100 * share:.1f}%"


def decimal(value: float) -> str:
    """Return a factor, such as a lift, with one decimal."""
    return f"{value:,.1f}"


def whole(value: float) -> str:
    """Return an expected number of rows, or an amount, without decimals."""
    return f"{value:,.0f}"


def between(low: float, high: float, form: Form) -> str:
    """Return a range in words."""
    return f"{form(low)} to {form(high)}"


def short_percent(share: float) -> str:
    """Return a round share in percent, as at a tick, without superfluous digits."""
    return f"{100 * share:.10g}%"


def seconds(value: float) -> str:
    """Return a duration: seconds below two minutes, minutes below two hours, else hours."""
    if value < 0.95:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.1f} s"
    if value < 7200:
        return f"{value / 60:.1f} min"
    return f"{value / 3600:.1f} h"


def parameter(value: Json) -> str:
    """Return a parameter's value: numbers with four significant digits, other values as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.4g}" if isinstance(value, float) else str(value)
