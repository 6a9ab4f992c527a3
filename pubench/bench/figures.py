"""The paper's figures, drawn from tables of results: SVG and PNG, and the numbers that they show as CSV."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pubench.api.registry import Registry
from pubench.bench.paper_tables import METRIC_NAMES, PaperTable
from pubench.bench.plan import BenchJob
from pubench.bench.suite import Suite, SuiteFigure
from pubench.embedding import Embedding
from pubench.neighbors.k_choice import ExpectedPositivesDisplay, KChoice, choose_k
from pubench.system.cache import machine_cache
from pubench.system.files import make_folder, write_whole
from pubench.system.fingerprint import content_key
from pubench.system.machine import cores
from pubench.types import FloatVector

if TYPE_CHECKING:  # matplotlib takes half a second to import: only drawing needs it
    from matplotlib.axes import Axes

_K_MAX = 50
_MARKERS = "osD^vPX<>*hp"
#: Horizontal distance of neighbouring methods, so that their error bars do not overlap.
_OFFSET = 0.006


def draw_figures(
    suite: Suite, jobs: Sequence[BenchJob], tables: Sequence[PaperTable], registry: Registry, folder: Path
) -> list[Path]:
    """Draw the suite's figures into `folder` and return all files; a figure without results is left out.

    Raises:
        DataError: the data of a figure is not here, or a file cannot be written.
    """
    files: list[Path] = []
    for figure in suite.figures:
        drawing = _sweep(figure, tables) if figure.kind == "sweep" else _curve(figure, jobs, registry)
        if drawing is not None:
            files += _save(figure, folder, drawing)
    return files


Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class _Drawing:
    """The numbers of a figure, and the function that draws it."""

    rows: Sequence[Row]
    draw: Callable[["Axes"], None]


def _sweep(figure: SuiteFigure, tables: Sequence[PaperTable]) -> _Drawing | None:
    rows = sweep_rows(figure, tables)
    return _Drawing(rows, partial(_draw_sweep, figure, rows)) if rows else None


def _curve(figure: SuiteFigure, jobs: Sequence[BenchJob], registry: Registry) -> _Drawing | None:
    job = next((job for job in jobs if job.spec.dataset == figure.dataset and not job.problem), None)
    if job is None:
        return None
    choice = expected_positives(job, registry)
    return _Drawing(_curve_rows(choice), partial(_draw_curve, figure, choice))


def sweep_rows(figure: SuiteFigure, tables: Sequence[PaperTable]) -> list[Row]:
    """Return a row per method and theta_O: the mean of the figure's metric and its standard error."""
    return [
        {
            "method": line.label,
            "theta_o": table.theta_o,
            "one_minus_theta_o": round(1 - table.theta_o, 6),
            "metric": figure.metric,
            "mean": line.means[figure.metric].value,
            "stderr": line.means[figure.metric].stderr,
            "runs": line.done,
        }
        for table in tables
        if table.dataset == figure.dataset and table.theta_o is not None
        for line in table.lines
        if figure.metric in line.means
    ]


def expected_positives(job: BenchJob, registry: Registry) -> KChoice:
    """Return E_1, E_2, ... on the job's training fold, standardised, and the k that is chosen from it."""
    from pubench.bench.job_data import open_job_data  # noqa: PLC0415 - heavy imports happen when used

    train = open_job_data(job.spec, registry).fold.train
    embedded = Embedding("standard").fit(train.X).transform(train.X).values

    def make() -> dict[str, FloatVector]:
        from pubench.neighbors.search import positive_neighbors  # noqa: PLC0415 - compiled code is loaded when used

        neighbors = positive_neighbors(embedded, train.s, _K_MAX, n_threads=cores())
        return {"expected": neighbors.expected_positives()}

    key = content_key("expected positives", _K_MAX, embedded, train.s)
    return choose_k(machine_cache()(key, make)["expected"])


def _curve_rows(choice: KChoice) -> list[Row]:
    return [
        {"k": k, "expected_positives": expected, "chosen": k == choice.k}
        for k, expected in enumerate(choice.expected.tolist(), start=1)
    ]


def _draw_curve(figure: SuiteFigure, choice: KChoice, ax: "Axes") -> None:
    ExpectedPositivesDisplay(choice=choice, name=figure.dataset).plot(ax=ax)
    if figure.title:
        ax.set_title(figure.title)


def _draw_sweep(figure: SuiteFigure, rows: Sequence[Row], ax: "Axes") -> None:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for number, method in enumerate(methods):
        offset = _OFFSET * (number - (len(methods) - 1) / 2)
        method_rows = sorted(
            (row for row in rows if row["method"] == method), key=lambda row: row["one_minus_theta_o"]
        )
        ax.errorbar(
            [row["one_minus_theta_o"] + offset for row in method_rows],
            [row["mean"] for row in method_rows],
            yerr=[row["stderr"] or 0.0 for row in method_rows],
            label=method,
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=5,
            linewidth=1.4,
            capsize=2,
            color=f"C{number % 10}",
        )
    ax.set(
        xlabel=r"$1 - \theta_O$: share of positives that hide",
        ylabel=f"{METRIC_NAMES[figure.metric]} (mean ± standard error)",
    )
    ax.set_xticks(np.unique([row["one_minus_theta_o"] for row in rows]))
    ax.set_title(figure.title or figure.dataset)
    ax.grid(visible=True, color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _save(figure: SuiteFigure, folder: Path, drawing: _Drawing) -> list[Path]:
    import matplotlib as mpl  # noqa: PLC0415 - heavy imports happen when used
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    make_folder(folder)
    paths = [folder / f"{figure.name}.{suffix}" for suffix in ("svg", "png", "csv")]
    # Outside pyplot: no global state and no window, whatever the backend.
    canvas = Canvas(figsize=(8.4, 4.8), layout="constrained")
    FigureCanvasAgg(canvas)
    drawing.draw(canvas.subplots())
    salted = mpl.rc_context({"svg.hashsalt": figure.name})  # equal figures give equal files
    with salted, write_whole(paths[0]) as temporary:
        canvas.savefig(temporary, metadata={"Date": None})
    with write_whole(paths[1]) as temporary:
        canvas.savefig(temporary, dpi=150)
    with write_whole(paths[2]) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, drawing.rows[0])
        writer.writeheader()
        writer.writerows(drawing.rows)
    return paths
