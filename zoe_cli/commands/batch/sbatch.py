"""sbatch: submit a Slurm batch script as an execution."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from zoe_cli.commands.batch.workspace_texts import WorkspaceTexts
from zoe_cli.commands.running.additions import Additions
from zoe_cli.commands.running.submitting import Conditions, end_run
from zoe_cli.commands.words import dates
from zoe_cli.commands.words.late_options import note_late_options
from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.job_environment import variables_read_by
from zoe_cli.output import note, write
from zoe_cli.registry import UsageCommand
from zoe_cli.text import printable
from zoe_client.errors import Refused
from zoe_client.vocabulary import IndexState
from zoe_job.common.slurm_options import SBATCH, BadOptionError, Given
from zoe_job.submission.batch_script import Verdict, judge, listing, read_script
from zoe_job.submission.conflicts import whole_request
from zoe_job.submission.draft import job_draft, job_of
from zoe_job.submission.group_options import other_groups, read_groups
from zoe_job.submission.request import JobRequest, request_of
from zoe_job.submission.script_lines import ScriptLines, read_lines
from zoe_job.submission.sourced_files import add_calls

_EXAMPLES = (
    "zoe sbatch job.sh",
    "zoe sbatch -n 4 --time 1:00:00 --array 0-99%10 job.sh data.csv",
    "zoe sbatch --dependency afterok:$(zoe sbatch --parsable prepare.sh) train.sh",
    "zoe sbatch --show job.sh > app.json",
    "zoe sbatch --wrap 'srun hostname' -N 2",
)
_KEY_MAX = 180
_TOO_OLD = "the server is older than this command, and does not let jobs call it"
_UNREACHABLE = "jobs_unreachable"
_EPILOG = "\n\n".join(("Examples:", *(f"  {example}" for example in _EXAMPLES)))
# Options of Zoe, beside those of sbatch.
_OWN = {
    **dict.fromkeys(("strict", "loose", "show", "fetch"), ("", ".")),
    **dict.fromkeys(("image", "idempotency-key", "env", "secret", "result"), ("", "=")),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """Name and lines of a script to submit, and the idempotency key if one was given."""

    title: str
    lines: ScriptLines
    key: str | None


@dataclass(frozen=True, slots=True)
class _Line:
    """The command line. given: options of the first group, of which `own` are Zoe's, by name; more: options of further
    groups; rest: the script and its arguments; request: that of the options, without the lines of the script.
    """

    given: list[Given]
    more: list[list[Given]]
    rest: list[str]
    own: dict[str, str | None]
    request: JobRequest


def register(app: typer.Typer) -> None:
    """Add the command; its options are sbatch's, so Typer parses none of them but --help."""
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": ["--help"]}
    app.command("sbatch", cls=UsageCommand, epilog=_EPILOG, context_settings=settings)(sbatch)


def sbatch(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCRIPT [ARGUMENTS...]",
            help="Options, the script (- or none: standard input), and its arguments.",
        ),
    ] = None,
) -> None:
    """Submit a batch script of Slurm; #SBATCH lines, SLURM_* variables and srun work.

    Options of sbatch win over the #SBATCH lines of the script. Zoe's own options:

    \b
    --loose                   submit even if some lines are not understood
    --show                    print the description
    --image NAME              image of the job (default: zoe/python)
    --env NAME=VALUE          variable of the environment, visible in `zoe show`
    --secret NAME[=VARIABLE]  secret as a file, or as a variable
    --result PATH             file or directory that `zoe fetch` copies
    --fetch                   wait, and copy the results here
    --idempotency-key KEY     submit once, however often it is repeated
    """
    words = words or []
    if words[:1] == ["-h"]:  # `-o` means the output format, as in all commands, and the output file, as in sbatch
        typer.echo(context.get_help())
        return
    line = _read_line(words)
    own = line.own
    title, script, arguments = _script(line.rest, line.request)
    note_late_options(arguments, {f"--{name}" for name in (*SBATCH, *_OWN)}, "script")
    lines = read_lines(script)
    of_first = [*lines.given, *(entry for entry in line.given if entry.name not in _OWN)]
    request, found = whole_request(of_first)
    _take_environment(title, script, request)
    others, findings = other_groups(request, of_first, lines.others, line.more)
    add_calls(lines, script, request.chdir, WorkspaceTexts(context).read)
    _report_options(judge(title, lines, found + findings), loose="loose" in own)
    draft = Draft(title, lines, own.get("idempotency-key"))
    document = job_draft(script, arguments, job_of(request, lines, title, others), request, own.get("image"))
    additions = _additions(line.given)
    document = additions.put_in(document, in_array=request.array is not None, everywhere=True)
    if "show" in own:
        from zoe_cli.output import Format, emit_data

        emit_data(document, Format.JSON)
    elif request.test_only:
        _plan(context, document, request)
    else:
        made = _submit(context, document, request, draft)
        if request.wait or additions.fetch:
            _wait(context, made, in_array=request.array is not None, fetch=additions.fetch)


def _read_line(words: list[str]) -> _Line:
    """Return the options and words of the command line; BadParameter for unknown and wrong ones."""
    try:
        given, more, rest, unknown = read_groups(words, {**SBATCH, **_OWN})
    except BadOptionError as error:
        raise typer.BadParameter(str(error)) from None
    if unknown:
        raise typer.BadParameter(f"sbatch has no option {printable(unknown[0])}")
    own = {entry.name: entry.value for entry in given if entry.name in _OWN}
    request, wrong = request_of(entry for entry in given if entry.name not in _OWN)
    if refused := next((finding for finding in wrong if not finding.harmless), None):
        raise typer.BadParameter(f"--{refused.given.name}: {printable(refused.why)}")
    if "strict" in own and "loose" in own:
        raise typer.BadParameter("give --strict, which is the default, or --loose")
    return _Line(given, more, rest, own, request)


