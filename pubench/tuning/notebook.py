"""What a notebook shows of a run."""

from typing import TYPE_CHECKING

from pubench.html.markup import Markup, element, join
from pubench.html.numbers import NO_VALUE, area, area_interval, difference, p_value
from pubench.html.parts import bullets, table

if TYPE_CHECKING:
    from pubench.tuning.result import TuneResult

_HEAD = ("rank", "role", "model", "AUL_PU", "95% interval", "the model minus this", "p")


def result_html(result: "TuneResult") -> Markup:
    """Return the conclusion, the leaderboard and the notices, as HTML that needs no style sheet."""
    return join(
        element("p", element("strong", f"{result.dataset}: "), result.conclusion.sentence),
        table(_HEAD, _rows(result), "The leaderboard of the run", number_columns=(0, 3, 4, 5, 6)),
        element("p", result.choice.sentence),
        element("p", result.shipped_sentence),
        bullets(result.notices),
        element("p", "Report: ", element("code", str(result.report()))),
    )


def _rows(result: "TuneResult") -> list[tuple[str, ...]]:
    return [
        (
            NO_VALUE if row.rank is None else str(row.rank),
            row.entrant.role.value,
            row.short_label,
            NO_VALUE if row.interval is None else area(row.interval.estimate),
            NO_VALUE if row.interval is None else area_interval(row.interval.low, row.interval.high),
            NO_VALUE if row.comparison is None else difference(row.comparison.difference),
            NO_VALUE if row.p_value is None else p_value(row.p_value),
        )
        for row in result.standings
    ]
