"""What `datasets` prints. Synthetic stand-ins are always marked as such."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from pubench.cli.render.terminal import bold, console, facts, table

Row = Mapping[str, Any]
_STAND_IN = "synthetic stand-in"
_HEADERS = ("name", "rows", "features", "positives", "where", "what")
_GAP = 3  # between the columns of a table
_MIN_WIDTH = 12


def print_datasets(rows: Sequence[Row]) -> None:
    """Print all data sets, one line each: on a narrow terminal, texts are truncated."""
    out, terminal = table(*_HEADERS), console()
    for column in out.columns:
        column.no_wrap = True
    for column in out.columns[1:4]:
        column.justify = "right"
    lines = [_line(row) for row in rows]
    widths = [max(len(texts[0]), *map(len, texts[1:])) for texts in zip(_HEADERS, *lines, strict=True)]
    room = terminal.width - sum(widths[:-1]) - _GAP * len(widths)
    for line in lines:
        line[-1].truncate(max(room, _MIN_WIDTH), overflow="ellipsis")
        out.add_row(bold(line[0].plain), *line[1:])
    terminal.print(out)


def _line(row: Row) -> list[Text]:
    info = row["info"]
    if info is None:
        cells = [Text(""), Text(""), Text(""), Text(row["state"]), Text(f"your file {row['place']}")]
    else:
        counts = [Text(f"{info[name]:,}") for name in ("rows", "features", "positives")]
        cells = [*counts, Text(row["state"]), _what(info)]
    return [Text(row["name"]), *cells]


def print_dataset(description: Row) -> None:
    """Print one data set: title, numbers, features and notices."""
    out, summary, info = console(), description["summary"], description["info"]
    out.print(bold(description["name"]))
    card = facts()
    if info is not None:
        card.add_row("what", _what(info))
        card.add_row("source", info["source"])
        card.add_row("licence", info["licence"])
    card.add_row("where", description["place"])
    if summary is None:
        for name in ("rows", "features", "positives"):
            card.add_row(name, f"{info[name]:,}" if info else "")
        out.print(card)
        out.print(
            f"\nIt is not on this machine; download it with: pubench datasets fetch {description['name']}"
        )
        return
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
    notes = [*description["notices"], *([info["note"]] if info and info["note"] else [])]
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
        bounds = [_bound(column[end]) for end in ("low", "high")]
        missing = f"{column['missing']:.1%}" if column["missing"] else ""
        out.add_row(column["name"], column["kind"], missing, f"{column['distinct']:,}", *bounds)
    return out


def _bound(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.0f}" if abs(value) >= 100_000 else f"{value:.6g}"
