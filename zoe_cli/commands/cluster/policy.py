"""policy get, set, edit, history, undo: queue order and placement."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from zoe_cli.commands.cluster.policy_changes import edit, history, policy_of, put_in_force, undo
from zoe_cli.context import options
from zoe_cli.output import Format, emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.documents.load import load_json
from zoe_client.wire import DryRunView, PluginView, PolicyView

app = typer.Typer(help="The policy: queue order and placement of services.", no_args_is_help=True)


def get(context: typer.Context) -> None:
    """Print the policy in force; the table adds the available filters and weighers."""
    with options(context).client() as client:
        _emit(context, client.policy(), client.plugins().plugins if options(context).output is Format.TABLE else ())


def set_policy(
    context: typer.Context,
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE", help="Settings such as order=size ageing_s=300; `zoe policy get` lists them."
        ),
    ],
    dry: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the effect of the policy on the present queue, without setting it."),
    ] = False,
) -> None:
    """Change settings of the policy (admins only); all others stay unchanged. VALUE is JSON or a word.

    It prints the old and new values, and what changes for the present queue.
    """
    with options(context).client() as client:
        present = client.policy()
        policy = policy_of(
            {**present.model_dump(), **dict(setting(text) for text in settings), "version": present.version}
        )
        if dry:
            _emit_dry_run(context, client.try_policy(policy))
        else:
            _emit(context, put_in_force(client, present, policy))


def _emit_dry_run(context: typer.Context, answer: DryRunView) -> None:
    rows = [
        (what, str(present), str(wanted))
        for what, present, wanted in (
            ("would start", answer.present.starts_total, answer.wanted.starts_total),
            ("elastic services to stop", answer.present.preempted_total, answer.wanted.preempted_total),
            ("first in the queue", " ".join(answer.present.first[:5]), " ".join(answer.wanted.first[:5])),
        )
    ]
    emit(answer, options(context).output, Rows(("", "now", "with the change"), rows))


def setting(text: str) -> tuple[str, Any]:
    """Return a setting and its value from KEY=VALUE."""
    key, separator, value = text.partition("=")
    known = [name for name in PolicyView.model_fields if name != "version"]
    if key not in known:
        near = get_close_matches(key, known, n=1)
        mean = f"; did you mean {near[0]}?" if near else ""
        raise typer.BadParameter(f"the policy has no key {printable(key)!r} (`zoe policy get` lists them){mean}")
    if not separator:
        raise typer.BadParameter(f"write {key}=VALUE")
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return key, value.split(",") if key == "filters" else value
    if isinstance(found, dict | list):
        _check_keys(key, value)
    return key, found


def _check_keys(key: str, text: str) -> None:
    """Refuse a key that occurs twice in one object; the standard parser would keep only the last value."""
    try:
        load_json(text)
    except DescriptionError as error:
        raise typer.BadParameter(
            "; ".join(f"{key}: {diagnostic.message}" for diagnostic in error.diagnostics)
        ) from None


def _emit(context: typer.Context, policy: PolicyView, plugins: Iterable[PluginView] = ()) -> None:
    rows = [(key, value if isinstance(value, str) else json.dumps(value)) for key, value in policy.model_dump().items()]
    rows += [(f"installed {p.kind}", _origin(p)) for p in plugins if p.kind != "backend"]
    emit(policy, options(context).output, Rows(("setting", "value"), rows))


def _origin(plugin: PluginView) -> str:
    origin = f"{plugin.name} ({plugin.distribution} {plugin.version})"
    return f"{origin}, cannot be used: {plugin.problem}" if plugin.problem else origin


add(app, "get", get, ("zoe policy get", "zoe policy get -o json"))
add(
    app,
    "set",
    set_policy,
    ("zoe policy set order=size ageing_s=300", "zoe policy set order=hrrn --dry-run"),
)
add(app, "edit", edit, ("EDITOR=nano zoe policy edit",), results=False)
add(app, "history", history, ("zoe policy history", "zoe policy history --limit 100 -o json"))
add(app, "undo", undo, ("zoe policy undo",), results=False)
