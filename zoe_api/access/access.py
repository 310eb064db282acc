"""Authenticate requests and check scopes: the one place where the scope of a route is enforced."""

from __future__ import annotations

import hmac
from functools import partial
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.requests import HTTPConnection

from zoe_api.access import sessions
from zoe_api.access.sessions import Asker
from zoe_api.http.addresses import address_of
from zoe_api.http.position_headers import POSITION_MAX, WANTED
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import in_a_thread
from zoe_api.services.dependencies import Caller
from zoe_api.services.job_calls import check_route, known_by_job_token
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import SCOPES, Scope
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.people import AuditEntry, Principal
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.tokens.api_tokens import TokenText
from zoe_lib.tokens.job_tokens import is_job_token

_bearer = HTTPBearer(auto_error=False, description="An API token: zoe_<id>_<secret>")
NoOlderThan = Annotated[
    int | None,
    Header(
        alias=WANTED,
        ge=0,
        le=POSITION_MAX,
        description="A `Zoe-Position` of an earlier answer: wait, two seconds at most, until the master has seen it.",
    ),
]
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# The beginning of an upload is in the audit log; reports of programs change nothing of an execution.
_PARTS_OF_CHANGES = frozenset({"append_to_upload", "report_queries"})
# These tell a page which session the browser has now, even if the page kept another proof.
_TELLS_THE_SESSION = "get_session"
# These write the audit entry in the transaction of the change; without a change, the entry is written alone.
_AUDITED_WITH_THE_CHANGE = frozenset({"submit_execution", "submit_array"})


async def get_principal(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    no_older_than: NoOlderThan = None,
) -> Principal:
    """Return the client of a token or a session cookie; 401 for all others.

    A change is recorded before or together with its transaction, and its result afterwards.
    """
    principal = await in_a_thread(_authenticate, request, credentials)
    if no_older_than is not None:
        await in_a_thread(_wait_for, request, principal, no_older_than)
    return principal


def _wait_for(request: Request, principal: Principal, position: int) -> None:
    services = request.app.state.services
    asked = partial(services.master.ask, request_id=request.state.request_id)
    services.positions.wait(position, principal.user, asked, services.store.last_journal_id)


def _authenticate(request: Request, credentials: HTTPAuthorizationCredentials | None) -> Principal:
    accounts: AccountStore = request.app.state.services.accounts
    changes = request.method not in _SAFE_METHODS
    asker = _asker(request, credentials, changes)
    principal = asker.principal
    request.state.proved, request.state.terms = asker.proved, asker.terms
    log_user(request, principal)
    action = request.scope["route"].name
    target = request.path_params.get("execution_id") or request.path_params.get("array_id")
    if not changes:
        check_route(principal, action, accounts, target)
        if action != _TELLS_THE_SESSION:
            sessions.check_session_of_proof(asker, request)
        return principal
    # A question uses POST because of its size; it changes nothing, so the audit log leaves it out.
    if not request.scope["route"].bounds and action not in _PARTS_OF_CHANGES:
        audit_entry = entry(principal, request, action)
        if action in _AUDITED_WITH_THE_CHANGE:
            request.state.audit = audit_entry
        else:
            request.state.audit_id = accounts.add_audit(audit_entry)
    check_route(principal, action, accounts, target)
    sessions.check_proved(asker)
    return principal


def _asker(request: Request, credentials: HTTPAuthorizationCredentials | None, changes: bool) -> Asker:
    services = request.app.state.services
    if credentials is None:
        return sessions.require(services.accounts, request)
    if is_job_token(credentials.credentials):
        principal = known_by_job_token(
            services.accounts,
            services.job_tokens,
            credentials.credentials,
            offered=services.settings.offered_tokens,
        )
        return Asker(principal, proved=True)
    return known_by_token(services.accounts, credentials.credentials, changes)


def still_allowed(accounts: AccountStore, principal: Principal) -> bool:
    """Return whether the session or token is still valid with the same rights; True while the database does not
    answer.
    """
    return confirm_access(accounts, principal) is not False


