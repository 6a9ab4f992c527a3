"""`pubench explain`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pubench.cli.options import examples, json_option, plugin_options
from pubench.cli.plugins import open_registry
from pubench.cli.training import threads_option


@click.command(
    epilog=examples(
        "pubench explain runs/customers",
        "pubench explain runs/customers later_customers.csv --label bought",
    )
)
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--label", metavar="COL", help="The column of FILE that marks labelled positives.")
@click.option("--positive", metavar="VALUE", help="The label of positives, where it is not 1 or true.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Decides the shuffles."
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
    """Show what a saved model rests on.

    Without FILE: how much the trees gained from each. With FILE, rows with labels: how much AUL_PU drops when a feature
    is shuffled, and how sure that is.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.explain import explanation  # noqa: PLC0415
    from pubench.cli.render.progress import share_bar  # noqa: PLC0415
    from pubench.explaining import permutation_importance  # noqa: PLC0415
    from pubench.machine import cores  # noqa: PLC0415
    from pubench.saving.models import find_model, load_model  # noqa: PLC0415
    from pubench.scoring.labelled import read_labelled  # noqa: PLC0415
    from pubench.seeds import Seed  # noqa: PLC0415
    from pubench.types import Resources  # noqa: PLC0415

    if (file is None) != (label is None):
        raise click.UsageError("FILE and --label go together: name both or neither.")
    model = load_model(find_model(run_dir), open_registry(plugin_files, strict=strict_plugins))
    answer, notices = None, model.notices
    if file is not None and label is not None:
        data, said = read_labelled(file, label, positive, model.manifest.features)
        with share_bar(f"Shuffling {file.name}") as progress:
            resources = Resources(n_threads=threads or cores(), progress=progress)
            answer = permutation_importance(model.score, data, Seed(seed), resources)
        notices += said
    for notice in notices:
        terminal.notice(notice)
    if as_json:
        shares = model.manifest.importances
        names = [feature.name for feature in model.manifest.features]
        importances = None if shares is None else dict(zip(names, shares, strict=True))
        permuted = None if answer is None else asdict(answer)
        terminal.print_json({"importances": importances, "permutation": permuted})
    else:
        explanation(model.manifest, answer)
