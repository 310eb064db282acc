"""Follow the output of an execution with the client for quick commands.

The SDK's imports take longer than a short run. The SDK handles everything else: another attempt, a broken connection, a
proxy.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from zoe_cli.commands.watching.notes.waiting import WaitingNote
from zoe_cli.commands.words.views import slower_ways
from zoe_cli.output import note, show_output
from zoe_client.errors import Unreachable
from zoe_client.quick.plain import Execution, Service
from zoe_client.quick.quick import QuickClient
from zoe_client.vocabulary import TERMINAL_STATES

_PAUSE_S, _LOOKS = 0.02, 25
"""An execution ends within one tick after its main service."""


@dataclass(slots=True)
class OutputPosition:
    """Position in the followed output: service, byte offset, and the execution if it has ended."""

    service_id: str
    offset: int = 0
    ended: Execution | None = None


def follow_quickly(client: QuickClient, execution: Execution) -> OutputPosition:
    """Show the output of the main service until it ends, or until the SDK must take over."""
    service = _ending(execution)
    followed = OutputPosition(service["id"])
    if not client.streams:
        return followed
    with suppress(Unreachable):  # the SDK waits until the server is back
        show_output(_pieces(client, execution["id"], followed))
        for _ in range(_LOOKS):
            seen = client.execution(execution["id"])
            if seen["state"] in TERMINAL_STATES:
                followed.ended = seen if _newest(seen, service)["id"] == service["id"] else None
                break
            time.sleep(_PAUSE_S)
    return followed


def _pieces(client: QuickClient, execution_id: str, followed: OutputPosition) -> Iterator[bytes]:
    path = f"/executions/{execution_id}/services/{followed.service_id}/logs/stream"
    said, waiting = False, WaitingNote(lambda: client.execution(execution_id), lambda: client.sdk)
    for event in client.stream(path):
        if event is None or event.kind != "log":
            waiting.tell()
            continue
        if not said:
            said = True
            for text in slower_ways(client.execution(execution_id)):
                note(f"note: {text}")
        yield base64.b64decode(json.loads(event.data)["data"])
        followed.offset = int(event.id)


def _ending(execution: Execution) -> Service:
    ending = [
        str(component["name"])
        for component in execution["description"]["components"]
        if component.get("ends_application")
    ]
    of_it = [service for service in execution["services"] if not ending or service["component"] == ending[0]]
    return min(of_it, key=lambda service: (-service["attempt"], service["index"]))


def _newest(execution: Execution, service: Service) -> Service:
    """Return the newest attempt of the same service."""
    return max(
        (entry for entry in execution["services"] if entry["name"] == service["name"]),
        key=lambda service: service["attempt"],
    )
