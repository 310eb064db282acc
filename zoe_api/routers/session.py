"""Signing in and out, for browsers."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from zoe_api import passwords, sessions
from zoe_api.access import Reader
from zoe_api.codes import Code
from zoe_api.dependencies import ServicesDep, StoreDep
from zoe_api.problems import ApiProblem
from zoe_lib.store.base import Store
from zoe_lib.store.people import Membership, Principal
from zoe_lib.wire import PasswordChange, SessionView, SignIn, TenantChoice

router = APIRouter(prefix="/session", tags=["session"])


@router.post("", response_model=SessionView)
def sign_in(body: SignIn, request: Request, response: Response, its: ServicesDep) -> SessionView:
    """Sign in with a password: sets the session's cookie, and tells what to send along with changes."""
    address = request.client.host if request.client else ""
    passwords.verify(its.store, body.user, body.password, address)
    chosen = _chosen(its.store.memberships(user=body.user), body.tenant)
    sessions.end(its.store, request, response)
    lifetime_s = its.settings.session_lifetime_s
    secret = sessions.begin(its.store, request, response, chosen.user, chosen.tenant, lifetime_s)
    return _view(its.store, Principal.of(chosen.user, chosen.tenant, chosen.role), secret)


@router.get("", response_model=SessionView)
def get_session(who: Reader, request: Request, store: StoreDep) -> SessionView:
    """Who is signed in, and what to send along with changes."""
    return _view(store, who, sessions.secret_of(request) or "")


@router.delete("", status_code=204)
def sign_out(request: Request, store: StoreDep) -> Response:
    """End the session; nothing when there is none."""
    response = Response(status_code=204)
    sessions.end(store, request, response)
    return response


@router.put("/tenant", response_model=SessionView)
def choose_tenant(
    body: TenantChoice, who: Reader, request: Request, response: Response, its: ServicesDep
) -> SessionView:
    """Go on in another of the own tenants, with a session of its own."""
    chosen = _chosen(its.store.memberships(user=who.user), body.tenant)
    sessions.end(its.store, request, response)
    lifetime_s = its.settings.session_lifetime_s
    secret = sessions.begin(its.store, request, response, who.user, chosen.tenant, lifetime_s)
    return _view(its.store, Principal.of(who.user, chosen.tenant, chosen.role), secret)


@router.put("/password", status_code=204)
def change_password(body: PasswordChange, who: Reader, request: Request, store: StoreDep) -> Response:
    """Change the own password; every session of the user's ends, this one, too."""
    address = request.client.host if request.client else ""
    passwords.verify(store, who.user, body.old, address)
    store.set_password(who.user, passwords.hashed(body.new))
    return Response(status_code=204)


def _chosen(memberships: Sequence[Membership], tenant: str | None) -> Membership:
    found = [one for one in memberships if tenant in (None, one.tenant)]
    if not found:
        raise ApiProblem(Code.NO_MEMBERSHIP)
    return found[0]


def _view(store: Store, who: Principal, secret: str) -> SessionView:
    return SessionView(
        user=who.user,
        tenant=who.tenant,
        role=who.role,
        scopes=sorted(who.scopes),
        tenants=[one.tenant for one in store.memberships(user=who.user)],
        csrf_token=sessions.csrf_token(secret) if secret else "",
    )
