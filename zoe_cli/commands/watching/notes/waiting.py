"""Tell on standard error why an execution waits, and when it is expected to start."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from zoe_cli.output import note
from zoe_cli.units import clock
from zoe_client.errors import ZoeError
from zoe_client.quick.plain import Execution
from zoe_client.vocabulary import ReasonCode

if TYPE_CHECKING:
    from zoe_client import Client

_FOR_ROOM = (ReasonCode.NO_RESOURCES, ReasonCode.BEHIND_IN_QUEUE)
_SAME_CODE_S = 30.0
"""A reason of the same code often changes only in its figures; scripts keep what they read here."""


class WaitingNote:
    """Tells the reason of one execution: the first one, each with another code, and a changed one now and then."""

    def __init__(self, read: Callable[[], Execution], sdk: Callable[[], Client] | None = None) -> None:
        """Tell of one execution. sdk: the client that says whether the user's own executions hold what it lacks."""
        self._read = read
        self._sdk = sdk
        self._code = self._sentence = ""
        self._told_at_s = 0.0

    def tell(self) -> None:
        """Read the execution, and tell its reason if it waits for one that was not told."""
        execution = self._read()
        reason = execution["reason"]
        if reason is None or reason["sentence"] == self._sentence or reason["code"] == ReasonCode.LOCATING_INPUTS:
            return  # the master asks the store for a second at most
        now_s = time.monotonic()
        if reason["code"] == self._code and now_s < self._told_at_s + _SAME_CODE_S:
            return
        first = not self._code
        self._code, self._sentence, self._told_at_s = reason["code"], reason["sentence"], now_s
        note(f"{execution['name']} waits: {reason['sentence']}{_expected(execution)}")
        if reason["code"] in _FOR_ROOM:
            self._tell_own_use(execution)
        if first:
            note(f"Ctrl-C leaves it in the queue; `zoe cancel {execution['id']}` cancels it")

    def _tell_own_use(self, execution: Execution) -> None:
        """Say which executions of the user hold what it lacks, if they do, and the API answers."""
        if self._sdk is None:
            return
        with suppress(ZoeError):
            found = self._sdk().explain(execution["id"])
            if found.own_use is not None:
                from zoe_cli.commands.words.changes import own_use_words

                note(own_use_words(found.own_use, found.start_p50_s))


def _expected(execution: Execution) -> str:
    forecast = execution["forecast"]
    start_s = None if forecast is None else forecast["start_p50_s"]
    if start_s is None or start_s <= time.time():  # a forecast of the queue, which does not know how long images take
        return ""
    return f" It is expected to start at {clock(start_s)}."
