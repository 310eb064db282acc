"""Sign-in and sign-out for browsers."""

from __future__ import annotations

from fastapi import Request, Response

from zoe_api.access import access, sessions
from zoe_api.access.access import AsReader, AsSignedIn
from zoe_api.http.addresses import address_of
from zoe_api.http.attempts.guess_limit import Brake, network_of
from zoe_api.http.routing import api_router
from zoe_api.people.sign_in import passwords
from zoe_api.people.sign_in.oidc_routes import START
from zoe_api.people.sign_in.password_sign_in import signed_in
from zoe_api.people.sign_in.password_strength import check_strength
from zoe_api.services.dependencies import AccountsDep, ServicesDep
from zoe_client.wire import PasswordChange, ProviderList, ProviderView, SessionView, SignIn, TenantChoice
from zoe_lib.store.people import Principal
from zoe_lib.store.postgres.accounts import AccountStore

router = api_router("/session", tag="session")


@router.get("/providers", response_model=ProviderList)
def list_providers(services: ServicesDep) -> ProviderList:
    """List the ways to sign in; this needs no authentication."""
    providers = [ProviderView(name=passwords.LOCAL, title="Zoe", kind="password")]
    providers += [
        ProviderView(name=name, title=settings.title or name, kind="password")
        for name, settings in services.settings.ldap.items()
    ]
    providers += [
        ProviderView(name=name, title=settings.title or name, kind="redirect", start=f"{START}?provider={name}")
        for name, settings in services.settings.oidc.items()
    ]
    return ProviderList(providers=providers)


@router.post("", response_model=SessionView)
async def sign_in(body: SignIn, request: Request, response: Response, services: ServicesDep) -> SessionView:
    """Sign in with a password. The response sets the session cookie and returns the CSRF token that changes need."""

    def enter(user: str) -> SessionView:
        proof, principal = sessions.enter(services, request, response, user, body.tenant)
        return _view(services.accounts, principal, proof)

    return await signed_in(body, request, services, enter)


@router.get("", response_model=SessionView)
def get_session(caller: AsReader, accounts: AccountsDep) -> SessionView:
    """Return the signed-in user; `csrf_token` is the token that the request sent if that is valid, else empty."""
    proved = bool(caller.principal.session_id) and access.has_proof(caller.request)
    return _view(accounts, caller.principal, caller.request.headers.get(sessions.CSRF_HEADER, "") if proved else "")


@router.delete("", status_code=204)
def sign_out(request: Request, accounts: AccountsDep) -> Response:
    """End the session, if there is one."""
    response = Response(status_code=204)
    asker = sessions.find(accounts, request)
    if asker is not None:
        request.state.audit_id = accounts.add_audit(access.entry(asker.principal, request, "sign_out"))
        sessions.check_proved(asker)
    sessions.end(accounts, request, response, asker)
    return response


@router.put("/tenant", response_model=SessionView)
def choose_tenant(body: TenantChoice, caller: AsSignedIn, response: Response) -> SessionView:
    """Switch to another of your tenants, with a new session that ends at the same time."""
    proof, chosen = sessions.switch(caller, response, body.tenant)
    return _view(caller.services.accounts, chosen, proof)


@router.put("/password", status_code=204)
async def change_password(body: PasswordChange, caller: AsSignedIn) -> Response:
    """Change your password; all your sessions end, including this one, and all tokens on request."""
    address = address_of(caller.request)

    def change() -> None:
        passwords.verify(caller.services.accounts, caller.user, body.old, address)
        check_strength(body.new, caller.user, caller.services, "new")
        caller.services.accounts.set_password(caller.user, passwords.hash_password(body.new))
        if body.end_tokens:
            caller.services.accounts.end_access(caller.user)

    brake = Brake(passwords.LOCAL, caller.user, network_of(address), clock=caller.services.clock)
    await caller.services.password_checks.run(brake, caller.services.accounts, change)
    return Response(status_code=204)


def _view(accounts: AccountStore, principal: Principal, proof: str) -> SessionView:
    return SessionView(
        user=principal.user,
        tenant=principal.tenant,
        role=principal.role,
        scopes=sorted(principal.scopes),
        tenants=[membership.tenant for membership in accounts.memberships(user=principal.user)],
        csrf_token=proof,
    )
