"""The `pubench` command and how its errors become exit codes."""

import click

from pubench.cli.bench import bench
from pubench.cli.completion import completion
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


class Failure(click.ClickException):
    """What click shows of an error: its sentence, and its exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance


class Root(click.Group):
    """Lists commands in the order of work and turns whatever goes wrong into one line and its exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order in which they were added."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; exit codes: 0 done, 1 the work failed, 2 bad input or usage."""
        try:
            return super().invoke(ctx)
        except PubenchError as error:
            raise Failure(str(error), error.exit_code) from error
        except click.exceptions.NoArgsIsHelpError:  # its message is the help
            raise
        except click.UsageError as error:
            # Click puts the usage and a blank line above; the sentence is what people look for.
            asked = error.ctx.command_path if error.ctx else ctx.command_path
            message = f"{error.format_message().rstrip('.')}. '{asked} --help' shows how it is used."
            raise Failure(message, error.exit_code) from error


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
    """Learn from a few known positives and a sea of unlabeled rows, and know how good the result is.

    Exit codes: 0 done, 1 the work failed, 2 bad input or usage.
    """


for command in (
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
    main.add_command(command)
