"""sbatch: from a batch script of Slurm to an execution."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from zoe_cli.commands import dates
from zoe_cli.commands.submitting import Conditions
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import note, write
from zoe_cli.slurm.draft import job_draft, job_of
from zoe_cli.slurm.environment import carried
from zoe_cli.slurm.groups import other_groups, read_groups
from zoe_cli.slurm.lines import ScriptLines, read_lines
from zoe_cli.slurm.request import Finding, JobRequest, request_of
from zoe_cli.text import printable
from zoe_client.vocabulary import IndexState
from zoe_job.slurm_options import SBATCH, BadOptionError

_EXAMPLES = (
    "zoe sbatch job.sh",
    "zoe sbatch -n 4 --time 1:00:00 --array 0-99%10 job.sh data.csv",
    "zoe sbatch --dependency afterok:$(zoe sbatch --parsable prepare.sh) train.sh",
    "zoe sbatch --show job.sh > app.json",
    "zoe sbatch --wrap 'srun hostname' -N 2",
)
# What decides when a job runs or is wanted, or for how long, is never passed over: the next job may rely on it.
_WHEN = ("array", "begin", "deadline", "dependency", "time")
_SCRIPT_BYTES_MAX = 200_000
_EPILOG = "\n\n".join(("Examples:", *(f"  {example}" for example in _EXAMPLES)))
# Ours, beside those of sbatch.
_OWN = {"strict": ("", "."), "loose": ("", "."), "show": ("", "."), "image": ("", "="), "idempotency-key": ("", "=")}


def register(app: typer.Typer) -> None:
    """Add the command; its words are sbatch's, so Typer reads none of them but --help."""
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": ["--help"]}
    app.command("sbatch", epilog=_EPILOG, context_settings=settings)(sbatch)


def sbatch(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OPTIONS] SCRIPT [ARGUMENTS]",
            help="Options of sbatch, which win over the #SBATCH lines of the script (- or none: standard input). Zoe's "
            "own: --loose submits although lines are not understood; --show prints the description; --image NAME "
            "[zoe/python]; --idempotency-key KEY.",
        ),
    ] = None,
) -> None:
    """Submit a batch script of Slurm: its #SBATCH lines, SLURM_* variables and srun are understood."""
    words = words or []
    if words[:1] == ["-h"]:  # as with all commands, and with sbatch
        typer.echo(context.get_help())
        return
    try:
        given, more, rest, unknown = read_groups(words, {**SBATCH, **_OWN})
    except BadOptionError as error:
        raise typer.BadParameter(str(error)) from None
    if unknown:
        raise typer.BadParameter(f"sbatch has no option {printable(unknown[0])}")
    own = {one.name: one.value for one in given if one.name in _OWN}
    on_line, wrong = request_of(one for one in given if one.name not in _OWN)
    if refused := next((one for one in wrong if not one.harmless), None):
        raise typer.BadParameter(f"--{refused.given.name}: {printable(refused.why)}")
    title, script, arguments = _script(rest, on_line)
    lines = read_lines(script)
    of_first = [*lines.given, *(one for one in given if one.name not in _OWN)]
    request, found = request_of(of_first)
    _take_environment(title, script, request)
    others, findings = other_groups(request, of_first, lines.others, more)
    found += findings
    if "strict" in own and "loose" in own:
        raise typer.BadParameter("give --strict, which is the default, or --loose")
    _tell(title, lines, found, loose="loose" in own)
    document = job_draft(script, arguments, job_of(request, lines, title, others), request, own.get("image"))
    if "show" in own:
        from zoe_cli.output import Format, emit_data

        emit_data(document, Format.JSON)
    elif request.test_only:
        _plan(context, document, request)
    else:
        _submit(context, document, request, own.get("idempotency-key"))


def _script(rest: list[str], request: JobRequest) -> tuple[str, str, list[str]]:
    """Return the name of a job, its script and the script's arguments."""
    if request.wrap is not None:
        if rest:
            raise typer.BadParameter("--wrap replaces the script; give one of both")
        return "wrap", f"#!/bin/sh\n{request.wrap}\n", []
    if not rest and sys.stdin.isatty():
        raise typer.BadParameter("give a script, or --wrap COMMAND")
    name, *arguments = rest or ["-"]
    try:
        data = sys.stdin.buffer.read(_SCRIPT_BYTES_MAX + 1) if name == "-" else _read(_found(name))
    except OSError as error:
        raise typer.BadParameter(f"{printable(name)} cannot be read: {error.strerror}") from None
    return "sbatch" if name == "-" else Path(name).name, _checked(data, name), arguments


def _found(name: str) -> Path:
    """Return where a script is: here, or else on PATH, as sbatch finds it."""
    if "/" in name or Path(name).exists():
        return Path(name)
    return next((place for place in (Path(one, name) for one in os.get_exec_path()) if place.is_file()), Path(name))


