"""replay: replay past executions, unchanged and with another policy, other limits or more nodes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated, Any

import typer

from zoe_cli.commands.cluster.policy import setting
from zoe_cli.commands.words.dates import date
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock, duration
from zoe_client.documents.quantities import bytes_of
from zoe_client.wire import ReplayRequest, ReplayView

WORDS = {
    "executions": "executions",
    "started": "started",
    "ended": "ended",
    "mean_wait_s": "mean wait",
    "p95_wait_s": "95 % waited less than",
    "max_wait_s": "longest wait",
    "mean_bounded_slowdown": "mean bounded slowdown",
    "max_bounded_slowdown": "greatest bounded slowdown",
    "preempted_services": "elastic services stopped early",
    "reserved_core_hours": "core-hours reserved",
    "allocation": "share of cores reserved",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "replay",
        replay,
        (
            "zoe replay --from 2026-11-01 --policy backfill=easy --picture easy.png",
            "zoe replay --from '2026-11-01 08:00' --to 2026-11-02 --limits lab=16:64GiB --add-node node-1",
            "zoe replay --from 2026-11-01 --user-limits '*=8'",
            "zoe replay --from 2026-11-01 --self-test",
        ),
    )


def replay(
    context: typer.Context,
    begin: Annotated[
        float,
        typer.Option("--from", parser=date, metavar="DATE", help="Start, such as 2026-11-01, or with a time of day."),
    ],
    end: Annotated[float | None, typer.Option("--to", parser=date, metavar="DATE", help="End (default: now).")] = None,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Setting of the policy to change; may be repeated.")
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(metavar="TENANT=CORES[:MEMORY]", help="Limit of a tenant (* for all others); may be repeated."),
    ] = None,
    user_limits: Annotated[
        list[str] | None,
        typer.Option(metavar="TENANT=CORES[:MEMORY]", help="Limit of each user of a tenant; may be repeated."),
    ] = None,
    add_node: Annotated[
        list[str] | None, typer.Option(metavar="NODE", help="Add a node like this one; may be repeated.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the result into a .png or .html file.")] = None,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Only check that every decision is reproduced; exit with 1 if not.")
    ] = False,
) -> None:
    """Replay past executions with another policy, other limits or more nodes (admins and operators); nothing
    changes.
    """
    changes = dict(setting(text) for text in policy or ())
    if limits:
        changes["tenant_limits"] = dict(_limit(text) for text in limits)
    if user_limits:
        changes["user_limits"] = dict(_limit(text) for text in user_limits)
    request = ReplayRequest(
        from_s=begin,
        to_s=end,
        policy={} if self_test else changes,
        add_nodes=[] if self_test else add_node or [],
        picture=_kind(picture),  # type: ignore[arg-type]
    )
    with options(context).client() as client:
        answer = client.replay(request)
    if picture is not None and answer.picture is not None:
        picture.write_bytes(base64.b64decode(answer.picture))
    _tell(context, answer)
    if self_test and (answer.first_difference or answer.reproduced != answer.decisions):
        raise typer.Exit(1)


def _tell(context: typer.Context, answer: ReplayView) -> None:
    note(
        f"{clock(answer.from_s)} to {clock(answer.to_s)}: {answer.reproduced} of "
        f"{answer.decisions} decisions were reproduced"
    )
    if answer.first_difference:
        note(f"first difference: {answer.first_difference}")
    sides = list(answer.figures)
    rows = [(words, *(_value(name, answer.figures[side][name]) for side in sides)) for name, words in WORDS.items()]
    emit(answer.model_copy(update={"picture": None}), options(context).output, Rows(("", *sides), rows))


def _value(name: str, value: float) -> str:
    if name.endswith("_s"):
        return duration(value)
    if name == "allocation":
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _limit(text: str) -> tuple[str, dict[str, Any]]:
    tenant, _, amounts = text.partition("=")
    cores, _, memory = amounts.partition(":")
    try:
        limit = {
            "cores_milli": round(float(cores) * 1000) if cores else None,
            "memory_bytes": bytes_of(memory) if memory else None,
        }
    except ValueError:
        limit = {}
    if not tenant or not amounts or not limit:
        raise typer.BadParameter(f"{text!r} is not TENANT=CORES or TENANT=CORES:MEMORY, such as lab=16:64GiB")
    return tenant, limit


def _kind(picture: Path | None) -> str | None:
    if picture is None:
        return None
    if picture.suffix not in (".png", ".html"):
        raise typer.BadParameter(f"{picture} must end in .png or .html")
    return picture.suffix[1:]
