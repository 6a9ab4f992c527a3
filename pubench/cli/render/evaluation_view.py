"""What `evaluate` prints."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from pubench.cli.render.terminal import bold, console, table
from pubench.evaluation import EvaluationResult, ModelEvaluation, percent
from pubench.metrics.comparison import PairwiseComparison
from pubench.metrics.prior_corrected import PriorBand


def print_evaluation(result: EvaluationResult) -> None:
    """Print AUL_PU of each model, the comparisons and, if requested, metrics that depend on a share or a prior."""
    out = console()
    out.print(f"{result.n_rows:,} rows, {result.n_labelled:,} of them labelled positive\n")
    out.print(_models(result.models))
    if result.comparisons:
        out.print()
        out.print(_comparisons(result.comparisons))
    for sentence in result.verdicts:
        out.print(f"\n{sentence}", style="bold")
    for extra in (_tops(result.models), _corrected(result.models)):
        if extra is not None:
            out.print()
            out.print(extra)
    for sentence in result.notes:
        out.print(f"\n{sentence}")


def _models(models: Mapping[str, ModelEvaluation]) -> Table:
    first = next(iter(models.values()))
    rows = table("model", "AUL_PU", f"{percent(first.interval.confidence)} interval")
    for name, model in models.items():
        interval = model.interval
        rows.add_row(name, bold(f"{interval.estimate:.4f}"), f"{interval.low:.4f} to {interval.high:.4f}")
    return rows


def _comparisons(pairs: Sequence[PairwiseComparison]) -> Table:
    corrected = " (Holm)" if len(pairs) > 1 else ""
    confidence = percent(pairs[0].comparison.confidence)
    rows = table("difference", "AUL_PU", f"{confidence} interval", f"p-value{corrected}")
    for pair in pairs:
        comparison = pair.comparison
        interval = f"{comparison.low:+.4f} to {comparison.high:+.4f}"
        rows.add_row(
            f"{pair.a} - {pair.b}", bold(f"{comparison.difference:+.4f}"), interval, f"{pair.p_holm:.2g}"
        )
    return rows


def _tops(models: Mapping[str, ModelEvaluation]) -> Table | None:
    tops = {name: model.top for name, model in models.items() if model.top is not None}
    if not tops:
        return None
    share = next(iter(tops.values())).share
    rows = table(f"in the top {percent(share)} of the rows", "recall", "Lee-Liu score", "precision")
    for name, top in tops.items():
        precision = _band(top.precision) if top.precision else "needs --prior"
        rows.add_row(name, f"{top.recall:.4f}", f"{top.lee_liu:.4g}", precision)
    return rows


def _corrected(models: Mapping[str, ModelEvaluation]) -> Table | None:
    first = next(iter(models.values()))
    if not first.auc:
        return None
    prior = next(iter(first.auc.values())).prior
    rows = table(f"AUC if {prior:g} are positive", *first.auc)
    for name, model in models.items():
        rows.add_row(name, *(_band(band) for band in model.auc.values()))
    return rows


def _band(band: PriorBand) -> str:
    return f"{band.low:.4f} to {band.high:.4f}"