def _read(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_SCRIPT_BYTES_MAX + 1)


def _checked(data: bytes, name: str) -> str:
    """Return the text of a script; a usage error says why sbatch would not take it."""
    shown = printable(name)
    if len(data) > _SCRIPT_BYTES_MAX:
        raise typer.BadParameter(f"{shown} is longer than {_SCRIPT_BYTES_MAX} bytes")
    if not data.startswith(b"#!"):
        raise typer.BadParameter(f"{shown} is no batch script: the first line must begin with #! and an interpreter")
    if b"\r\n" in data:
        raise typer.BadParameter(f"{shown} has line breaks of DOS (\\r\\n); convert them with dos2unix")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{shown} is not UTF-8 text") from None


def _take_environment(title: str, script: str, request: JobRequest) -> None:
    """Take along what the script reads of this environment, unless --export says otherwise, and say so."""
    if not request.export_all:
        return
    found = carried(script, os.environ)
    request.export = {**found.values, **request.export}
    if found.values:
        note(f"{printable(title)}: takes from your environment: {printable(', '.join(found.values))}")
    if left := [name for name in found.left if name not in request.export]:
        names = printable(", ".join(left))
        note(f"{printable(title)}: leaves in your environment: {names}; use --export=NAME, or `zoe secret`")


def _tell(title: str, lines: ScriptLines, found: list[Finding], *, loose: bool) -> None:
    """List what is not understood, and what has no effect, with line numbers; exit for the former, unless loose."""
    wrong = [(line, f"{text}: {why}") for line, text, why in lines.refused]
    wrong += [(one.given.line, f"{_written(one)}: {one.why}") for one in found if not one.harmless]
    _list(f"{title}: not understood", wrong)
    _list(
        f"{title}: without effect", [(one.given.line, f"{_written(one)}: {one.why}") for one in found if one.harmless]
    )
    if lines.late:
        note(f"{printable(title)}: #SBATCH lines after the first command are not read: {_numbers(lines.late)}")
    when = [one for one in found if not one.harmless and one.given.name in _WHEN]
    if when:
        note("It was not submitted: it would run at another time, or by another deadline, than the script says.")
    elif wrong and not loose:
        note("It was not submitted. Remove or change these lines, or submit it without them: zoe sbatch --loose")
    if when or (wrong and not loose):
        raise typer.Exit(Exit.USAGE)


def _list(head: str, rows: list[tuple[int, str]]) -> None:
    if rows:
        note(f"{printable(head)}:")
    for line, text in sorted(rows):
        note(f"  line {line}: {printable(text)}" if line else f"  {printable(text)}")


def _written(one: Finding) -> str:
    return f"--{one.given.name}" + ("" if one.given.value is None else f"={one.given.value}")


def _numbers(lines: list[int]) -> str:
    return ", ".join(map(str, lines[:20])) + (", ..." if len(lines) > 20 else "")


def _plan(context: typer.Context, document: dict[str, Any], request: JobRequest) -> None:
    from zoe_cli.commands.planning import say_plan

    say_plan(context, document, request.priority, request.deadline)


def _submit(context: typer.Context, document: dict[str, Any], request: JobRequest, key: str | None) -> None:
    conditions = Conditions(request.dependency, request.keep, request.begin, request.hold, request.array).fields()
    settings = conditions if request.priority is None else {**conditions, "priority": request.priority}
    if request.deadline is not None:
        settings = {**settings, "deadline": dates.deadline(request.deadline)}
    with options(context).quick() as client:
        if request.array is not None:
            array = client.submit_array({"application": document, **settings}, idempotency_key=key)
            made, notes = array["id"], array["notes"]
        else:
            execution = client.submit(document, settings, idempotency_key=key)
            made, notes = execution["id"], execution["notes"]
    for text in notes:
        note(f"note: {text}")
    if request.parsable:
        write(f"{made}\n")
    elif not request.quiet:
        write(f"Submitted batch job {made}\n")
    sys.stdout.flush()
    if request.wait:
        _wait(context, made, in_array=request.array is not None)


def _wait(context: typer.Context, made: str, *, in_array: bool) -> None:
    from zoe_cli.commands.ending import array_exit_code, finish, wait_for, wait_for_array

    with options(context).quick() as quick, options(context).following() as client:
        if not in_array:
            finish(wait_for(client, quick.execution(made), None), exit_code_from_app=True)
        elif code := array_exit_code(wait_for_array(client, made, None)):
            failed = client.arrays.indices(made, (IndexState.FAILED,))
            raise typer.Exit(max((one.exit_code or code for one in failed), default=code))  # as Slurm does
