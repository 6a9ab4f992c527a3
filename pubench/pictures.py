"""Pictures saved to files; what they show is computed elsewhere."""

from collections.abc import Mapping
from pathlib import Path

from pubench.atomic import replacing
from pubench.metrics.display import LiftCurveDisplay
from pubench.types import BoolVector, FloatVector


def save_lift_curves(s: BoolVector, scores: Mapping[str, FloatVector], confidence: float, path: Path) -> None:
    """Draw the lift curve of every model on one axis and save it; the suffix of `path` decides the format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - heavy imports happen when used
    from matplotlib.figure import Figure  # noqa: PLC0415

    # A figure of its own, outside pyplot: no global state, no window, whatever the backend.
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    for name, values in scores.items():
        LiftCurveDisplay.from_predictions(s, values, name=name, confidence=confidence, ax=ax)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)
