"""run: submit a description, a script or a command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from zoe_cli.commands.running.additions import Additions, Environment, Fetch, Results, SecretNames
from zoe_cli.commands.running.carrying import described
from zoe_cli.commands.running.packages import packages_of
from zoe_cli.commands.running.repositories import sources_of
from zoe_cli.commands.running.retrying import MemoryGrow, Retries, RetryExitCodes, RetryOptions, RetryPause
from zoe_cli.commands.running.submitting import (
    After,
    Array,
    Begin,
    Carried,
    Conditions,
    Cores,
    Deadline,
    Follow,
    Hold,
    Keep,
    Memory,
    Name,
    Show,
    Submission,
    Wait,
    counting_instances,
    submit,
)
from zoe_cli.commands.watching.ending import Timeout
from zoe_cli.commands.watching.promising import Budget, Confidence, FinishBy, PromiseOptions, RunTime
from zoe_cli.commands.words.arguments import ExitCodeFromApp
from zoe_cli.commands.words.dates import duration
from zoe_cli.commands.words.documents import Settings, load_description, set_in
from zoe_cli.registry import add

_EXAMPLES = (
    "zoe run app.json",
    "zoe run app.json --name nightly --set worker.total_count=8 --wait",
    "zoe run train.py --follow -- --epochs 3",
    "zoe run train.py --with pandas --with 'lightgbm>=4'",
    "zoe run train.py --requirements requirements.txt",
    "zoe run --image python --git https://example.org/team/project.git@v2 -- python3 project/train.py",
    "zoe run --image python --memory 2GiB -- python3 train.py --epochs 3",
    "zoe run --image python --show -- python3 train.py > app.json",
    "zoe run train.py --env EPOCHS=3 --secret wandb=WANDB_API_KEY --result out --fetch",
    "zoe run app.json --follow --exit-code-from-app",
    "zoe run app.json --share bob:look",
    "zoe catalogue batch | zoe run - --set 'main.command=echo hello'",
    "id=$(zoe run app.json -o name)",
    "zoe run report.py --after ok:$id --begin 06:00",
    "zoe run train.py --array 0-999%50 -- --seed {index}",
    "zoe run train.py --finish-by 08:00 --run-time 45m",
    "zoe run train.py --retries 3 --retry-pause 1m --memory-grow 2x",
)
_EVERYDAY = (
    "file", "following", "wait", "image", "memory", "cores", "packages", "environment", "secrets", "results", "fetch",
)  # fmt: skip
Words = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE [-- ARGUMENTS...]",
        help="Description in JSON (- reads standard input), or a script (.py, .sh, .R, .ipynb), whose arguments follow "
        "--; with --image, a command, also after --. Local files that a command names go with it, up to 64 MiB in all.",
    ),
]
Repositories = Annotated[
    list[str] | None,
    typer.Option(
        "--git",
        metavar="URL[@REF]",
        help="Git repository to clone into the workspace first, at a branch, tag or commit; may be repeated.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "run", run, _EXAMPLES, everyday=_EVERYDAY)


def run(
    context: typer.Context,
    file: Words,
    image: Annotated[
        str | None, typer.Option(help="Image of a command: `tiny`, `python`, `spark` (Zoe's own), or any other name.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Instances of the command; ZOE_INDEX counts them from 0 [1].")
    ] = None,
    memory: Memory = None,
    cores: Cores = None,
    carried: Carried = None,
    packages: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PACKAGE", help="Python package to install first; may be repeated."),
    ] = None,
    requirements: Annotated[
        Path | None, typer.Option(help="File with such packages, one in each line; # begins a comment.")
    ] = None,
    environment: Environment = None,
    secrets: SecretNames = None,
    results: Results = None,
    fetch: Fetch = False,
    repositories: Repositories = None,
    repository_secret: Annotated[
        str | None,
        typer.Option(
            "--git-secret", metavar="NAME", help="Secret for private repositories: a token, or a private key for ssh."
        ),
    ] = None,
    name: Name = None,
    settings: Settings = None,
    show: Show = False,
    priority: Annotated[
        int | None, typer.Option(help="Priority; executions with a higher one are considered first.")
    ] = None,
    deadline: Deadline = None,
    finish_by: FinishBy = None,
    confidence: Confidence = None,
    budget: Budget = None,
    run_time: RunTime = None,
    time_limit: Annotated[
        str | None,
        typer.Option("--time-limit", metavar="DURATION", help="Longest run time, such as 90m; then it is ended."),
    ] = None,
    retries: Retries = None,
    retry_pause: RetryPause = None,
    retry_exit_codes: RetryExitCodes = None,
    memory_grow: MemoryGrow = None,
    array: Array = None,
    after: After = None,
    keep: Keep = False,
    begin: Begin = None,
    hold: Hold = False,
    wait: Wait = False,
    following: Follow = False,
    timeout: Timeout = None,
    exit_code_from_app: ExitCodeFromApp = False,
    key: Annotated[
        str | None,
        typer.Option("--idempotency-key", help="Key that makes a repeated submission return the same execution."),
    ] = None,
    notify: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS", help="Also notify your targets (`zoe notify`) of these: ended, failed, started..."
        ),
    ] = None,
    share: Annotated[
        list[str] | None,
        typer.Option(metavar="USER:LEVEL", help="Share it: look, open or control; may be repeated (see `zoe share`)."),
    ] = None,
) -> None:
    """Submit an application, a script or a command, and optionally wait until it has ended."""
    if following and timeout is not None:
        raise typer.BadParameter("--timeout works with --wait, not with --follow")
    if finish_by is not None and deadline is not None:
        raise typer.BadParameter("give --deadline or --finish-by, not both")
    if image is None and not _is_script(file[0]):
        _check_alone(file, (workers, memory, cores, carried, packages, requirements, repositories, repository_secret))
        document = load_description(Path(file[0]))
    else:
        from zoe_client.running.drafts import CommandOptions, command_draft

        found, sources = packages_of(packages, requirements), sources_of(repositories, repository_secret)
        wishes = CommandOptions(
            image, workers, memory, cores, tuple(carried or ()), found, sources, name, array is not None
        )
        document = described(context, lambda: command_draft(file, wishes), show=show, written=results or ())
    conditions = Conditions(tuple(after or ()), keep, begin, hold, array)
    how = Submission(
        name=name,
        priority=priority,
        deadline=deadline if finish_by is None else finish_by,
        key=key,
        shares=tuple(share or ()),
        conditions=conditions,
        wait=wait,
        following=following,
        timeout_s=timeout,
        exit_code_from_app=exit_code_from_app,
        show=show,
        fetch=fetch,
    )
    additions = Additions(environment, secrets, results, fetch)
    changes: list[Callable[[dict[str, Any]], dict[str, Any]]] = [
        partial(additions.put_in, in_array=array is not None),
        partial(set_in, settings=settings),
        RetryOptions(retries, retry_pause, tuple(retry_exit_codes or ()), memory_grow).put_in,
        *(() if array is None else (counting_instances,)),
        PromiseOptions(finish_by, confidence, budget, run_time).put_in,
        *(() if time_limit is None else (partial(_limited, text=time_limit),)),
        *(() if notify is None else (partial(_notifying, kinds=notify),)),
    ]
    for change in changes:
        document = change(document)
    submit(context, document, how)


def _limited(document: dict[str, Any], text: str) -> dict[str, Any]:
    return {**document, "time_limit_s": duration(text)}


def _notifying(document: dict[str, Any], kinds: str) -> dict[str, Any]:
    from zoe_cli.commands.running.notifying import kinds_of

    return {**document, "notify": kinds_of(kinds)}


def _is_script(name: str) -> bool:
    from zoe_client.documents.scripts import INTERPRETERS

    return Path(name).suffix in INTERPRETERS


def _check_alone(line: list[str], flags: tuple[object, ...]) -> None:
    if len(line) > 1:
        raise typer.BadParameter(f"{line[0]!r} is followed by further words: a command needs --image, such as python")
    if any(flag is not None for flag in flags):
        raise typer.BadParameter(
            "--workers, --memory, --cores, --file, --with, --requirements and --git are for commands; a "
            "description takes --set"
        )
