"""What `plugins` prints."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from pubench.cli.render.terminal import bold, console, table
from pubench.testing.examination import CheckOutcome, Examination, Verdict

Row = Mapping[str, Any]


def print_plugins(rows: Sequence[Row], failures: Sequence[Row]) -> None:
    """Print the table of plugins, and below it those that failed to load."""
    out = console()
    if rows:
        plugins = table("name", "kind", "package", "version", "parameters (default)")
        for row in rows:
            parameters = "\n".join(_parameter(name, entry) for name, entry in row["parameters"].items())
            plugins.add_row(bold(row["name"]), row["kind"], row["package"], row["version"], parameters)
        out.print(plugins)
    else:
        out.print("No plugins.")
    if failures:
        failed = table("not loaded", "error")
        failed.columns[0].no_wrap = False  # a path can be wider than the terminal
        for row in failures:
            packages = "\n".join(f"{origin['package']} {origin['version']}" for origin in row["origins"])
            failed.add_row(packages, Text(row["error"], style="red"))
        out.print(failed)


def print_plugin(row: Row) -> None:
    """Print one plugin with its parameters."""
    out = console()
    out.print(Text.assemble((row["name"], "bold"), f", {row['kind']} of {row['package']} {row['version']}"))
    out.print(row["summary"])
    if not row["parameters"]:
        out.print("It has no parameters.")
        return
    parameters = table("parameter", "type", "range", "default", "meaning")
    for name, entry in row["parameters"].items():
        when = f" (with {entry['when'][0]} = {entry['when'][1]})" if entry["when"] else ""
        default = f"{entry['default']}{', or derived from the size of the data' if entry['derived'] else ''}"
        parameters.add_row(name, entry["type"], entry["range"], default, entry["help"] + when)
    out.print(parameters)


def show_progress(name: str, examination: Examination) -> Iterator[Verdict]:
    """Yield the verdicts of an examination, and show on stderr which check runs, if stderr is a terminal."""
    checks = list(examination.checks)
    with console(stderr=True).status(f"Checking {name} ...") as status:
        verdicts = examination.run()
        for number, check in enumerate(checks, start=1):
            status.update(f"Checking {name}: {check} ({number} of {len(checks)})")
            yield next(verdicts)


def print_verdicts(title: str, verdicts: Sequence[Verdict]) -> None:
    """Print each verdict on a line, and below them the number of each outcome."""
    out = console()
    rows = table("check", "", "finding, or else the rule", "seconds")
    rows.columns[3].justify = "right"
    for verdict in verdicts:
        rows.add_row(
            verdict.check,
            Text(verdict.outcome, style=_STYLES[verdict.outcome]),
            verdict.sentence or Text(verdict.promise, style="dim"),
            f"{verdict.seconds:.2f}",
        )
    out.print(bold(title))
    out.print(rows)
    counts = Counter(verdict.outcome for verdict in verdicts)
    summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in CheckOutcome if counts[outcome])
    out.print(Text(f"{len(verdicts)} checks: {summary}.", style=_STYLES[max(counts, key=_severity)]))


def print_files(paths: Sequence[Path], commands: Sequence[str]) -> None:
    """Print the files that were written, and the commands to run next."""
    out = console()
    for path in paths:
        out.print(f"wrote {path}", soft_wrap=True)
    out.print(bold("next"))
    for command in commands:
        out.print(f"  {command}", soft_wrap=True)


_STYLES = {CheckOutcome.OK: "green", CheckOutcome.DECLINED: "yellow", CheckOutcome.BROKEN: "red"}
_severity = list(CheckOutcome).index


def _parameter(name: str, entry: Row) -> str:
    return f"{name}: {entry['range']} ({entry['default']})"
