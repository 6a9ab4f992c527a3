"""Numbers are formatted in the same way everywhere."""

import pytest

from pubench.html import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.05, "0.05 s"), (1.25, "1.2 s"), (119.0, "119.0 s"), (150.0, "2.5 min"), (9000.0, "2.5 h")],
)
def test_durations(value: float, text: str) -> None:
    assert numbers.seconds(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0.0%"), (0.00123, "0.12%"), (0.0523, "5.2%"), (0.5, "50.0%")]
)
def test_percentages(share: float, text: str) -> None:
    assert numbers.percent(share) == text


def test_counts_have_separators_and_plurals() -> None:
    assert numbers.counted(1, "run") == "1 run"
    assert numbers.counted(12_345, "run") == "12,345 runs"


def test_amounts_and_their_ranges() -> None:
    assert numbers.decimal(58.66) == "58.7"
    assert numbers.between(1_234.4, 2_000, numbers.whole) == "1,234 to 2,000"
    assert numbers.between(0.01, 0.123, numbers.percent) == "1.0% to 12.3%"


def test_areas_and_differences() -> None:
    assert numbers.area_interval(0.91234, 0.95) == "[0.9123, 0.9500]"
    assert numbers.difference_interval(-0.01, 0.02) == "[-0.0100, +0.0200]"
    assert numbers.p_value(0.00001) == "< 0.0001"
    assert numbers.p_value(0.0123) == "0.012"


def test_parameters() -> None:
    assert numbers.parameter(0.123456) == "0.1235"
    assert numbers.parameter(value=True) == "true"
    assert numbers.parameter("soft") == "soft"
