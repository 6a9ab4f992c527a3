"""What `predict` scored."""

from pathlib import Path

from pubench.cli.render.terminal import console, facts
from pubench.scoring.scoring import Done


def scored(done: Done, out: Path) -> None:
    """Print how many rows were scored and where the scores are."""
    card = facts()
    card.add_row("rows", f"{done.n_rows:,}")
    if done.n_expected is not None:
        card.add_row(
            "threshold", f"{done.n_expected:,} rows score as high as the expected positives of training do"
        )
    card.add_row("written", f"{done.n_written:,} rows, named by {done.id or 'row number'}")
    card.add_row("scores in", str(out))
    console().print(card)
