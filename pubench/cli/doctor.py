"""`pubench doctor`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pubench.cli.options import examples, json_option, plugin_options
from pubench.cli.plugins import open_registry


@click.command(
    epilog=examples(
        "pubench doctor",
        "pubench doctor --storage postgresql+psycopg://me@db/studies",
        "pubench doctor --json",
    )
)
@click.option("--storage", metavar="URL", help="Also try to connect to this study storage.")
@plugin_options
@json_option
@click.pass_context
def doctor(
    ctx: click.Context,
    *,
    storage: str | None,
    plugin_files: Sequence[Path],
    strict_plugins: bool,
    as_json: bool,
) -> None:
    """Check this machine: what pubench finds here.

    Versions, cores, memory, CUDA for each learner, folders, storage and plugins. Changes nothing. Exit code 1 if
    something is wrong; a missing GPU is not an error.
    """
    from pubench.cli.render import terminal  # noqa: PLC0415 - heavy imports happen when used
    from pubench.cli.render.doctor_view import print_diagnosis  # noqa: PLC0415
    from pubench.doctor import diagnose  # noqa: PLC0415

    with terminal.busy("Checking this machine"):
        diagnosis = diagnose(open_registry(plugin_files, strict=strict_plugins), storage)
    if as_json:
        terminal.print_json(asdict(diagnosis) | {"healthy": diagnosis.healthy})
    else:
        print_diagnosis(diagnosis)
    ctx.exit(0 if diagnosis.healthy else 1)
