"""The sections about the tuned model: what its similarity sees, and which features it uses."""

from pubench.neighbors.selection import REACHED, SMALLEST_K
from pubench.reporting import figures
from pubench.reporting.markup import join
from pubench.reporting.outcomes import called
from pubench.reporting.parts import Section, bars, figure, legend, paragraph
from pubench.reporting.report import Report
from pubench.reporting.searches import expected_positives, ranked

_MOST_FEATURES = 15


def neighbours(report: Report) -> Section | None:
    """Return E_k and the chosen k; None where no similarity counts neighbours."""
    found = report.neighbours
    if found is None:
        return None
    rule = (
        f"k = {found.k} was set by the search; the rule would take k = {found.choice.k}."
        if found.given
        else found.choice.rule
    )
    body = join(
        paragraph(
            "E_k is how many hidden positives the k nearest neighbours of the unlabeled rows suggest. "
            f"{called(found.owner)} model: {rule}"
        ),
        legend(
            [
                ("dot done", "E_k"),
                ("line smooth", "Median of five"),
                ("plateau", f"{REACHED:.0%} to 100% of its highest from k = {SMALLEST_K} on"),
                ("line chosen-k", "k in use"),
            ]
        ),
        figure(
            lambda width: expected_positives(found, width),
            "Expected positives by number of neighbours, on the rows of the search.",
        ),
    )
    return Section("neighbours", "Neighbours", body)


def features(report: Report) -> Section | None:
    """Return the features that matter most to the tuned model; None where it does not know."""
    if not report.features:
        return None
    leading = ranked(report.features, _MOST_FEATURES)
    rest = len(report.features) - len(leading)
    remaining = 1 - sum(share for _, share in leading)
    note = (
        f" The other {figures.count(rest)} share {figures.percent(max(0.0, remaining))}." if rest > 0 else ""
    )
    body = join(
        paragraph(
            f"How much each feature drives the tuned model's score, as its learner counts it; 100% in all.{note} "
            "It says what the model uses, not what causes a positive."
        ),
        bars(leading),
    )
    return Section("features", "Features", body)
