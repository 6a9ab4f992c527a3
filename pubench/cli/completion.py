"""`pubench completion`: shell completion scripts."""

import click
from click.shell_completion import CompletionItem, get_completion_class

from pubench.cli.options import examples


def complete_dataset(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Offer the names of data sets that start with what was typed, or else files."""
    from pubench.data.catalogue import catalogue  # noqa: PLC0415 - heavy imports happen when used
    from pubench.registry import load_registry  # noqa: PLC0415
    from pubench.streams import silence  # noqa: PLC0415

    with silence():  # whatever is printed would end up in the prompt
        names = [entry.name for entry in catalogue(load_registry(ctx.params.get("plugin_files") or ()))]
    fitting = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return fitting or [CompletionItem(incomplete, type="file")]


@click.command(
    epilog=examples(
        "pubench completion bash >> ~/.bashrc",
        "pubench completion zsh >> ~/.zshrc",
        "pubench completion fish > ~/.config/fish/completions/pubench.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script for completion in your shell.

    It completes commands, options and the names of plugins.
    """
    complete = get_completion_class(shell)
    if complete is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(complete(ctx.find_root().command, {}, "pubench", "_PUBENCH_COMPLETE").source())
