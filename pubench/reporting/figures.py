"""How numbers are written on the page: the same number is written the same way everywhere."""

from pubench.types import Json

#: Where there is no value.
NOTHING = "\N{EN DASH}"


def area(value: float) -> str:
    """Return AUL_PU to four decimals."""
    return f"{value:.4f}"


def span(low: float, high: float) -> str:
    """Return an interval of AUL_PU."""
    return f"[{area(low)}, {area(high)}]"


def change(value: float) -> str:
    """Return a difference of AUL_PU with its sign."""
    return f"{value:+.4f}"


def change_span(low: float, high: float) -> str:
    """Return an interval of a difference."""
    return f"[{change(low)}, {change(high)}]"


def chance(p_value: float) -> str:
    """Return a p-value."""
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.2g}"


def count(value: int) -> str:
    """Return a count with its thousands apart."""
    return f"{value:,}"


def counted(value: int, noun: str) -> str:
    """Return a count of things, one of them or several."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share in percent; small ones keep two digits."""
    return f"{100 * share:#.2g}%" if 0 < share < 0.0995 else f"{100 * share:.1f}%"


def seconds(value: float) -> str:
    """Return a time: seconds below two minutes, then minutes, then hours."""
    if value < 0.95:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.1f} s"
    if value < 7200:
        return f"{value / 60:.1f} min"
    return f"{value / 3600:.1f} h"


def setting(value: Json) -> str:
    """Return a parameter's value: numbers to four digits, words as they are."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.4g}" if isinstance(value, float) else str(value)
