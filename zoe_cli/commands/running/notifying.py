"""notify: targets of notifications about executions, by webhook and by mail."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.client import Client
from zoe_client.errors import TimedOut
from zoe_client.vocabulary import NotificationKind
from zoe_client.wire import TargetRequest, TargetView

app = typer.Typer(help="Targets of notifications about executions: webhooks and mail addresses.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the target: letters, digits, _ and -.")]
OfTenant = Annotated[
    bool, typer.Option("--tenant", help="All executions of the tenant instead of yours; for operators and admins.")
]
_TEST_S = 60.0
_LOOK_S = 0.3


def set_one(
    context: typer.Context,
    name: Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="https://... of a webhook, or mailto:NAME@DOMAIN.")],
    on: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS",
            help=f"Kinds of notifications for all executions, of: {', '.join(NotificationKind)}; `asked`: only what "
            "descriptions and `zoe run --notify` ask for (default: succeeded,failed,cancelled).",
        ),
    ] = None,
    of_tenant: OfTenant = False,
    new_secret: Annotated[
        bool, typer.Option("--new-secret", help="Sign with a new secret from now on, and print it.")
    ] = False,
) -> None:
    """Set a target. The secret of a webhook is shown once; receivers verify signatures with it (Standard Webhooks)."""
    body = TargetRequest(url=url, new_secret=new_secret)
    if on is not None:
        body = body.model_copy(update={"on": tuple(kinds_of(on))})
    with options(context).client() as client:
        kept = client.set_target(name, body, of_tenant)
    emit(kept, options(context).output, _rows([kept]))
    if kept.secret is not None:
        note(f"secret of {name}, shown only now: {kept.secret}")


def show(context: typer.Context) -> None:
    """List your targets and the tenant's, and the result of the last delivery."""
    with options(context).client() as client:
        answer = client.targets()
    emit(answer, options(context).output, _rows(answer.targets))


def try_one(context: typer.Context, name: Name, of_tenant: OfTenant = False) -> None:
    """Send a test message, and print the result; success resumes a stopped target."""
    with options(context).client() as client:
        client.test_target(name, of_tenant)
        target = _wait_for_test(client, name, of_tenant)
    emit(target, options(context).output, _rows([target]))
    if target.last_error:
        raise typer.Exit(Exit.APPLICATION_FAILED)


def remove(context: typer.Context, name: Name, of_tenant: OfTenant = False) -> None:
    """Remove a target of notifications."""
    with options(context).client() as client:
        client.remove_target(name, of_tenant)
    emit({"removed": name}, options(context).output, Rows(("removed",), [(name,)]))


def kinds_of(text: str) -> list[NotificationKind]:
    """Return the kinds in a list; a usage error names unknown ones."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    known = set(NotificationKind) | {"asked", "ended"}
    for word in words:
        if word not in known:
            raise typer.BadParameter(f"{word!r} is none of {', '.join(NotificationKind)}")
    ended = [NotificationKind.SUCCEEDED, NotificationKind.FAILED, NotificationKind.CANCELLED]
    found = [NotificationKind(word) for word in words if word not in ("asked", "ended")]
    return [*found, *(ended if "ended" in words else [])]


def _wait_for_test(client: Client, name: str, of_tenant: bool) -> TargetView:
    until_s = time.monotonic() + _TEST_S
    while time.monotonic() < until_s:
        for target in client.targets().targets:
            if (target.name, target.user is None) == (name, of_tenant) and not target.test:
                return target
        time.sleep(_LOOK_S)
    raise TimedOut("no answer yet; `zoe notify ls` shows the result")


def _rows(targets: list[TargetView]) -> Rows:
    rows = [
        (
            target.name,
            target.user or "(tenant)",
            target.url,
            ",".join(target.on) or "asked",
            _state(target),
            target.last_error,
        )
        for target in targets
    ]
    return Rows(("name", "of", "url", "on", "state", "last error"), rows, "no targets yet: `zoe notify set` sets one")


def _state(one: TargetView) -> str:
    if one.stopped:
        return "stopped"
    if one.failures:
        return f"failing since {clock(one.failing_since_s or one.set_at_s)}"
    return f"told {clock(one.told_at_s)}" if one.told_at_s is not None else "not used yet"


add(
    app,
    "set",
    set_one,
    ("zoe notify set chat https://chat.example.org/hook", "zoe notify set me mailto:me@example.org"),
)
add(app, "ls", show, ("zoe notify ls",))
add(app, "test", try_one, ("zoe notify test chat",))
add(app, "rm", remove, ("zoe notify rm chat",))
