"""Who is asking, and whether they may: the one place where the scope of a route is enforced."""

from __future__ import annotations

import hmac
import time
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from zoe_api import sessions
from zoe_api.addresses import address_of
from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_api.sessions import Asker
from zoe_lib.api_tokens import TokenText
from zoe_lib.domain.roles import SCOPES, Scope
from zoe_lib.store.accounts import AccountStore
from zoe_lib.store.base import StoreUnavailable
from zoe_lib.store.people import AuditEntry, Principal

_bearer = HTTPBearer(auto_error=False, description="An API token: zoe_<id>_<secret>")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Sent by POST for the size of what is asked; they change nothing, so that the audit log has no use for them.
_QUESTIONS = frozenset(
    {"validate_description", "plan_application", "convert_description", "fill_form", "try_policy", "replay_journal"}
)
# A page asks by it which session the browser has now, with whatever proof it kept.
_TELLS_THE_SESSION = "get_session"
# These put the entry into the transaction of the change itself; it is written alone when there is none.
_AUDITED_WITH_THE_CHANGE = frozenset({"submit_execution"})


def get_principal(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Principal:
    """Who is asking, by token or by the cookie of a session; 401 for everybody else.

    Whoever asks for a change is written down before anything is done or with it, and what came of it afterwards.
    """
    accounts: AccountStore = request.app.state.services.accounts
    asker = _by_token(accounts, credentials.credentials) if credentials else sessions.require(accounts, request)
    principal = asker.principal
    request.state.proved = asker.proved
    asked_by(request, principal)
    action = request.scope["route"].name
    if request.method in _SAFE_METHODS:
        if action != _TELLS_THE_SESSION:
            sessions.check_meant(asker, request)
        return principal
    if action not in _QUESTIONS:
        audit_entry = entry(principal, request, action)
        if action in _AUDITED_WITH_THE_CHANGE:
            request.state.audit = audit_entry
        else:
            request.state.audit_id = accounts.add_audit(audit_entry)
    sessions.check_proved(asker)
    return principal


def still(accounts: AccountStore, principal: Principal) -> bool:
    """Return whether the session or token allows what it did, in the same tenant.

    Also when the database cannot tell just now.
    """
    try:
        if principal.token_id:
            current = accounts.principal(principal.token_id, time.time())
            now = current[0] if current is not None else None
        else:
            now = accounts.session(principal.session_id, time.time())
    except StoreUnavailable:
        return True
    return now is not None and now.tenant == principal.tenant and principal.scopes <= now.scopes


def asked_by(request: Request, principal: Principal) -> None:
    """Have the line of the log that tells the answer name the one who asked."""
    request.state.user, request.state.tenant = principal.user, principal.tenant


def proved(request: Request) -> bool:
    """Return whether the request holds more than the cookie of a session: its proof, or a token."""
    return bool(request.state.proved)


class Requires:
    """Requires a scope of whoever asks."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, principal: Annotated[Principal, Depends(get_principal)]) -> Principal:
        """The principal, who has the scope; 403."""
        check(principal, self.scope)
        return principal


def check(principal: Principal, scope: Scope) -> None:
    """403 unless the role allows it, and the token, too."""
    if scope in principal.scopes:
        return
    if scope in SCOPES[principal.role]:
        raise ApiProblem(Code.SCOPE_MISSING, f"it lacks: {scope}")
    if scope is Scope.ADMIN:
        raise ApiProblem(Code.NOT_ADMIN)
    raise ApiProblem(Code.ROLE_MISSING, f"{principal.role}s have no scope {scope}")


Reader = Annotated[Principal, Depends(Requires(Scope.READ))]
Submitter = Annotated[Principal, Depends(Requires(Scope.SUBMIT))]
Operator = Annotated[Principal, Depends(Requires(Scope.OPERATE))]
Admin = Annotated[Principal, Depends(Requires(Scope.ADMIN))]


async def _signed_in(principal: Reader) -> Principal:
    if not principal.session_id:
        raise ApiProblem(Code.SESSION_NEEDED, hint="sign in with a browser, or with POST /api/v1/session")
    return principal


SignedIn = Annotated[Principal, Depends(_signed_in)]
"""Who has a session: a token must never become one, which has every scope of the role and outlives it."""


def _by_token(accounts: AccountStore, text: str) -> Asker:
    token = TokenText.read(text)
    if token is not None:
        current = accounts.principal(token.id, time.time())
        if current is not None and hmac.compare_digest(current[1], token.hashed):
            return Asker(current[0], proved=True)
    raise ApiProblem(Code.BAD_TOKEN, hint="ask for a new one")


def entry(principal: Principal, request: Request, action: str) -> AuditEntry:
    """What is written down of a change before it is made."""
    return AuditEntry(
        at_s=time.time(),
        user=principal.user,
        tenant=principal.tenant,
        action=action,
        target=request.url.path,
        request_id=request.state.request_id,
        by=principal.token_id or "session",
        address=address_of(request),
    )
