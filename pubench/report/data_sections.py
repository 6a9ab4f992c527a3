"""Where a result comes from: the data, and how to repeat the run."""

import shlex
from itertools import pairwise

from pubench.html import numbers
from pubench.html.markup import Child, Markup, element, join
from pubench.html.parts import Section, bullets, facts, listing, paragraph, table
from pubench.report.values import Report
from pubench.system.redaction import redacted

_SCAR = (
    "All results assume SCAR: which positives got a label is pure chance. A test can find evidence against it but can never "
    "prove it; labelling that favours rows with high scores leaves no trace and makes every result look too good."
)


def data_section(report: Report) -> Section:
    """Return the data in numbers, notices about it, and whether labelling looks random."""
    of = report.facts
    held_out, held_out_labelled = of.rows - of.searched, of.labelled - of.searched_labelled
    kinds = ", ".join(f"{numbers.count(number)} {kind}" for kind, number in of.kinds.items())
    pairs: dict[str, Child] = {
        "Rows": numbers.count(of.rows),
        "Labelled positive": f"{numbers.count(of.labelled)} ({numbers.percent(of.labelled / of.rows)})",
        "Features": f"{numbers.count(sum(of.kinds.values()))} ({kinds})",
        "Missing values": f"{numbers.percent(of.missing)} in {numbers.counted(of.incomplete, 'feature')}"
        if of.incomplete
        else "none",
        "Search": f"{numbers.count(of.searched)} rows, {numbers.count(of.searched_labelled)} labelled",
        "Holdout": f"{numbers.count(held_out)} rows, {numbers.count(held_out_labelled)} labelled",
    }
    subject = report.subject
    stand_in = "This data set is a synthetic stand-in for data that is not public."
    notices = [
        *([stand_in] if subject.stand_in else []),
        *([subject.note] if subject.note else []),
        *report.result.notices,
    ]
    body = join(
        facts(pairs),
        paragraph(f"Source: {subject.source}", class_="muted") if subject.source else None,
        bullets(notices),
        element("h3", "Does labelling look random?"),
        paragraph(
            report.scar.sentence
            if report.scar is not None
            else "It was not tested here: with this number of features the test takes long."
        ),
        paragraph(_SCAR, class_="muted"),
    )
    return Section("data", "Data", body)


def reproduction_section(report: Report) -> Section:
    """Return how to use the model, and how to repeat the run."""
    provenance = report.provenance
    out = report.result.out
    model, holdout, journal = (
        shlex.quote(str(path)) for path in (out, out / "holdout.csv", out / "work" / "journal.log")
    )
    steps = sorted(report.result.timeline.items(), key=lambda item: item[1])
    ends = [0.0, *(end for _, end in steps)]
    times = [numbers.seconds(end - start) for start, end in pairwise(ends)]
    rows = [(phase.capitalize(), time) for (phase, _), time in zip(steps, times, strict=True)]
    rows.append(("Total", numbers.seconds(ends[-1])))
    body = join(
        paragraph(report.result.shipped_sentence),
        element("h3", "Score rows"),
        listing(f"pubench predict {model} {shlex.quote(report.subject.file or 'FILE')} --out scores.csv"),
        element("h3", "Judge the holdout with your own tools, or with these"),
        listing(f"pubench evaluate {holdout} --label label --score score"),
        element("h3", "See which features the model uses"),
        listing(f"pubench explain {model}"),
        element("h3", "Look at the search"),
        listing(f"optuna-dashboard {journal}"),
        element("h3", "Compare runs on several tables"),
        listing(f"pubench leaderboard show {model}"),
        element("h3", "The command; with more time and --out it continues this run"),
        listing(shown_command(provenance.command)),
        element("h3", "The configuration"),
        listing(provenance.configuration.rstrip("\n")),
        element(
            "div",
            _titled("Time", table(("Phase", "Time"), rows, "Time by phase")),
            _titled("Versions", table(("Package", "Version"), list(provenance.versions.items()), "Versions")),
            class_="columns",
        ),
        paragraph(f"Machine: {provenance.machine}", class_="muted"),
    )
    return Section("again", "How to go on", body)


def _titled(title: str, content: Markup) -> Markup:
    return element("div", element("h3", title), content)


def shown_command(words: tuple[str, ...]) -> str:
    """Return a command line for a shell, without the secrets of addresses in it."""
    return " ".join(shlex.quote(redacted(word)) for word in words)
