"""The command line `zoe`: a few lines each over the SDK."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from zoe_cli.commands import (
    admin,
    applications,
    cluster,
    completion,
    ending,
    listing,
    nodes,
    opening,
    output_of,
    planning,
    policy,
    replaying,
    run,
    storage,
    tokens,
    why,
)
from zoe_cli.context import DEFAULT_URL, Options
from zoe_cli.exits import Exit, exit_of
from zoe_cli.output import Format, note, report, write
from zoe_lib.sdk import ZoeError

app = typer.Typer(
    name="zoe",
    help="Describe, submit and follow analytic applications.",
    epilog=(
        "Begin with:  zoe catalogue,  zoe run FILE --follow,  zoe ls,  zoe explain ID\n\n"
        "Exit codes: 0 ok, 1 application failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 can never fit, "
        "8 would wait, 75 server unreachable, 124 timed out"
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (run, planning, applications, listing, ending, why, output_of, opening, cluster, replaying, completion):
    module.register(app)
app.add_typer(nodes.app, name="nodes")
app.add_typer(policy.app, name="policy")
app.add_typer(storage.app, name="storage")
app.add_typer(tokens.app, name="token")
app.add_typer(admin.app, name="admin")


def _version(wanted: bool) -> None:
    if wanted:
        write(f"zoe {version('zoe-analytics')}\n")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    url: Annotated[str, typer.Option(envvar="ZOE_URL", help="The server.")] = DEFAULT_URL,
    token: Annotated[
        str | None, typer.Option(envvar="ZOE_TOKEN", help="An API token; others can see it in the list of processes.")
    ] = None,
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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a letter gets an escape instead of a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="zoe")
    except ZoeError as error:
        report(error)
        sys.exit(exit_of(error))
    except ValidationError as error:
        for one in error.errors():
            note(f"zoe: {'.'.join(map(str, one['loc']))}: {one['msg']}")
        sys.exit(Exit.USAGE)
    except SystemExit as end:
        if end.code == Exit.INTERRUPTED:
            note("interrupted; what was submitted goes on")
        raise


if __name__ == "__main__":
    main()
