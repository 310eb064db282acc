"""Show the end of the output of a failed execution."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from zoe_cli.output import note
from zoe_client.errors import Refused
from zoe_client.quick.plain import Execution, Service
from zoe_client.vocabulary import Cause, ExecutionState

if TYPE_CHECKING:
    from zoe_client.client import Client

_LINES = 10
_LINE_MAX = 300
_PIECE_BYTES, _PIECES_MAX = 1 << 20, 16
"""Longer output is not read to its end, which would take seconds."""


def note_last_lines(client: Client, execution: Execution) -> None:
    """Print the last lines of the service that failed, if the execution did and the output is still kept."""
    if execution["state"] != ExecutionState.FAILED or (service := _failed(execution)) is None:
        return
    try:
        lines = _last_lines(client, execution["id"], service["id"])
    except Refused:  # the output is no longer kept
        return
    if lines:
        note(f"the last lines of {service['name']} (`zoe logs {execution['id']} {service['name']}` prints all):")
    for line in lines:
        note(f"  {line}")


def _failed(execution: Execution) -> Service | None:
    """Return the service that made the execution fail: the one that its message names, or else the first one of the
    last attempt that failed by itself.
    """
    failed = [s for s in execution["services"] if s["exit_code"] and s["started_at_s"] and s["cause"] != Cause.STOPPED]
    named = execution["message"].split()
    return min(
        failed, key=lambda entry: (-entry["attempt"], entry["name"] not in named, entry["ended_at_s"]), default=None
    )


def _last_lines(client: Client, execution_id: str, service_id: str) -> list[str]:
    data, offset = b"", 0
    for _ in range(_PIECES_MAX):
        chunk = client.logs(execution_id, service_id, offset, _PIECE_BYTES)
        data = (data + base64.b64decode(chunk.data))[-_LINES * _LINE_MAX * 4 :]
        if chunk.complete or chunk.next_offset == offset:
            lines = data.decode("utf-8", "replace").splitlines()[-_LINES:]
            return [line if len(line) <= _LINE_MAX else f"{line[:_LINE_MAX]}..." for line in lines]
        offset = chunk.next_offset
    return []
