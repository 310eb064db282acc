"""Entry point of the command line `zoe`: a few lines each over the SDK."""

from __future__ import annotations

import gc
import io
import os
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from zoe_cli.context import DEFAULT_URL, Options, on_terminal
from zoe_cli.exits import Exit, exit_of
from zoe_cli.lazy_group import LazyGroup
from zoe_cli.output import Format, end_for_file, note, report, write
from zoe_client.errors import ZoeError
from zoe_client.words.documentation import page_address

# A quick command ends before there is garbage: collections during imports would only take time.
gc.set_threshold(50_000)

# httpx's command line, which is never called here, would import Click, Rich and Pygments; pydantic's search for plugins
# would read the metadata of every installed package.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

app = typer.Typer(
    name="zoe",
    cls=LazyGroup,
    help="Describe, submit and follow analytic applications.",
    epilog=(
        "Begin with:  zoe catalogue,  zoe run FILE --follow,  zoe ls,  zoe explain ID\n\n"
        f"Documentation: /docs/ of your server, such as {page_address(DEFAULT_URL)}\n\n"
        "Exit codes: 0 ok, 1 application failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 can never fit, "
        "8 would wait, 9 no promise, 75 server unreachable, 124 timed out, 130 interrupted, 141 output closed"
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        write(f"zoe {_package_version()}\n")
        raise typer.Exit


def _package_version() -> str:
    """Return the version of the installed package: the whole of Zoe, or the client."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("zoe-analytics")
    except PackageNotFoundError:
        return version("zoe-client")


@app.callback()
def _options(
    context: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(envvar="ZOE_URL", help=f"The server (default: that of the context, or {DEFAULT_URL})."),
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="ZOE_TOKEN", help="API token; other users can see it in the list of processes.")
    ] = None,
    token_file: Annotated[Path | None, typer.Option(envvar="ZOE_TOKEN_FILE", help="File with the token.")] = None,
    context_name: Annotated[
        str | None,
        typer.Option("--context", envvar="ZOE_CONTEXT", help="Server that you signed in to (see `zoe context ls`)."),
    ] = None,
    output: Annotated[Format, typer.Option("--output", "-o", help="Output format.")] = Format.TABLE,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds for which to retry while the server does not answer.")
    ] = 0.0,
    _version_wanted: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if _is_on_command_line(context, "context_name"):
        # An explicit --context overrides the environment.
        url = url if _is_on_command_line(context, "url") else None
        token = token if _is_on_command_line(context, "token") else None
        token_file = token_file if _is_on_command_line(context, "token_file") else None
    if _is_on_command_line(context, "token") and on_terminal():
        note(
            "note: other users of this machine can read --token in the list of processes: use --token-file or zoe login"
        )
    context.obj = Options(url or None, token, token_file, output, patience, context_name or None)


def _is_on_command_line(context: typer.Context, name: str) -> bool:
    """Return whether an option comes from the command line, not from the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@cache
def command() -> Any:
    """Return the parser of all commands; building it takes longer than parsing."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line; every error of the SDK, and of a file of this machine, has its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character gets an escape instead of a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        command()(prog_name="zoe")
    except ZoeError as error:
        report(error)
        sys.exit(exit_of(error))
    except ValueError as error:
        _end_if_invalid(error)
        raise
    except OSError as error:
        end_for_file(error)
    except SystemExit as end:
        if end.code == Exit.INTERRUPTED:
            note("interrupted; submitted executions continue")
        raise


def _end_if_invalid(error: ValueError) -> None:
    """Exit with the findings of an invalid request."""
    from pydantic import ValidationError

    from zoe_client.words.plain_errors import sentences

    if isinstance(error, ValidationError):
        for sentence in sentences(error):
            note(f"zoe: {sentence}")
        sys.exit(Exit.USAGE)


if __name__ == "__main__":
    main()
