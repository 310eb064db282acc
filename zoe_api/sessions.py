"""Sessions of browsers: a random secret in a cookie, of which only the hash is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from fastapi import Request, Response

from zoe_api import cookies
from zoe_api.codes import Code
from zoe_api.dependencies import Services
from zoe_api.problems import ApiProblem
from zoe_lib.store.base import Store
from zoe_lib.store.people import Principal, Session

CSRF_HEADER = "X-CSRF-Token"


def begin(store: Store, request: Request, response: Response, user: str, tenant: str, lifetime_s: float) -> str:
    """Sign a user in to a tenant; the secret that is in the cookie."""
    secret, now_s = secrets.token_urlsafe(32), time.time()
    store.add_session(Session(id_of(secret), user, tenant, now_s, now_s + lifetime_s))
    # Host-only, as no domain is named: applications on other names of this host never see it.
    response.set_cookie(
        _cookie(request), secret, max_age=round(lifetime_s), secure=_secure(request), httponly=True, samesite="lax"
    )
    return secret


def enter(its: Services, request: Request, response: Response, user: str, tenant: str | None) -> tuple[str, Principal]:
    """Sign a user in to that tenant, or to the first of the own ones, instead of who was; 403 without membership."""
    chosen = next((one for one in its.store.memberships(user=user) if tenant in (None, one.tenant)), None)
    if chosen is None:
        raise ApiProblem(Code.NO_MEMBERSHIP)
    end(its.store, request, response)
    secret = begin(its.store, request, response, chosen.user, chosen.tenant, its.settings.session_lifetime_s)
    return secret, Principal.of(chosen.user, chosen.tenant, chosen.role)


def end(store: Store, request: Request, response: Response) -> None:
    """Sign out; nothing when nobody is signed in."""
    secret = secret_of(request)
    if secret is not None:
        store.end_session(id_of(secret))
    response.delete_cookie(_cookie(request), secure=_secure(request), httponly=True, samesite="lax")


def who(store: Store, request: Request) -> Principal | None:
    """Who is signed in; None without a session, or with one that is over."""
    secret = secret_of(request)
    return None if secret is None else store.session(id_of(secret), time.time())


def secret_of(request: Request) -> str | None:
    """What the browser's cookie holds."""
    return request.cookies.get(_cookie(request))


def id_of(secret: str) -> str:
    """What is kept of a secret; it is random and long, so one round of SHA-256 is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def csrf_token(secret: str) -> str:
    """What a page must send along with each change; other sites can make a browser send the cookie, but not this."""
    return hmac.new(secret.encode("utf-8", "replace"), b"csrf", hashlib.sha256).hexdigest()


def csrf_right(given: str, secret: str) -> bool:
    """Whether that is the token of the session."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), csrf_token(secret).encode())


def check_csrf(request: Request) -> None:
    """403 unless the request says the token of its session."""
    if not csrf_right(request.headers.get(CSRF_HEADER, ""), secret_of(request) or ""):
        raise ApiProblem(Code.CSRF_TOKEN_MISSING, hint=f"GET /api/v1/session tells it; send it as {CSRF_HEADER}")


def _cookie(request: Request) -> str:
    return cookies.named(cookies.SESSION, _secure(request))


def _secure(request: Request) -> bool:
    """Over plain HTTP, as on loopback, browsers refuse the prefix and the attribute."""
    return request.url.scheme == "https"
