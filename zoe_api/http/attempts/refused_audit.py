"""Requests of unknown clients in the audit log: without a valid token, for a foreign host, or not JSON."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.types import Scope

from zoe_api.http.addresses import address_of
from zoe_api.http.attempts.audit_bounds import PerMinute, plain
from zoe_api.http.attempts.guess_limit import network_of
from zoe_api.http.problems.codes import Code
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.people import AuditEntry

ACTION = "refused"
# For each API process: the first request of each network for each reason, up to a number, and a number of shared
# places. With rows of 300 bytes a flood of a day adds 30 MB.
NETWORKS_PER_MINUTE_MAX = 60
MORE_PER_MINUTE_MAX = 10
_TEXT_MAX = 200
_SESSION = "/api/v1/session"


class RefusedAudit:
    """Decide in the event loop which refused requests are recorded, and count the others."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._places = PerMinute(NETWORKS_PER_MINUTE_MAX, MORE_PER_MINUTE_MAX, clock=clock)
        self._left_out = 0

    def entry(self, scope: Scope, status: int) -> AuditEntry | None:
        """Return the entry of a noted request, if there is a place."""
        code = scope["state"].get("refused")
        if code is None or (code is Code.NO_TOKEN and _asks_for_session(scope)):
            return None
        connection = HTTPConnection(scope)
        address = address_of(connection)
        if not self._places.take(f"{code} {network_of(address)}"):
            self._left_out += 1
            return None
        changes: dict[str, list[object]] = {}
        if code is Code.HOST_NOT_ALLOWED:
            changes["host"] = [None, plain(connection.headers.get("host", ""), _TEXT_MAX)]
        if self._left_out:
            changes["refused_not_listed_before"] = [0, self._left_out]
            self._left_out = 0
        return AuditEntry(
            at_s=self._clock.now_s(),
            user="",
            tenant="",
            action=ACTION,
            target=plain(scope["path"], _TEXT_MAX),
            request_id=scope["state"]["request_id"],
            by=str(code),
            status=status,
            address=address,
            changes=changes,
        )


def _asks_for_session(scope: Scope) -> bool:
    """Return whether a browser asks who is signed in, as each page does before a sign-in."""
    return bool(scope["method"] == "GET" and scope["path"] == _SESSION)
