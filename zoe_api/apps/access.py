"""Access to applications: tickets that work once become cookies of the application's own origin."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response

from zoe_api.apps.port_numbers import label
from zoe_api.apps.request_target import same_origin
from zoe_api.http import cookies
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.store.people import AppAccess, Principal
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.submission.ids import hash_of

TICKET_S = 60.0
ENTRANCE = "/.zoe/enter"
BY_ADDRESS = "by_address"
"""Parameter of the entrance: the browser is signed in at the address of loopback, not at its name, and browsers keep
cookies apart for the two.
"""
LOOPBACK = "127.0.0.1"
# How long requests of a signed-out user may still pass; saves a database query for each of a page's many requests.
_REMEMBERED_S = 2.0
_REMEMBERED_MAX = 10_000


def ticket_for(
    accounts: AccountStore, principal: Principal, execution_id: ExecutionId, number: int, clock: Clock = SYSTEM_CLOCK
) -> str:
    """Return a ticket to a proxied port; when its session or token ends, the access ends, too."""
    ticket, now_s = secrets.token_urlsafe(24), clock.now_s()
    accounts.add_app_access(
        AppAccess(
            id=hash_of(ticket),
            user=principal.user,
            tenant=principal.tenant,
            session_id=principal.session_id or None,
            token_id=principal.token_id or None,
            execution_id=execution_id,
            number=number,
            expires_at_s=now_s + TICKET_S,
        )
    )
    return ticket


@dataclass(frozen=True, slots=True)
class _Remembered:
    access: AppAccess
    until_s: float


class Accesses:
    """Look cookies up, and cache them briefly."""

    def __init__(self, accounts: AccountStore, lifetime_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._accounts = accounts
        self._lifetime_s = lifetime_s
        self._remembered: dict[str, _Remembered] = {}

    async def take_ticket(self, request: Request, execution_id: ExecutionId, number: int) -> str | None:
        """Use up the ticket and return the value of the cookie; None if the ticket is not for this port."""
        ticket, secret, now_s = request.query_params.get("ticket", ""), secrets.token_urlsafe(32), self._clock.now_s()
        until_s = now_s + self._lifetime_s
        access = await run_in_threadpool(self._accounts.enter_app, hash_of(ticket), hash_of(secret), now_s, until_s)
        if access is None or (access.execution_id, access.number) != (execution_id, number):
            return None
        return secret

    def enter_application(self, request: Request, secret: str, path: str) -> Response:
        """Set the cookie, and redirect to the application."""
        answer = RedirectResponse(
            same_origin(path), 303, {"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
        )
        cookies.put(answer, request, cookies.APP, secret, self._lifetime_s)
        if BY_ADDRESS in request.query_params:
            cookies.put(answer, request, cookies.BY_ADDRESS, "1", self._lifetime_s)
        return answer

    async def find_access(self, connection: HTTPConnection, execution_id: ExecutionId, number: int) -> AppAccess | None:
        """Return the principal of a request; None unless it may use this port."""
        ids = [hash_of(secret) for secret in cookies.secrets_in(connection, cookies.APP)]
        if len(ids) > 1:
            # Over plain HTTP, applications can set cookies for each other: one query finds the cookies of this port.
            of_port = await run_in_threadpool(self._accounts.app_accesses_among, ids, execution_id, number)
            ids = [id_ for id_ in ids if id_ in of_port]
        for access_id in ids:
            access = await self._cached_access(access_id)
            if access is not None and (access.execution_id, access.number) == (execution_id, number):
                return access
        return None

    async def _cached_access(self, access_id: str) -> AppAccess | None:
        now_s = self._clock.monotonic_s()
        remembered = self._remembered.get(access_id)
        if remembered is not None and now_s < remembered.until_s:
            return remembered.access
        self._remembered.pop(access_id, None)
        access = await run_in_threadpool(self._accounts.app_access, access_id, self._clock.now_s())
        if access is not None:
            if len(self._remembered) >= _REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[access_id] = _Remembered(access, now_s + _REMEMBERED_S)
        return access


def host_of(domain: str, execution_id: ExecutionId, number: int) -> str:
    """Return the host name of the port for browsers."""
    return f"{label(execution_id, number)}.{domain}"


def entrance(scheme: str, domain: str, execution_id: ExecutionId, number: int, ticket: str, zoe: str = "") -> str:
    """Return the URL to which a browser goes with a ticket. zoe: the host at which it is signed in."""
    by_address = f"&{BY_ADDRESS}=1" if zoe == LOOPBACK else ""
    return f"{scheme}://{host_of(domain, execution_id, number)}{ENTRANCE}?ticket={ticket}{by_address}"
