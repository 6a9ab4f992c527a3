"""What the tuned model uses: the neighbours that its similarity counts, and its features."""

from pubench.html import numbers
from pubench.html.markup import join
from pubench.html.parts import Section, bars, figure, largest, legend, paragraph
from pubench.neighbors.k_choice import REACHED, SMALLEST_K
from pubench.report.charts import expected_positives
from pubench.report.result_sections import display_name
from pubench.report.values import Report

_MAX_FEATURES = 15


def neighbours_section(report: Report) -> Section | None:
    """Return E_k and the chosen k; None where no similarity counts neighbours."""
    curve = report.neighbours
    if curve is None:
        return None
    rule = (
        f"k = {curve.k} was set by the search; the rule would choose k = {curve.choice.k}."
        if curve.is_given
        else curve.choice.rule
    )
    body = join(
        paragraph(
            "E_k is the number of hidden positives that the k nearest neighbours of the unlabeled rows suggest. "
            f"{display_name(curve.contender)} model: {rule}"
        ),
        legend(
            [
                ("dot done", "E_k"),
                ("line smooth", "Median of five"),
                ("plateau", f"{REACHED:.0%} to 100% of its maximum from k = {SMALLEST_K} on"),
                ("line cut", "k in use"),
            ]
        ),
        figure(
            lambda width: expected_positives(curve, width),
            "Expected positives by number of neighbours, on the rows of the search.",
        ),
    )
    return Section("neighbours", "Neighbours", body)


def features_section(report: Report) -> Section | None:
    """Return the features that matter most to the tuned model; None where that is unknown."""
    if not report.features:
        return None
    leading = largest(report.features, _MAX_FEATURES)
    rest = len(report.features) - len(leading)
    remaining = 1 - sum(share for _, share in leading)
    note = (
        f" The other {numbers.count(rest)} share {numbers.percent(max(0.0, remaining))}." if rest > 0 else ""
    )
    body = join(
        paragraph(
            f"Importance of each feature for the tuned model's score, as its learner measures it; the sum is 100%.{note} "
            "It shows what the model uses, not what causes a positive."
        ),
        bars(leading),
    )
    return Section("features", "Features", body)