def _additions(given: list[Given]) -> Additions:
    """Return the options that `zoe run` has, too; they may be repeated."""

    def values(name: str) -> list[str]:
        return [entry.value for entry in given if entry.name == name and entry.value is not None]

    return Additions(values("env"), values("secret"), values("result"), any(entry.name == "fetch" for entry in given))


def _script(rest: list[str], request: JobRequest) -> tuple[str, str, list[str]]:
    """Return the name of a job, its script and the script's arguments."""
    if request.wrap is None and not rest and sys.stdin.isatty():
        raise typer.BadParameter("give a script, or --wrap COMMAND")
    try:
        return read_script(rest, request)
    except BadOptionError as error:
        raise typer.BadParameter(printable(str(error))) from None


def _take_environment(title: str, script: str, request: JobRequest) -> None:
    """Add the variables that the script reads to its environment, unless --export excludes them, and print their
    names.
    """
    if not request.export_all:
        return
    found = variables_read_by(script, os.environ)
    request.export = {**found.values, **request.export}
    if found.values:
        note(f"{printable(title)}: takes from your environment: {printable(', '.join(found.values))}")
    if left := [name for name in found.left if name not in request.export]:
        names = printable(", ".join(left))
        note(f"{printable(title)}: leaves in your environment: {names}; use --export=NAME, or `zoe secret`")


def _report_options(verdict: Verdict, *, loose: bool) -> None:
    """List unknown options and options without effect; exit if any is unknown, unless loose."""
    for text in verdict.texts:
        note(printable(text))
    if verdict.refused:
        note("It was not submitted: it would run at another time, or by another deadline, than the script says.")
    elif verdict.wrong and not loose:
        note("It was not submitted. Remove or change these lines, or submit it without them: zoe sbatch --loose")
    if verdict.refused or (verdict.wrong and not loose):
        raise typer.Exit(Exit.USAGE)


def _plan(context: typer.Context, document: dict[str, Any], request: JobRequest) -> None:
    from zoe_cli.commands.running.planning import print_plan

    print_plan(context, _bare(document), request.wanted_priority, request.deadline, request.array)


def _submit(context: typer.Context, document: dict[str, Any], request: JobRequest, draft: Draft) -> str:
    """Submit the job, print its id as sbatch does, and return it."""
    conditions = Conditions(request.dependency, request.keep, request.begin, request.hold, request.array).fields()
    settings = conditions if request.wanted_priority is None else {**conditions, "priority": request.wanted_priority}
    if request.deadline is not None:
        settings = {**settings, "deadline": dates.deadline(request.deadline)}
    with options(context).quick() as client:

        def send(wanted: dict[str, Any], key: str | None) -> Any:
            if request.array is not None:
                return client.submit_array({"application": wanted, **settings}, idempotency_key=key)
            return client.submit(wanted, settings, idempotency_key=key)

        try:
            sent = send(document, draft.key)
        except Refused as refusal:
            if refusal.problem.code != _UNREACHABLE and not _is_unknown(refusal):
                raise
            # This is another request, so it has another key, which a repeated command computes again.
            key = None if draft.key is None else f"{draft.key[:_KEY_MAX]} without api"
            why = refusal.problem.detail if refusal.problem.code == _UNREACHABLE else _TOO_OLD
            sent = send(_without_api(document, draft, why), key)
        made, notes = str(sent["id"]), sent["notes"]
    for text in notes:
        note(f"note: {text}")
    if request.parsable:
        write(f"{made}\n")
    elif not request.quiet:
        write(f"Submitted batch job {made}\n")
    sys.stdout.flush()
    return made


def _without_api(document: dict[str, Any], draft: Draft, why: str) -> dict[str, Any]:
    """Return the description without the token for jobs, where they cannot reach the API; exit if the job needs it."""
    calls = [(line, f"{text}: {why}") for line, text in draft.lines.api_calls]
    if calls:
        _report_options(Verdict(listing(f"{draft.title}: not understood", calls), wrong=True), loose=False)
    note(f"note: {why}; a job that calls sbatch, squeue or the like ends as failed")
    return _bare(document)


def _bare(document: dict[str, Any]) -> dict[str, Any]:
    components = [{name: entry for name, entry in part.items() if name != "api"} for part in document["components"]]
    return {**document, "components": components}


def _is_unknown(refusal: Refused) -> bool:
    """Return whether the only complaint of a server is the unknown key `api` of a description."""
    errors = refusal.problem.errors
    return bool(errors) and all(error.pointer.endswith("/api") for error in errors)


def _wait(context: typer.Context, made: str, *, in_array: bool, fetch: bool) -> None:
    from zoe_cli.commands.watching.ending import array_exit_code, exit_code_of, wait_for, wait_for_array

    with options(context).quick() as quick, options(context).following() as client:
        if not in_array:
            code = exit_code_of(wait_for(client, quick.execution(made), None), from_app=True)
        elif code := array_exit_code(wait_for_array(client, made, None)):
            failed = client.arrays.indices(made, (IndexState.FAILED,))
            code = max((index.exit_code or code for index in failed), default=code)  # as Slurm does
    end_run(context, made, code, fetch=fetch)
