"""Signing in and out, for browsers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from zoe_api import access, sessions
from zoe_api.access import Reader, SignedIn
from zoe_api.addresses import address_of
from zoe_api.dependencies import AccountsDep, ServicesDep
from zoe_api.password_sign_in import signed_in
from zoe_api.password_strength import check_strength
from zoe_api.routers.oidc import START
from zoe_api.sign_in import passwords
from zoe_api.sign_in.brake import Brake, network_of
from zoe_lib.store.accounts import AccountStore
from zoe_lib.store.people import Principal
from zoe_lib.wire import PasswordChange, ProviderList, ProviderView, SessionView, SignIn, TenantChoice

router = APIRouter(prefix="/session", tags=["session"])


@router.get("/providers", response_model=ProviderList)
def list_providers(its: ServicesDep) -> ProviderList:
    """The ways to sign in; the page that asks for it comes before anybody is known."""
    found = [ProviderView(name=passwords.LOCAL, title="Zoe", kind="password")]
    found += [
        ProviderView(name=name, title=one.title or name, kind="password") for name, one in its.settings.ldap.items()
    ]
    found += [
        ProviderView(name=name, title=one.title or name, kind="redirect", start=f"{START}?provider={name}")
        for name, one in its.settings.oidc.items()
    ]
    return ProviderList(providers=found)


@router.post("", response_model=SessionView)
async def sign_in(body: SignIn, request: Request, response: Response, its: ServicesDep) -> SessionView:
    """Sign in with a password: sets the session's cookie, and tells what to send along with changes."""

    def enter(user: str) -> SessionView:
        proof, who = sessions.enter(its, request, response, user, body.tenant)
        return _view(its.accounts, who, proof)

    return await signed_in(body, request, its, enter)


@router.get("", response_model=SessionView)
def get_session(who: Reader, request: Request, accounts: AccountsDep) -> SessionView:
    """Who is signed in; `csrf_token` is what the request sent of it, if that is right, and empty otherwise."""
    proved = bool(who.session_id) and access.proved(request)
    return _view(accounts, who, request.headers.get(sessions.CSRF_HEADER, "") if proved else "")


@router.delete("", status_code=204)
def sign_out(request: Request, accounts: AccountsDep) -> Response:
    """End the session; nothing when there is none."""
    response = Response(status_code=204)
    asker = sessions.find(accounts, request)
    if asker is not None:
        request.state.audit_id = accounts.add_audit(access.entry(asker.who, request, "sign_out"))
        sessions.check_proved(asker)
    sessions.end(accounts, request, response, asker)
    return response


@router.put("/tenant", response_model=SessionView)
def choose_tenant(
    body: TenantChoice, who: SignedIn, request: Request, response: Response, its: ServicesDep
) -> SessionView:
    """Go on in another of the own tenants, with a session of its own."""
    proof, chosen = sessions.enter(its, request, response, who.user, body.tenant)
    return _view(its.accounts, chosen, proof)


@router.put("/password", status_code=204)
async def change_password(body: PasswordChange, who: SignedIn, request: Request, its: ServicesDep) -> Response:
    """Change the own password; every session of the user's ends, this one, too, and if wanted every token."""
    address = address_of(request)

    def change() -> None:
        passwords.verify(its.accounts, who.user, body.old, address)
        check_strength(body.new, who.user, its, "new")
        its.accounts.set_password(who.user, passwords.hashed(body.new))
        if body.end_tokens:
            its.accounts.end_access(who.user)

    brake = Brake(passwords.LOCAL, who.user, network_of(address))
    await its.password_checks.run(brake, its.accounts, change)
    return Response(status_code=204)


def _view(accounts: AccountStore, who: Principal, proof: str) -> SessionView:
    return SessionView(
        user=who.user,
        tenant=who.tenant,
        role=who.role,
        scopes=sorted(who.scopes),
        tenants=[one.tenant for one in accounts.memberships(user=who.user)],
        csrf_token=proof,
    )
