"""What `fit`, `predict` and `explain` print."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from pubench.cli.render.terminal import bold, console, facts, table
from pubench.configuration.configuration import title_of
from pubench.model.fit import FitResult
from pubench.model.importance import Explanation
from pubench.model.manifest import Manifest
from pubench.model.predict import PredictResult

#: Number of features in the tables of `fit` and `explain`.
_FIT_FEATURES, _EXPLAIN_FEATURES = 10, 30
#: Decisions that have a line of their own, or are too long for one.
_NOT_SHOWN = {"expected_positives", "learners"}


def print_fit(result: FitResult, out: Path) -> None:
    """Print what was trained, on which data, and the most important features."""
    terminal, manifest = console(), result.manifest
    terminal.print(bold(f"{manifest.title} on {result.dataset}"))
    card = facts()
    card.add_row("trained on", f"{manifest.n_rows:,} rows, {manifest.n_labelled:,} of them labelled positive")
    for name, value in _decisions(manifest):
        card.add_row(name, value)
    if manifest.expected_positives is not None:
        share = manifest.expected_positives / manifest.n_rows
        card.add_row(
            "expected tags", f"{manifest.expected_positives:,.1f} ({share:.3%}), labelled ones included"
        )
    if manifest.hidden_positives is not None:
        card.add_row("hidden positives", manifest.hidden_positives.in_words)
    card.add_row("time", f"{result.seconds:,.1f} s on {result.device}")
    if result.why_cpu:
        card.add_row("", result.why_cpu)
    card.add_row("saved in", str(out))
    terminal.print(card)
    ranked = _ranked_importances(manifest)
    if ranked:
        terminal.print()
        terminal.print(_importance_table(ranked, _FIT_FEATURES))
    terminal.print(
        f"\nScore other rows with: pubench predict {shlex.quote(str(out))} FILE --out scores.parquet"
    )


def _decisions(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield what training decided; of a blend, a line for each part."""
    blended = manifest.chosen.get("blended")
    if not isinstance(blended, Sequence) or len(manifest.specs) == 1:
        yield from _named_values(manifest.chosen)
        return
    for number, (spec, chosen) in enumerate(zip(manifest.specs, blended, strict=True), 1):
        values = ", ".join(f"{name} {value}" for name, value in _named_values(chosen))
        yield f"part {number}", f"{spec.weight} x {title_of([spec])}{': ' if values else ''}{values}"


def _named_values(chosen: Any) -> Iterator[tuple[str, str]]:
    return ((name, str(value)) for name, value in chosen.items() if name not in _NOT_SHOWN)


def fit_json(result: FitResult, out: Path) -> dict[str, Any]:
    """Return what was trained as a JSON object: the manifest, and what is not part of it."""
    return {
        "out": str(out),
        "dataset": result.dataset,
        "device": result.device,
        "seconds": result.seconds,
        "notices": list(result.notices),
        "model": result.manifest.to_json(),
    }


def print_prediction(result: PredictResult, out: Path) -> None:
    """Print the number of rows scored, and the file of scores."""
    card = facts()
    card.add_row("rows", f"{result.n_rows:,}")
    if result.n_expected is not None:
        card.add_row(
            "threshold", f"{result.n_expected:,} rows score as high as the expected tags of training do"
        )
    card.add_row("hidden positives", result.hidden.in_words)
    if result.n_left_out:
        card.add_row("left out", f"{result.n_left_out:,} labelled rows of the training data")
    card.add_row("written", f"{result.n_written:,} rows, named by {result.id or 'row number'}")
    card.add_row("scores in", str(out))
    console().print(card)


def print_explanation(manifest: Manifest, explanation: Explanation | None) -> None:
    """Print the importances that the model reports, and the measured ones if there are any."""
    out = console()
    out.print(bold(manifest.title))
    ranked = _ranked_importances(manifest)
    if ranked:
        out.print(_importance_table(ranked, _EXPLAIN_FEATURES))
    else:
        out.print("The model reports no importances; give a FILE and --label to measure them.")
    if explanation is not None:
        out.print()
        _print_permutations(explanation)


def _print_permutations(explanation: Explanation) -> None:
    out = console()
    out.print(
        f"AUL_PU is {explanation.aul_pu:.4f} on {explanation.n_rows:,} rows, {explanation.n_labelled:,} of them labelled. "
        "It drops by this much when a feature is shuffled:"
    )
    rows = table("feature", "drop", "95% interval")
    by_drop = sorted(explanation.features, key=lambda item: -item.drop.difference)
    for item in by_drop[:_EXPLAIN_FEATURES]:
        drop = item.drop
        rows.add_row(item.feature, bold(f"{drop.difference:+.4f}"), f"{drop.low:+.4f} to {drop.high:+.4f}")
    out.print(rows)
    note = next((item.drop.note for item in explanation.features if item.drop.note), "")
    caveat = "Redundant features cover for each other, and rows that the model was trained on give optimistic figures."
    out.print(f"\n{caveat} {note}".rstrip())


def _ranked_importances(manifest: Manifest) -> list[tuple[str, float]]:
    """Return the features and their importances, the most important first; empty if these are unknown."""
    if manifest.importances is None:
        return []
    pairs = zip((feature.name for feature in manifest.features), manifest.importances, strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])


def _importance_table(ranked: Sequence[tuple[str, float]], rows: int) -> Table:
    """Return the first features of a ranking as a table."""
    out = table("feature", "importance")
    out.columns[1].justify = "right"
    for name, share in ranked[:rows]:
        out.add_row(name, f"{share:.1%}")
    if len(ranked) > rows:
        out.add_row(f"and {len(ranked) - rows} more", f"{sum(share for _, share in ranked[rows:]):.1%}")
    return out
