"""The directive {picture} NAME: a picture of a concept, drawn by pubench on simulated rows whenever pages are built.

The content of the directive describes the picture, as its alternative text. Pictures are inline SVG without a background,
in the colour of the text, so that light and dark pages use the same picture.
"""

import html
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pictures_simulated as simulated
from docutils import nodes
from matplotlib import rc_context
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pubench import (
    Affinity,
    Embedding,
    ProbTaggingClassifier,
    Seed,
    Table,
    Tagging,
    auc,
    aul_from_auc,
    aul_pn_score,
    aul_pu_interval,
    aul_pu_score,
    choose_k,
    lift_curve,
    member_tags,
    positive_neighbors,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#010203"  # replaced by the colour of the page's text
FAINT, BLUE, ORANGE, GREEN = "#808890", "#3f87c9", "#dd7a1e", "#2a9d74"
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


class Picture(SphinxDirective):
    """A picture; its content is the alternative text."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the SVG."""
        name, text = self.arguments[0], " ".join(self.content)
        if name not in PICTURES:
            raise self.error(f"There is no picture '{name}'; there are: {', '.join(PICTURES)}.")
        return [nodes.raw("", draw(name, text), format="html")]


def draw(name: str, text: str) -> str:
    """Return a picture as a figure of HTML."""
    with rc_context({**_STYLE, "svg.hashsalt": name}):  # the same picture at each build
        figure = PICTURES[name]()
        file = io.StringIO()
        figure.savefig(
            file, format="svg", dpi=150, transparent=True, metadata={"Date": None, "Creator": None}
        )
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    label = f'<svg role="img" aria-label="{html.escape(text, quote=True)}" '
    return f'<figure class="picture">{label}{svg.removeprefix("<svg ")}</figure>'


def panels(count: int, width: float = 7.2, height: float = 3.1) -> tuple[Figure, list["Axes"]]:
    """Return a figure, not of pyplot, and `count` axes side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, count)))


def seen_and_true() -> Figure:
    """The observed and the true labels."""
    rows, truth, labelled = simulated.customers()
    figure, (seen, true) = panels(2)
    for ax, positive, title in ((seen, labelled, "Observed"), (true, truth, "True")):
        _scatter(ax, rows, ~positive, FAINT, "unlabeled" if ax is seen else "negative")
        _scatter(ax, rows, positive, ORANGE, "labelled positive" if ax is seen else "positive")
        ax.set_title(f"{title}: {int(positive.sum())} of {len(rows)}", fontsize=10)
        _below(ax)
    return figure


def lift_curves() -> Figure:
    """The lift curves of two models, and the area under one of them."""
    _, labelled, good, weak = simulated.two_models()
    figure, (ax,) = panels(1, width=5.2, height=3.6)
    for scores, name, colour in ((good, "model A", BLUE), (weak, "model B", ORANGE)):
        curve = lift_curve(labelled, scores)
        label = f"{name}: AUL_PU = {aul_pu_score(labelled, scores):.3f}"
        ax.plot(curve.share, curve.sensitivity, color=colour, label=label)
        if name == "model A":
            ax.fill_between(curve.share, curve.sensitivity, color=colour, alpha=0.15, linewidth=0)
    ax.plot([0, 1], [0, 1], color=FAINT, linestyle="--", label="random: 0.500")
    ax.set(xlabel="share of all rows, best scores first", ylabel="share of labelled positives found")
    ax.set(xlim=(0, 1), ylim=(0, 1.01))
    ax.legend(loc="lower right")
    return figure


def aul_and_auc() -> Figure:
    """The line of the formula, and AUL_PU measured without negatives."""
    figure, (ax,) = panels(1, width=5.2, height=3.8)
    reach = np.array([0.5, 1.0])
    for prior, colour in ((0.01, BLUE), (0.2, ORANGE), (0.5, GREEN)):
        lines = [aul_from_auc(float(end), prior) for end in reach]
        ax.plot(reach, lines, color=colour, linewidth=1, label=f"{prior:.0%} of the rows are positive")
        for truth, labelled, scores in simulated.models_of_all_kinds(prior):
            measured = aul_pu_score(labelled, scores)
            ax.plot(auc(truth, scores), measured, "o", color=colour, markersize=4)
    ax.set(xlabel="AUC, with all true labels", ylabel="AUL_PU, with half of the positives")
    ax.legend(loc="upper left", title="lines: the formula; dots: measured", alignment="left")
    return figure


def few_labels() -> Figure:
    """Intervals by the number of labelled positives, several tables each."""
    figure, (ax,) = panels(1)
    sizes = (5, 10, 20, 50, 100, 300, 1000)
    for position, labelled_rows in enumerate(sizes):
        for number, (labelled, scores) in enumerate(simulated.tables_with(labelled_rows)):
            interval = aul_pu_interval(labelled, scores)
            x = position + 0.09 * (number - 3.5)
            hit = interval.low <= simulated.TRUE_AUL <= interval.high
            colour = BLUE if hit else ORANGE
            ax.plot([x, x], [interval.low, interval.high], color=colour, linewidth=1.6, alpha=0.6)
            ax.plot(x, interval.estimate, "o", color=colour, markersize=3)
    ax.axhline(simulated.TRUE_AUL, color=INK, linewidth=1, linestyle="--")
    ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    ax.set(xlabel="labelled positives", ylabel="AUL_PU, 95% interval")
    return figure


def scar_broken() -> Figure:
    """AUL_PU with random labels, and with labels that depend on the class probability."""
    figure, (ax,) = panels(1, width=5.2, height=3.8)
    kinds = (
        ("scar", BLUE, "at random (SCAR)"),
        ("rising", ORANGE, "mostly obvious positives"),
        ("falling", GREEN, "mostly unlikely positives"),
    )
    for kind, colour, name in kinds:
        points = [
            (aul_pn_score(truth, scores), aul_pu_score(labelled, scores))
            for truth, labelled, scores in simulated.models_under(kind)
        ]
        ax.plot(*zip(*points, strict=True), "o-", color=colour, markersize=4, linewidth=1, label=name)
    ax.plot([0.5, 0.9], [0.5, 0.9], color=FAINT, linestyle="--", label="no error")
    ax.set(xlabel="AUL, with all true labels", ylabel="AUL_PU, with the observed labels")
    ax.legend(loc="upper left", title="labelled positives", alignment="left")
    return figure


def three_steps() -> Figure:
    """Credibility, one tagging, and the mean of the models."""
    rows, _, labelled = simulated.customers()
    classifier = ProbTaggingClassifier(n_members=20, random_state=0, n_jobs=1).fit(rows, labelled)
    credibility = classifier.credibility_
    chances = Tagging().chances(labelled, Affinity(credibility))
    tags = member_tags(chances, Tagging(), Seed(0), member=0).positive == 1
    figure, (step1, step2, step3) = panels(3, height=3.0)
    some = credibility > 0
    _scatter(step1, rows, ~labelled & ~some, FAINT, "credibility 0")
    sizes = 12 + 90 * credibility[some]
    step1.scatter(rows[some, 0], rows[some, 1], s=sizes, color=BLUE, linewidths=0, alpha=0.8, label="above 0")
    _scatter(step1, rows, labelled, ORANGE, "labelled")
    _scatter(step2, rows, ~tags, FAINT, "negative")
    _scatter(step2, rows, tags & ~labelled, BLUE, "tagged")
    _scatter(step2, rows, labelled, ORANGE, "labelled")
    _mean_score(step3, classifier)
    _scatter(step3, rows, labelled, ORANGE, "labelled")
    for ax, title in ((step1, "1. Similarity"), (step2, "2. One of many taggings"), (step3, "3. Mean")):
        ax.set_title(title, fontsize=10)
        ax.set(xlim=(-3.2, 4.2), ylim=(-3.2, 4.2))
        _below(ax, columns=3 if ax is not step1 else 2)
    return figure


def _mean_score(ax: "Axes", classifier: ProbTaggingClassifier) -> None:
    grid = np.linspace(-3.2, 4.2, 60)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    scores = classifier.predict_proba(points)[:, 1].reshape(60, 60)
    levels = np.quantile(scores, [0.5, 0.7, 0.8, 0.9, 0.95, 1.0])
    levels[-1] += 1e-9
    for low, alpha in zip(np.unique(levels)[:-1], (0.12, 0.3, 0.5, 0.7, 0.95), strict=False):
        ax.contourf(grid, grid, scores, levels=[low, levels[-1]], colors=[BLUE], alpha=alpha)
    ax.plot([], [], "s", color=BLUE, label="stronger: higher score")


def expected_positives() -> Figure:
    """E_k, and the chosen k."""
    rows, _, labelled = simulated.customers()
    X = Table.from_array(rows)
    embedded = Embedding("standard").fit(X).transform(X).values
    choice = choose_k(positive_neighbors(embedded, labelled, k_max=60).expected_positives())
    figure, (ax,) = panels(1, width=5.2, height=3.0)
    k = np.arange(1, len(choice.expected) + 1)
    ax.plot(k, choice.expected, "o-", color=BLUE, markersize=3, linewidth=1, label="E_k")
    ax.axhspan(0.95 * choice.level, choice.level, color=GREEN, alpha=0.2, label="95% of its level, or more")
    ax.axvline(choice.k, color=ORANGE, linestyle="--", label=f"chosen: k = {choice.k}")
    ax.set(xlabel="neighbours k", ylabel="rows expected to be tagged", ylim=(0, None))
    ax.legend(loc="lower right")
    return figure


def optimism() -> Figure:
    """The score of the best of many equally good trials, in the search and on the holdout."""
    figure, (ax,) = panels(1, width=5.2, height=3.4)
    counts, inner, outer = simulated.searches()
    ax.plot(counts, inner, "o-", color=ORANGE, markersize=4, label="the winner's score in the search")
    ax.plot(counts, outer, "o-", color=BLUE, markersize=4, label="the winner's score on the holdout")
    ax.axhline(simulated.TRUE_AUL, color=INK, linewidth=1, linestyle="--", label="the true value")
    ax.set_xscale("log")
    ax.set_xticks(counts, [str(count) for count in counts])
    ax.minorticks_off()
    ax.set(xlabel="trials, all equally good", ylabel=f"AUL_PU, mean of {simulated.SEARCHES} searches")
    ax.legend(loc="upper left")
    return figure


def _scatter(ax: "Axes", rows: simulated.Rows, some: simulated.Flags, colour: str, name: str) -> None:
    faint = colour == FAINT
    size, alpha = (5, 0.45) if faint else (14, 1.0)
    # A thousand points are smaller as pixels than as paths.
    x, y = rows[some].T
    ax.scatter(x, y, s=size, color=colour, alpha=alpha, linewidths=0, label=name, rasterized=faint)


def _below(ax: "Axes", columns: int = 2) -> None:
    """Put the legend below, and remove the ticks of axes without meaningful values."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=columns,
        fontsize=8,
        handletextpad=0.1,
        columnspacing=0.8,
    )


PICTURES: dict[str, Callable[[], Figure]] = {
    make.__name__: make
    for make in (
        seen_and_true,
        lift_curves,
        aul_and_auc,
        few_labels,
        scar_broken,
        three_steps,
        expected_positives,
        optimism,
    )
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
