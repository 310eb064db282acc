"""storage policy apply, applying, resume, cancel: apply rules to stored objects."""

from __future__ import annotations

from typing import Annotated

import typer

from zoe_cli.commands.storage.slos import rate_of
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import megabytes, rate
from zoe_client.wire import StorageRewriteRequest, StorageRewriteView
from zoe_client.wire.storage.rewrites import RATE_MIN


def apply_rules(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="TENANT[/CONTAINER]", help="Tenant or container with the objects.")],
    undo: Annotated[bool, typer.Option("--undo", help="Store the objects without filters.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the changes without making them.")] = False,
    bytes_per_s: Annotated[
        int | None,
        typer.Option("--rate", parser=rate_of, metavar="RATE", help="Rate such as 40MB/s (default: the controller's)."),
    ] = None,
) -> None:
    """Apply the current rules to stored objects, slowly, for admins. Clients see no difference."""
    tenant, _, container = target.partition("/")
    if not tenant or "/" in container or (not container and "/" in target):
        raise typer.BadParameter(f"{target!r} is neither TENANT nor TENANT/CONTAINER")
    if bytes_per_s is not None and bytes_per_s < RATE_MIN:
        raise typer.BadParameter(f"--rate must be at least {rate(RATE_MIN)}")
    wanted = StorageRewriteRequest(
        tenant=tenant, container=container, plain=undo, dry_run=dry_run, bytes_per_s=bytes_per_s
    )
    with options(context).client() as client:
        answer = client.begin_storage_rewrite(wanted)
    emit(answer, options(context).output, _rows([answer]))
    note("zoe storage policy applying shows how far it is")


def list_applying(context: typer.Context) -> None:
    """List the jobs that apply rules to stored objects, with their progress."""
    with options(context).client() as client:
        answer = client.storage_rewrites()
    emit(answer, options(context).output, _rows(answer.rewrites))
    for rewrite in answer.rewrites:
        for text in (rewrite.waits, rewrite.sentence):
            if text:
                note(f"note: {rewrite.id}: {printable(text)}")


def resume_applying(
    context: typer.Context, number: Annotated[int, typer.Argument(metavar="ID", help="Number of the job.")]
) -> None:
    """Resume a job that was cancelled, or that gave up after a long failure of the store."""
    with options(context).client() as client:
        answer = client.resume_storage_rewrite(number)
    emit(answer, options(context).output, _rows([answer]))


def cancel_applying(
    context: typer.Context, number: Annotated[int, typer.Argument(metavar="ID", help="Number of the job.")]
) -> None:
    """Cancel a job. Rewritten objects stay; zoe storage policy resume continues with the rest."""
    with options(context).client() as client:
        client.cancel_storage_rewrite(number)
    emit({"cancelled": number}, options(context).output, Rows(("cancelled",), [(str(number),)]))


def _rows(jobs: list[StorageRewriteView]) -> Rows:
    heads = ("id", "target", "to", "state", "looked at", "changed", "bytes", "failed", "rate")
    return Rows(heads, [_row(job) for job in jobs])


def _row(one: StorageRewriteView) -> tuple[str, ...]:
    target = f"{one.tenant}/{one.container}" if one.container else one.tenant
    to = "plain" if one.plain else "rules"
    looked = f"{one.looked} of {max(one.expected, one.looked)}"
    return (
        str(one.id),
        target,
        f"{to} (dry run)" if one.dry_run else to,
        "waiting" if one.waits and one.state == "running" else one.state.replace("_", " "),
        looked,
        str(one.changed),
        megabytes(one.changed_bytes),
        str(one.failed),
        rate(one.bytes_per_s),
    )
