"""Who is asking, and whether they may: the one place where the scope of a route is enforced."""

from __future__ import annotations

import hmac
import time
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from zoe_api import sessions
from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_lib.api_tokens import TokenText
from zoe_lib.domain.roles import SCOPES, Scope
from zoe_lib.store.base import Store
from zoe_lib.store.people import AuditEntry, Principal

_bearer = HTTPBearer(auto_error=False, description="An API token: zoe_<id>_<secret>")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def principal(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Principal:
    """Who is asking, by token or by the cookie of a session; 401 for everybody else.

    Whoever asks for a change is written down before anything is done, and what came of it afterwards.
    """
    store: Store = request.app.state.services.store
    who = _by_token(store, credentials.credentials) if credentials else _by_session(store, request)
    if request.method not in _SAFE_METHODS:
        request.state.audit_id = store.add_audit(_entry(who, request))
    return who


class Requires:
    """Requires a scope of whoever asks."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, who: Annotated[Principal, Depends(principal)]) -> Principal:
        """The principal, who has the scope; 403."""
        check(who, self.scope)
        return who


def check(who: Principal, scope: Scope) -> None:
    """403 unless the role allows it, and the token, too."""
    if scope in who.scopes:
        return
    if scope in SCOPES[who.role]:
        raise ApiProblem(Code.SCOPE_MISSING, f"it lacks: {scope}")
    if scope is Scope.ADMIN:
        raise ApiProblem(Code.NOT_ADMIN)
    raise ApiProblem(Code.ROLE_MISSING, f"{who.role}s have no scope {scope}")


Reader = Annotated[Principal, Depends(Requires(Scope.READ))]
Submitter = Annotated[Principal, Depends(Requires(Scope.SUBMIT))]
Operator = Annotated[Principal, Depends(Requires(Scope.OPERATE))]
Admin = Annotated[Principal, Depends(Requires(Scope.ADMIN))]


def _by_token(store: Store, text: str) -> Principal:
    token = TokenText.read(text)
    if token is not None:
        found = store.principal(token.id, time.time())
        if found is not None and hmac.compare_digest(found[1], token.hashed):
            return found[0]
    raise ApiProblem(Code.BAD_TOKEN, hint="ask for a new one")


def _by_session(store: Store, request: Request) -> Principal:
    secret = sessions.secret_of(request)
    if secret is None:
        raise ApiProblem(Code.NO_TOKEN, hint="Authorization: Bearer zoe_...")
    who = store.session(sessions.id_of(secret), time.time())
    if who is None:
        raise ApiProblem(Code.SESSION_OVER)
    if request.method not in _SAFE_METHODS:
        sessions.check_csrf(request, secret)
    return who


def _entry(who: Principal, request: Request) -> AuditEntry:
    return AuditEntry(
        at_s=time.time(),
        user=who.user,
        tenant=who.tenant,
        action=request.scope["route"].name,
        target=request.url.path,
        request_id=request.state.request_id,
        by=who.token_id or "session",
    )
