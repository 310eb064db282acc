"""The command line `zoe`: a few lines each over the SDK."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from zoe_cli.commands import applications, cluster, executions, output_of, policy, tokens
from zoe_cli.context import Options
from zoe_cli.exits import Exit, exit_of
from zoe_cli.output import Format, note, report
from zoe_lib.sdk import ZoeError

DEFAULT_URL = "http://127.0.0.1:5100"

app = typer.Typer(
    name="zoe",
    help="Describe, submit and follow analytic applications.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (applications, executions, output_of, cluster):
    module.register(app)
app.add_typer(policy.app, name="policy")
app.add_typer(tokens.app, name="token")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"zoe {version('zoe-analytics')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    url: Annotated[str, typer.Option(envvar="ZOE_URL", help="The server.")] = DEFAULT_URL,
    token: Annotated[str | None, typer.Option(envvar="ZOE_TOKEN", help="An API token.", show_envvar=True)] = None,
    token_file: Annotated[Path | None, typer.Option(envvar="ZOE_TOKEN_FILE", help="A file with the token.")] = None,
    output: Annotated[Format, typer.Option("--output", "-o", help="How results are written.")] = Format.TABLE,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds to go on trying while the server does not answer.")
    ] = 0.0,
    _version_wanted: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = Options(url, token, token_file, output, patience)


def main() -> None:
    """Run the command line; every error of the SDK has its exit code."""
    try:
        app()
    except ZoeError as error:
        report(error)
        sys.exit(exit_of(error))
    except BrokenPipeError:
        sys.exit(Exit.OK)
    except KeyboardInterrupt:
        note("interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
