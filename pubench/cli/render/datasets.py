"""Data sets as tables and cards. A stand-in is called one wherever it is shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from pubench.cli.render.terminal import bold, console, facts, table

Row = Mapping[str, Any]
_STAND_IN = "synthetic stand-in"


def dataset_table(rows: Sequence[Row]) -> None:
    """Print all data sets with their counts and places."""
    out = table("name", "rows", "features", "positives", "what", "where")
    for column in out.columns[1:4]:
        column.justify = "right"
    for row in rows:
        info = row["info"]
        if info is None:
            out.add_row(bold(row["name"]), "", "", "", "a file of yours", row["place"])
            continue
        counts = [f"{info[name]:,}" for name in ("rows", "features", "positives")]
        out.add_row(bold(row["name"]), *counts, _what(info), row["place"])
    console().print(out)


def dataset_card(answer: Row) -> None:
    """Print one data set: what it is, its figures, its features, and what was noticed."""
    out, summary, info = console(), answer["summary"], answer["info"]
    out.print(bold(answer["name"]))
    card = facts()
    if info is not None:
        card.add_row("what", _what(info))
        card.add_row("source", info["source"])
        card.add_row("licence", info["licence"])
    card.add_row("where", answer["place"])
    card.add_row("rows", f"{summary['rows']:,}")
    for name, key in (("labelled positive", "labelled"), ("truly positive", "positives")):
        if summary[key] is not None:
            card.add_row(name, f"{summary[key]:,} ({summary[key] / summary['rows']:.3%})")
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary["kinds"].items())
    card.add_row(
        "features", f"{summary['features']} ({kinds}), {summary['missing']:.1%} of the values missing"
    )
    card.add_row("fingerprint", summary["fingerprint"])
    out.print(card)
    out.print()
    out.print(_features(summary["columns"]))
    notes = [*answer["notices"], *([info["note"]] if info and info["note"] else [])]
    for note in notes:
        out.print(f"\nNote: {note}")


def _what(info: Row) -> Text:
    if info["stand_in"]:
        return Text.assemble((_STAND_IN, "yellow"), f": {info['title']}")
    return Text(info["title"])


def _features(columns: Sequence[Row]) -> Table:
    out = table("feature", "kind", "missing", "distinct", "lowest", "highest")
    for figures in out.columns[2:]:
        figures.justify = "right"
    for column in columns:
        bounds = ["" if value is None else f"{value:.6g}" for value in (column["low"], column["high"])]
        missing = f"{column['missing']:.1%}" if column["missing"] else ""
        out.add_row(column["name"], column["kind"], missing, f"{column['distinct']:,}", *bounds)
    return out
