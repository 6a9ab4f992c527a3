"""What `fit` trained."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from pubench.cli.render.terminal import bold, console, facts, table
from pubench.fitting import Fitted
from pubench.saving.configuration import title_of
from pubench.saving.manifest import Manifest

_FEATURES = 10


def fitted_card(fitted: Fitted, out: Path) -> None:
    """Print what was trained, on what, and what drives it."""
    terminal, manifest = console(), fitted.manifest
    terminal.print(bold(f"{manifest.title} on {fitted.dataset}"))
    card = facts()
    card.add_row("trained on", f"{manifest.n_rows:,} rows, {manifest.n_labelled:,} of them labelled positive")
    for name, value in _decisions(manifest):
        card.add_row(name, value)
    if manifest.expected_positives is not None:
        share = manifest.expected_positives / manifest.n_rows
        card.add_row(
            "expected positives", f"{manifest.expected_positives:,.1f} ({share:.3%}), labelled ones included"
        )
    card.add_row("time", f"{fitted.seconds:,.1f} s on {fitted.device}")
    if fitted.why_cpu:
        card.add_row("", fitted.why_cpu)
    card.add_row("saved in", str(out))
    terminal.print(card)
    ranked = ranked_importances(manifest)
    if ranked:
        terminal.print()
        terminal.print(importance_table(ranked))
    terminal.print(
        f"\nScore other rows with: pubench predict {shlex.quote(str(out))} FILE --out scores.parquet"
    )


def _decisions(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield what training decided by itself; of a blend, a line for each part."""
    each = manifest.chosen.get("blended")
    if not isinstance(each, Sequence) or len(manifest.ingredients) == 1:
        yield from _shown(manifest.chosen)
        return
    for number, (one, chosen) in enumerate(zip(manifest.ingredients, each, strict=True), 1):
        told = ", ".join(f"{name} {value}" for name, value in _shown(chosen))
        yield f"part {number}", f"{one.weight} x {title_of([one])}{': ' if told else ''}{told}"


def _shown(chosen: Any) -> Iterator[tuple[str, str]]:
    return ((name, str(value)) for name, value in chosen.items() if name != "expected_positives")


def fitted_json(fitted: Fitted, out: Path) -> dict[str, Any]:
    """Return what was trained as a JSON object: the manifest, and what is not part of it."""
    return {
        "out": str(out),
        "dataset": fitted.dataset,
        "device": fitted.device,
        "seconds": fitted.seconds,
        "notices": list(fitted.notices),
        "model": fitted.manifest.to_json(),
    }


def ranked_importances(manifest: Manifest) -> list[tuple[str, float]]:
    """Return the features and their importances, the most important first; empty where these are unknown."""
    if manifest.importances is None:
        return []
    pairs = zip((feature.name for feature in manifest.features), manifest.importances, strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])


def importance_table(ranked: Sequence[tuple[str, float]], rows: int = _FEATURES) -> Table:
    """Return the first features of a ranking as a table."""
    out = table("feature", "importance")
    out.columns[1].justify = "right"
    for name, share in ranked[:rows]:
        out.add_row(name, f"{share:.1%}")
    if len(ranked) > rows:
        out.add_row(f"and {len(ranked) - rows} more", f"{sum(share for _, share in ranked[rows:]):.1%}")
    return out
