"""`pubench completion`: shell completion scripts."""

import click
from click.shell_completion import get_completion_class

from pubench.cli.options import examples


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
