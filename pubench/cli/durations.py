"""Durations as people type them."""

import re
from typing import Any

import click

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)")


class Duration(click.ParamType[float]):
    """A duration such as 90, 90s, 5m or 1h30m, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        if isinstance(value, int | float):
            return float(value)
        text = str(value).strip().lower()
        if text.isdigit():
            text += "s"
        parts = _PART.findall(text)
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
        if "".join(number + unit for number, unit in parts) != text or seconds <= 0:
            self.fail(f"'{value}' is no duration; write it as 90s, 5m or 1h30m.", param, ctx)
        return seconds
