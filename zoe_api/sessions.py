"""Sessions of browsers: a random secret in a cookie, and another one, the proof, that only the page keeps.

Cookies ignore ports: a program that the user opens on another port of this host is sent the session's cookie. So the
cookie alone reads at most; a change needs the proof, which is told once, at sign-in, and is not made from the cookie.
The database keeps a hash of each.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import Request, Response

from zoe_api import cookies
from zoe_api.codes import Code
from zoe_api.dependencies import Services
from zoe_api.ids import hash_of
from zoe_api.problems import ApiProblem
from zoe_lib.store.accounts import AccountStore
from zoe_lib.store.people import Principal, Session

CSRF_HEADER = "X-CSRF-Token"


@dataclass(frozen=True, slots=True)
class Asker:
    """Who is asking, and whether the request holds more than a cookie: the session's proof, too, or a token."""

    principal: Principal
    proved: bool


def enter(
    services: Services, request: Request, response: Response, user: str, tenant: str | None
) -> tuple[str, Principal]:
    """Sign a user in to that tenant, or to the first of the own ones; the proof, and who that is.

    Ends the user's sessions of this browser, and nobody else's: a stolen cookie must not sign its owner out. 403
    without membership.
    """
    chosen = next((one for one in services.accounts.memberships(user=user) if tenant in (None, one.tenant)), None)
    if chosen is None:
        raise ApiProblem(Code.NO_MEMBERSHIP)
    for principal, _ in _live(services.accounts, request):
        if principal.user == chosen.user:
            services.accounts.end_session(principal.session_id)
    proof = _begin(
        services.accounts, request, response, chosen.user, chosen.tenant, services.settings.session_lifetime_s
    )
    return proof, Principal.of(chosen.user, chosen.tenant, chosen.role)


def end(accounts: AccountStore, request: Request, response: Response, asker: Asker | None) -> None:
    """Sign out, and have the browser forget the cookie."""
    if asker is not None:
        accounts.end_session(asker.principal.session_id)
    cookies.remove(response, request, cookies.SESSION)


def find(accounts: AccountStore, request: Request, proof: str | None = None) -> Asker | None:
    """Return who is signed in; None without a session, or with one that is over.

    Of several sessions it is the one that the proof belongs to: an application can set cookies of this name, too.
    Without a proof in the request, `proof` or the header, it is the first.
    """
    proof_given = hash_of(request.headers.get(CSRF_HEADER, "") if proof is None else proof)
    live = list(_live(accounts, request))
    for principal, proof_hash in live:
        if proof_hash is not None and hmac.compare_digest(proof_given, proof_hash):
            return Asker(principal, proved=True)
    return Asker(live[0][0], proved=False) if live else None


def require(accounts: AccountStore, request: Request, proof: str | None = None) -> Asker:
    """Return who is signed in; 401."""
    asker = find(accounts, request, proof)
    if asker is not None:
        return asker
    if cookies.is_sent(request, cookies.SESSION):
        raise ApiProblem(Code.SESSION_OVER)
    raise ApiProblem(Code.NO_TOKEN, hint="Authorization: Bearer zoe_...")


def check_proved(asker: Asker) -> None:
    """403 unless the request holds the proof of its session."""
    if not asker.proved:
        raise ApiProblem(
            Code.CSRF_TOKEN_MISSING, hint=f"sign in again: the token is told then only; send it as {CSRF_HEADER}"
        )


def check_meant(asker: Asker, request: Request) -> None:
    """403 when the request holds the proof of another session: its page would show one tenant's data as another's."""
    if request.headers.get(CSRF_HEADER):
        check_proved(asker)


def _begin(
    accounts: AccountStore, request: Request, response: Response, user: str, tenant: str, lifetime_s: float
) -> str:
    secret, proof, now_s = secrets.token_urlsafe(32), secrets.token_urlsafe(32), time.time()
    accounts.add_session(Session(hash_of(secret), user, tenant, now_s, now_s + lifetime_s, hash_of(proof)))
    cookies.put(response, request, cookies.SESSION, secret, lifetime_s)
    return proof


def _live(accounts: AccountStore, request: Request) -> Iterator[tuple[Principal, str | None]]:
    """The sessions of the browser's cookies, in their order, by one look into the database."""
    ids = [hash_of(secret) for secret in cookies.secrets_in(request, cookies.SESSION)]
    sessions = accounts.sessions_among(ids, time.time()) if ids else {}
    return (sessions[one] for one in ids if one in sessions)
