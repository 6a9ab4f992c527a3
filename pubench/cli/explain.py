"""`pubench explain`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pubench.cli.options import examples, json_option, plugin_options, threads_option
from pubench.cli.plugins import open_registry


@click.command(
    epilog=examples(
        "pubench explain runs/customers",
        "pubench explain runs/customers later_customers.csv --label bought",
    )
)
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--label", metavar="COL", help="The column of FILE that marks labelled positives.")
@click.option("--positive", metavar="VALUE", help="The label of positives, if it is not 1 or true.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the shuffles."
)
@threads_option
@plugin_options
@json_option
def explain(  # noqa: PLR0913 - a command's options
    run_dir: Path,
    file: Path | None,
    *,
    label: str | None,
    positive: str | None,
    seed: int,
    threads: int | None,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Show which features a saved model depends on.

    Without FILE: the importances that the model itself reports. With FILE, rows with labels: the drop in AUL_PU when a
    feature is shuffled, with its interval.
    """
    from pubench.cli.render import model_view, terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.model.importance import permutation_importance, read_labelled  # noqa: PLC0415
    from pubench.model.saved import find_model, load_model  # noqa: PLC0415
    from pubench.seeds import Seed  # noqa: PLC0415
    from pubench.system.machine import cores  # noqa: PLC0415
    from pubench.types import Resources  # noqa: PLC0415

    if (file is None) != (label is None):
        raise click.UsageError("FILE and --label go together: name both or neither.")
    model = load_model(find_model(run_dir), open_registry(plugin_files, strict=strict_plugins))
    explanation, notices = None, model.notices
    if file is not None and label is not None:
        data, file_notices = read_labelled(file, label, positive, model.manifest.features)
        with terminal.share_progress(f"Shuffling {file.name}") as progress:
            resources = Resources(n_threads=threads or cores(), progress=progress)
            explanation = permutation_importance(model.score, data, Seed(seed), resources)
        notices += file_notices
    for notice in notices:
        terminal.notice(notice)
    if as_json:
        shares = model.manifest.importances
        names = [feature.name for feature in model.manifest.features]
        importances = None if shares is None else dict(zip(names, shares, strict=True))
        permuted = None if explanation is None else asdict(explanation)
        terminal.print_json({"importances": importances, "permutation": permuted})
    else:
        model_view.print_explanation(model.manifest, explanation)
