"""Tell on standard error why an execution waits, and when it is expected to start."""

from __future__ import annotations

import time
from collections.abc import Callable

from zoe_cli.output import note
from zoe_cli.units import clock
from zoe_client.quick.plain import Execution

_SAME_CODE_S = 30.0
"""A reason of the same code often changes only in its figures; scripts keep what they read here."""


class WaitingNote:
    """Tells the reason of one execution: the first one, each with another code, and a changed one now and then."""

    def __init__(self, read: Callable[[], Execution]) -> None:
        self._read = read
        self._code = self._sentence = ""
        self._told_at_s = 0.0

    def tell(self) -> None:
        """Read the execution, and tell its reason if it waits for one that was not told."""
        execution = self._read()
        reason = execution["reason"]
        if reason is None or reason["sentence"] == self._sentence:
            return
        now_s = time.monotonic()
        if reason["code"] == self._code and now_s < self._told_at_s + _SAME_CODE_S:
            return
        first = not self._code
        self._code, self._sentence, self._told_at_s = reason["code"], reason["sentence"], now_s
        note(f"{execution['name']} waits: {reason['sentence']}{_expected(execution)}")
        if first:
            note(f"Ctrl-C leaves it in the queue; `zoe cancel {execution['id']}` cancels it")


def _expected(execution: Execution) -> str:
    forecast = execution["forecast"]
    start_s = None if forecast is None else forecast["start_p50_s"]
    if start_s is None or start_s <= time.time():  # a forecast of the queue, which does not know how long images take
        return ""
    return f" It is expected to start at {clock(start_s)}."
