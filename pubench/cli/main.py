"""The `pubench` command: its subcommands, its exit codes, and `pubench completion`."""

import errno
import os

import click
from click.shell_completion import get_completion_class

from pubench.cli.bench import bench
from pubench.cli.datasets import datasets
from pubench.cli.doctor import doctor
from pubench.cli.evaluate import evaluate
from pubench.cli.explain import explain
from pubench.cli.fit import fit
from pubench.cli.leaderboard import leaderboard
from pubench.cli.options import examples
from pubench.cli.plugins import plugins
from pubench.cli.predict import predict
from pubench.cli.tune import tune
from pubench.errors import PubenchError
from pubench.system.machine import waiting_variables

#: What the system says where there is no room: on the disk, in the quota, for a file, or for any change.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


class CommandFailure(click.ClickException):
    """An error as click shows it: a sentence and an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance


class Root(click.Group):
    """Lists commands in the order of use and turns every error into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order in which they were added."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; exit codes: 0 done, 1 the work failed, 2 bad input or usage."""
        try:
            return super().invoke(ctx)
        except PubenchError as error:
            raise CommandFailure(str(error), error.exit_code) from error
        except OSError as error:
            if error.errno not in _FULL:
                raise
            place = error.filename or "A file"
            raise CommandFailure(
                f"{place} cannot be written: {error.strerror}; make room and run the same command again.", 1
            ) from error
        except click.exceptions.NoArgsIsHelpError:  # its message is the help
            raise
        except click.UsageError as error:
            # Click prints the usage and a blank line first, which would hide the sentence.
            command = error.ctx.command_path if error.ctx else ctx.command_path
            message = f"{error.format_message().rstrip('.')}. '{command} --help' shows how it is used."
            raise CommandFailure(message, error.exit_code) from error


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=examples(
        "pubench doctor",
        "pubench evaluate scores.csv --label bought --score model_a --against model_b",
        "pubench datasets info customers.csv --label bought",
    ),
)
@click.version_option(package_name="pubench")
def main() -> None:
    """Learn from a few labelled positives among many unlabeled rows, and measure the result.

    Exit codes: 0 done, 1 the work failed, 2 bad input or usage.
    """
    os.environ.update(waiting_variables())  # before a library that reads them is loaded


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
    """Print the completion script of your shell.

    It completes commands, options and the names of plugins.
    """
    complete = get_completion_class(shell)
    if complete is None:
        raise click.UsageError(f"click has no completion for {shell}")
    click.echo(complete(ctx.find_root().command, {}, "pubench", "_PUBENCH_COMPLETE").source())


for subcommand in (
    tune,
    fit,
    predict,
    explain,
    evaluate,
    bench,
    leaderboard,
    datasets,
    plugins,
    doctor,
    completion,
):
    main.add_command(subcommand)