def confirm_access(accounts: AccountStore, principal: Principal, clock: Clock = SYSTEM_CLOCK) -> bool | None:
    """Return whether the session or token is still valid with the same rights in the same tenant; None if the database
    does not answer.
    """
    try:
        if principal.token_id:
            current = accounts.principal(principal.token_id, clock.now_s())
            now = current[0] if current is not None else None
        else:
            now = accounts.session(principal.session_id, clock.now_s())
    except StoreUnavailable:
        return None
    return now is not None and now.tenant == principal.tenant and principal.scopes <= now.scopes


def log_user(request: Request, principal: Principal) -> None:
    """Add the user to the request's log line."""
    request.state.user, request.state.tenant = principal.user, principal.tenant


def has_proof(request: HTTPConnection) -> bool:
    """Return whether the request carries more than a session cookie: the session's proof, or a token."""
    return bool(request.state.proved)


class Requires:
    """Require a scope of the client."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, principal: Annotated[Principal, Depends(get_principal)]) -> Principal:
        """Return the principal if it has the scope; else 403."""
        check(principal, self.scope)
        return principal


class RequiresCaller:
    """Require a scope of the client, and return it with its request and the services."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, request: Request, principal: Annotated[Principal, Depends(get_principal)]) -> Caller:
        """Return the caller if it has the scope; else 403."""
        check(principal, self.scope)
        return Caller(request.app.state.services, principal, request)


def check(principal: Principal, scope: Scope) -> None:
    """Raise 403 unless both the role and the token allow the scope."""
    if scope in principal.scopes:
        return
    if scope in SCOPES[principal.role]:
        raise ApiProblem(Code.SCOPE_MISSING, f"the token lacks the scope {scope}")
    if scope is Scope.ADMIN:
        raise ApiProblem(Code.NOT_ADMIN)
    raise ApiProblem(Code.ROLE_MISSING, f"the role {principal.role} does not have the scope {scope}")


Reader = Annotated[Principal, Depends(Requires(Scope.READ))]
Operator = Annotated[Principal, Depends(Requires(Scope.OPERATE))]
Admin = Annotated[Principal, Depends(Requires(Scope.ADMIN))]
AsReader = Annotated[Caller, Depends(RequiresCaller(Scope.READ))]
AsSubmitter = Annotated[Caller, Depends(RequiresCaller(Scope.SUBMIT))]
AsOperator = Annotated[Caller, Depends(RequiresCaller(Scope.OPERATE))]
AsAdmin = Annotated[Caller, Depends(RequiresCaller(Scope.ADMIN))]


async def _signed_in(caller: AsReader) -> Caller:
    if not caller.principal.session_id:
        raise ApiProblem(Code.SESSION_NEEDED, hint="sign in with a browser, or with POST /api/v1/session")
    return caller


AsSignedIn = Annotated[Caller, Depends(_signed_in)]
"""A client with a session. A token must never become a session, which has every scope of the role and outlives the
token."""


def known_by_token(accounts: AccountStore, text: str, with_terms: bool = False, clock: Clock = SYSTEM_CLOCK) -> Asker:
    """Return the client of a token; else 401."""
    token = TokenText.read(text)
    if token is not None:
        now_s = clock.now_s()
        found = (
            accounts.principal_and_terms(token.id, now_s) if with_terms else (accounts.principal(token.id, now_s), None)
        )
        current, terms = found
        if current is not None and hmac.compare_digest(current[1], token.secret_hash):
            return Asker(current[0], proved=True, terms=terms)
    raise ApiProblem(Code.BAD_TOKEN, hint="ask an admin or the user for a new one")


def entry(
    principal: Principal,
    request: HTTPConnection,
    action: str,
    target: str | None = None,
    status: int | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> AuditEntry:
    """Return the audit entry for a change before it is made, or for a look at this target."""
    return AuditEntry(
        at_s=clock.now_s(),
        user=principal.user,
        tenant=principal.tenant,
        action=action,
        target=request.url.path if target is None else target,
        request_id=request.state.request_id,
        by=str(principal.job or principal.token_id or "session"),
        address=address_of(request),
        status=status,
    )
