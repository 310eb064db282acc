"""Sign-ins in the audit log: right, wrong and braked, so many in a minute that a flood does not fill the database."""

from __future__ import annotations

import threading
import time

from starlette.requests import Request

from zoe_api.addresses import address_of
from zoe_lib.store.people import AuditEntry

ACTION = "sign_in"
# Of each API process; a row takes about 200 bytes, so that a flood of a day leaves 20 MB.
REFUSED_PER_MINUTE_MAX = 60
RIGHT_PER_MINUTE_MAX = 600
_MINUTE_S = 60.0
_TEXT_MAX = 64


class SignInAudit:
    """Decides which sign-ins are written down, and counts the others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until_s = 0.0
        self._places: dict[bool, int] = {}
        self._left_out = 0

    def note(self, request: Request, user: str, provider: str, right: bool) -> None:
        """Have the sign-in that this request asks for written down with the status of its answer."""
        request.state.user = _plain(user)
        with self._lock:
            self._begin_minute()
            if self._places[right] == 0:
                self._left_out += 1
                return
            self._places[right] -= 1
            left_out, self._left_out = self._left_out, 0
        if left_out:
            request.state.audit_changes = {"sign_ins_not_listed_before": [0, left_out]}
        request.state.audit = _entry(request, user, provider)

    def _begin_minute(self) -> None:
        now_s = time.monotonic()
        if now_s >= self._until_s:
            self._until_s = now_s + _MINUTE_S
            self._places = {True: RIGHT_PER_MINUTE_MAX, False: REFUSED_PER_MINUTE_MAX}


def _entry(request: Request, user: str, provider: str) -> AuditEntry:
    return AuditEntry(
        at_s=time.time(),
        user=_plain(user),
        tenant="",
        action=ACTION,
        target=request.url.path,
        request_id=request.state.request_id,
        by=provider,
        address=address_of(request),
    )


def _plain(typed: str) -> str:
    """What was typed, short and of characters that can be stored."""
    return "".join(letter if letter.isprintable() else "?" for letter in typed[:_TEXT_MAX])
