"""What `explain` found."""

from pubench.cli.render.fit import importance_table, ranked_importances
from pubench.cli.render.terminal import bold, console, table
from pubench.explaining import Explanation
from pubench.saving.manifest import Manifest

_ROWS = 30


def explanation(manifest: Manifest, found: Explanation | None) -> None:
    """Print what drives a model: by its own account, and measured if it was."""
    out = console()
    out.print(bold(manifest.title))
    ranked = ranked_importances(manifest)
    if ranked:
        out.print(importance_table(ranked, _ROWS))
    else:
        out.print("The model does not tell what drives it; give a FILE and --label to measure it.")
    if found is not None:
        out.print()
        _permutations(found)


def _permutations(found: Explanation) -> None:
    out = console()
    out.print(
        f"AUL_PU is {found.aul_pu:.4f} on {found.n_rows:,} rows, {found.n_labelled:,} of them labelled; shuffled, "
        "a feature costs of that:"
    )
    rows = table("feature", "drop", "95% interval")
    for item in sorted(found.features, key=lambda item: -item.drop.difference)[:_ROWS]:
        drop = item.drop
        rows.add_row(item.feature, bold(f"{drop.difference:+.4f}"), f"{drop.low:+.4f} to {drop.high:+.4f}")
    out.print(rows)
    note = next((item.drop.note for item in found.features if item.drop.note), "")
    said = (
        "Features that say the same cover for each other, and rows that the model was trained on flatter it."
    )
    out.print(f"\n{said} {note}".rstrip())
