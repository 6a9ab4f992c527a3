"""The sections about where a result comes from: the data, and how to do it again."""

import shlex
from itertools import pairwise

from pubench.reporting import figures
from pubench.reporting.markup import Child, Markup, element, join
from pubench.reporting.parts import Section, facts, listing, paragraph, sentences, table
from pubench.reporting.report import Report

_SCAR = (
    "All figures rest on one assumption, SCAR: which positives got a label is pure chance. A test can find signs against it, "
    "and can never prove it; labelling that favours rows with high scores leaves no trace and makes every figure too good."
)


def data(report: Report) -> Section:
    """Return the data in numbers, what is to be known of it, and whether labelling looks random."""
    of = report.facts
    held, held_labelled = of.rows - of.searched, of.labelled - of.searched_labelled
    kinds = ", ".join(f"{figures.count(number)} {kind}" for kind, number in of.kinds.items())
    pairs: dict[str, Child] = {
        "Rows": figures.count(of.rows),
        "Labelled positive": f"{figures.count(of.labelled)} ({figures.percent(of.labelled / of.rows)})",
        "Features": f"{figures.count(sum(of.kinds.values()))} ({kinds})",
        "Missing values": f"{figures.percent(of.missing)} in {figures.counted(of.incomplete, 'feature')}"
        if of.incomplete
        else "none",
        "Search": f"{figures.count(of.searched)} rows, {figures.count(of.searched_labelled)} labelled",
        "Holdout": f"{figures.count(held)} rows, {figures.count(held_labelled)} labelled",
    }
    subject = report.subject
    stand_in = "This data set is a synthetic stand-in for data that is not public."
    known = [
        *([stand_in] if subject.stand_in else []),
        *([subject.note] if subject.note else []),
        *report.notices,
    ]
    body = join(
        facts(pairs),
        paragraph(f"Source: {subject.source}", class_="muted") if subject.source else None,
        sentences(known),
        element("h3", "Does labelling look random?"),
        paragraph(
            report.scar.sentence
            if report.scar is not None
            else "It was not tested here: with so many features that takes long."
        ),
        paragraph(_SCAR, class_="muted"),
    )
    return Section("data", "Data", body)


def again(report: Report) -> Section:
    """Return how to use the model, and how to do the run again."""
    provenance = report.provenance
    model = shlex.quote(str(provenance.out / "model"))
    steps = sorted(report.found.timeline.items(), key=lambda item: item[1])
    ends = [0.0, *(end for _, end in steps)]
    times = [figures.seconds(end - start) for start, end in pairwise(ends)]
    rows = [(phase.capitalize(), time) for (phase, _), time in zip(steps, times, strict=True)]
    rows.append(("In all", figures.seconds(ends[-1])))
    body = join(
        element("h3", "Score new rows"),
        listing(f"pubench predict {model} FILE"),
        element("h3", "The command"),
        listing(shown_command(provenance.command)),
        element("h3", "The configuration"),
        listing(provenance.configuration.rstrip("\n")),
        element(
            "div",
            _titled("Time", table(("Phase", "Took"), rows, "Time by phase")),
            _titled("Versions", table(("Package", "Version"), list(provenance.versions.items()), "Versions")),
            class_="columns",
        ),
        paragraph(f"Machine: {provenance.machine}", class_="muted"),
    )
    return Section("again", "Use it, repeat it", body)


def _titled(title: str, content: Markup) -> Markup:
    return element("div", element("h3", title), content)


def shown_command(words: tuple[str, ...]) -> str:
    """Return a command as it is typed, with addresses cut down to what can not be secret."""
    return " ".join(shlex.quote(_masked(word)) for word in words)


def _masked(word: str) -> str:
    """Return an address without password and query; other words as they are."""
    scheme, separator, rest = word.partition("://")
    if not separator:
        return word
    user, at, place = rest.rpartition("@")  # a password may hold any sign, an @ too
    shown = place.partition("?")[0]
    return f"{scheme}://{user.partition(':')[0]}:MASKED@{shown}" if at else f"{scheme}://{shown}"
