"""policy edit, policy history, policy undo: changes of the policy, with their authors."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client import Client, ZoeError
from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.documents.load import load_json
from zoe_client.wire import AuditEntryView, AuditList, PolicyView
from zoe_client.words.plain_errors import sentences

_ACTION = "set_policy"
_PAGES_MAX = 20
_PAGE = 500
_OK = 200
_OF_NODES = ("version", "node_holds", "node_windows")


def policy_of(fields: dict[str, Any]) -> PolicyView:
    """Return the policy of these values; BadParameter names the wrong ones."""
    try:
        return PolicyView.model_validate(fields)
    except ValidationError as error:
        raise typer.BadParameter("; ".join(sentences(error))) from None


def put_in_force(client: Client, present: PolicyView, wanted: PolicyView) -> PolicyView:
    """Set a policy; print the old and new values, and what that changes for the present queue."""
    changes = list(changed_values(present, wanted))
    if not changes:
        note("note: nothing changes")
        return present
    effect = ""
    with suppress(ZoeError):  # the master is away or busy, or others may not ask it
        effect = _effect(client, wanted)
    stored = client.set_policy(wanted)
    for line in [*changes, *([effect] if effect else [])]:
        note(line)
    if wanted.submissions_closed and not present.submissions_closed:
        note("users cannot submit until it is empty again; operators and admins can")
    return stored


def changed_values(present: PolicyView, wanted: PolicyView) -> Iterator[str]:
    """Yield each changed setting with its old and new value."""
    before, after = present.model_dump(mode="json"), wanted.model_dump(mode="json")
    for name in before:
        if name != "version" and before[name] != after[name]:
            yield f"{name}: {json.dumps(before[name])} -> {json.dumps(after[name])}"


def edit(context: typer.Context) -> None:
    """Change the policy in your editor ($EDITOR), as JSON; admins only."""
    with options(context).client() as client:
        present = client.policy()
        text = _edited(json.dumps(present.model_dump(mode="json", exclude={"version"}), indent=2))
        if text is None:
            note("note: nothing changes")
            return
        try:
            fields = load_json(text)
        except DescriptionError as error:
            raise typer.BadParameter("; ".join(one.message for one in error.diagnostics)) from None
        if not isinstance(fields, dict):
            raise typer.BadParameter("the policy must be a JSON object")
        wanted = policy_of({**present.model_dump(), **fields, "version": present.version})
        put_in_force(client, present, wanted)


def _edited(text: str) -> str | None:
    """Return the text as changed in the user's editor; None if it stayed the same."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.NamedTemporaryFile("w+", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        try:
            code = subprocess.run([*shlex.split(editor), file.name], check=False).returncode
        except (OSError, ValueError) as error:
            raise typer.BadParameter(f"the editor {editor!r} does not start ({error}): set EDITOR") from None
        if code:
            raise typer.BadParameter(f"the editor {editor!r} ended with code {code}; nothing was changed")
        changed = Path(file.name).read_text("utf-8")
    return None if changed == text else changed


def history(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="Maximum number of changes.")] = 20,
) -> None:
    """List changes of the policy, newest first: when, by whom, and old and new values; admins only."""
    with options(context).client() as client:
        found = _changes(client, limit)
    rows = [(clock(entry.at_s), entry.user, "; ".join(_words(entry))) for entry in found]
    emit(AuditList(entries=found, next_before=None), options(context).output, Rows(("at", "user", "change"), rows))


def undo(context: typer.Context) -> None:
    """Revert the newest change of the policy (admins only). Reverting that sets it again."""
    with options(context).client() as client:
        present = client.policy()
        newest = next(iter(_changes(client, 1)), None)
        if newest is None:
            raise typer.BadParameter("the audit log has no change of the policy")
        values = present.model_dump(mode="json")
        later = [name for name, (_, after) in _settings(newest).items() if values.get(name) != after]
        if later:
            raise typer.BadParameter(f"{', '.join(later)} changed in another way since then; see zoe policy history")
        before = {name: old for name, (old, _) in _settings(newest).items()}
        note(f"takes back the change of {newest.user} at {clock(newest.at_s)}")
        put_in_force(client, present, policy_of({**values, **before, "version": present.version}))


def _effect(client: Client, wanted: PolicyView) -> str:
    found = client.try_policy(wanted)
    now, then = found.present, found.wanted
    text = f"effect: {then.starts_total} instead of {now.starts_total} executions would start now"
    if then.preempted_total != now.preempted_total:
        text += f", {then.preempted_total} instead of {now.preempted_total} elastic services would stop"
    return text if now.first[:1] == then.first[:1] else f"{text}; first in the queue: {then.first[0]}"


def _changes(client: Client, limit: int) -> list[AuditEntryView]:
    """Return the newest successful changes of the policy, from the audit log."""
    found: list[AuditEntryView] = []
    before: int | None = None
    for _ in range(_PAGES_MAX):
        page = client.admin.audit(action=_ACTION, before=before, limit=_PAGE)
        found += [e for e in page.entries if e.status == _OK and _settings(e)]
        before = page.next_before
        if before is None or len(found) >= limit:
            break
    return found[:limit]


def _settings(entry: AuditEntryView) -> dict[str, tuple[Any, Any]]:
    """Return the changed settings; drains and reservations are changes of nodes."""
    return {name: (old, new) for name, (old, new) in entry.changes.items() if name not in _OF_NODES}


def _words(entry: AuditEntryView) -> Iterator[str]:
    for name, (old, new) in _settings(entry).items():
        yield f"{name}: {json.dumps(old)} -> {json.dumps(new)}"
