"""Opaque cursors of keyset paging: the position where the last page ended, not a number of rows."""

from __future__ import annotations

import base64
import binascii
import json
import math

from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.errors import InvalidCursor

Position = tuple[float, str]


def position(execution: Execution) -> Position:
    """Return the key that orders lists of executions."""
    return execution.submitted_at_s, execution.id


def encode_cursor(last: Execution) -> str:
    """Return the cursor that continues after this execution."""
    return encode_position(position(last))


def encode_position(last: Position) -> str:
    """Return the cursor that continues after a position in the list."""
    text = json.dumps(last, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> Position:
    """Return the position in a cursor; InvalidCursor if it is malformed."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        at_s, execution_id = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if type(at_s) not in (int, float) or not math.isfinite(at_s) or not isinstance(execution_id, str):
            raise InvalidCursor(cursor)
        if "\x00" in execution_id:
            raise InvalidCursor(cursor)
        execution_id.encode()
        return float(at_s), execution_id
    except (binascii.Error, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidCursor(cursor) from error
