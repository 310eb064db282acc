"""Sessions of browsers: a random secret in a cookie, and a second secret, the proof, that only the page has.

Cookies ignore ports: a program that the user opens on another port of this host receives the session's cookie. So the
cookie alone may only read. A change needs the proof, which is returned once, at sign-in, and is not derived from the
cookie. The database stores a hash of each.
"""

from __future__ import annotations

import hmac
import math
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fastapi import Request, Response
from starlette.requests import HTTPConnection

from zoe_api.http import cookies
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller, Services
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.store.people import Principal, Session
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.sql.installation.installation import TermsVersions
from zoe_lib.submission.ids import hash_of

CSRF_HEADER = "X-CSRF-Token"


@dataclass(frozen=True, slots=True)
class Asker:
    """The client, and whether the request has more than a cookie: the session's proof as well, or a token.

    `terms`: whether the limits and prices of submissions have changed, if read with the client.
    """

    principal: Principal
    proved: bool
    terms: TermsVersions | None = None


def enter(
    services: Services,
    request: HTTPConnection,
    response: Response,
    user: str,
    tenant: str | None,
    ends_at_most_s: float = math.inf,
) -> tuple[str, Principal]:
    """Sign a user in to this tenant, or to the user's first; return the proof and the principal.

    All sessions of this browser end, whatever their user; the audit log names other users. ends_at_most_s: since the
    epoch. 403 without membership.
    """
    chosen = next(
        (membership for membership in services.accounts.memberships(user=user) if tenant in (None, membership.tenant)),
        None,
    )
    if chosen is None:
        raise ApiProblem(Code.NO_MEMBERSHIP)
    others = sorted({session.user for session in _end_live_sessions(services.accounts, request)} - {chosen.user})
    if others:
        note_changes(request, {"ended_sessions_of": ", ".join(others)}, {})
    now_s = services.clock.now_s()
    ends_s = min(now_s + services.settings.session_lifetime_s, ends_at_most_s)
    session = Session("", chosen.user, chosen.tenant, now_s, ends_s)
    proof = _begin(services.accounts, request, response, session)
    return proof, Principal.of_member(chosen.user, chosen.tenant, chosen.role)


def switch(caller: Caller, response: Response, tenant: str) -> tuple[str, Principal]:
    """Replace the session of a principal by one in another tenant, with the same end."""
    ends_s = caller.services.accounts.session_end(caller.principal.session_id)
    return enter(caller.services, caller.request, response, caller.user, tenant, ends_s)


def _end_live_sessions(accounts: AccountStore, request: HTTPConnection) -> list[Principal]:
    """End the live sessions of the browser's cookies, and return their users."""
    live = [principal for principal, _ in _live(accounts, request)]
    for principal in live:
        accounts.end_session(principal.session_id)
    return live


def end(accounts: AccountStore, request: Request, response: Response, asker: Asker | None) -> None:
    """Sign out, and tell the browser to delete the cookie."""
    if asker is not None:
        accounts.end_session(asker.principal.session_id)
    cookies.remove(response, request, cookies.SESSION)


def find(accounts: AccountStore, request: HTTPConnection, proof: str | None = None) -> Asker | None:
    """Return the signed-in user; None without a live session.

    Of several sessions, the proof selects one, since an application can set cookies with this name. Without a proof in
    the argument or the header, the first counts.
    """
    proof_given = hash_of(request.headers.get(CSRF_HEADER, "") if proof is None else proof)
    live = list(_live(accounts, request))
    for principal, proof_hash in live:
        if proof_hash is not None and hmac.compare_digest(proof_given, proof_hash):
            return Asker(principal, proved=True)
    return Asker(live[0][0], proved=False) if live else None


def require(accounts: AccountStore, request: HTTPConnection, proof: str | None = None) -> Asker:
    """Return the signed-in user; else 401."""
    asker = find(accounts, request, proof)
    if asker is not None:
        return asker
    if cookies.is_sent(request, cookies.SESSION):
        raise ApiProblem(Code.SESSION_OVER)
    raise ApiProblem(Code.NO_TOKEN, hint="Authorization: Bearer zoe_...")


def check_proved(asker: Asker) -> None:
    """Raise 403 unless the request has the proof of its session."""
    if not asker.proved:
        raise ApiProblem(
            Code.CSRF_TOKEN_MISSING,
            hint=(f"sign in again: only the sign-in returns the CSRF token; send it in the header {CSRF_HEADER}"),
        )


def check_session_of_proof(asker: Asker, request: Request) -> None:
    """Raise 403 if the request has the proof of another session: its page would show one tenant's data as another's."""
    if request.headers.get(CSRF_HEADER):
        check_proved(asker)


def _begin(accounts: AccountStore, request: HTTPConnection, response: Response, session: Session) -> str:
    """Store a session with new secrets, set its cookie, and return the proof."""
    secret, proof = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    accounts.add_session(replace(session, id=hash_of(secret), proof_hash=hash_of(proof)))
    cookies.put(response, request, cookies.SESSION, secret, session.expires_at_s - session.created_at_s)
    return proof


def _live(
    accounts: AccountStore, request: HTTPConnection, clock: Clock = SYSTEM_CLOCK
) -> Iterator[tuple[Principal, str | None]]:
    """Return the live sessions of the browser's cookies, in their order, with one query."""
    ids = [hash_of(secret) for secret in cookies.secrets_in(request, cookies.SESSION)]
    sessions = accounts.sessions_among(ids, clock.now_s()) if ids else {}
    return (sessions[id_] for id_ in ids if id_ in sessions)
