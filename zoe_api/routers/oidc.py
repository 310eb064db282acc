"""Sign-in with OpenID Connect: the browser goes to the provider and returns with a code."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Query, Request
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from zoe_api import cookies, sessions
from zoe_api.addresses import address_of
from zoe_api.apps import pages
from zoe_api.codes import Code
from zoe_api.dependencies import Services, ServicesDep
from zoe_api.problems import ApiProblem
from zoe_api.request_context import PREFIX
from zoe_api.routing import api_router
from zoe_api.sign_in.brake import network_of
from zoe_api.sign_in.identity import admit
from zoe_lib.store.people import SignInAttempt
from zoe_lib.submission.ids import hash_of

if TYPE_CHECKING:
    from zoe_api.sign_in.oidc import Oidc

router = api_router("/session/oidc", tag="session")
START, _CALLBACK = f"{PREFIX}/session/oidc/start", f"{PREFIX}/session/oidc/callback"
T = TypeVar("T")
_WITHIN_S = 600.0
_LANDING_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
Text = Annotated[str | None, Query(max_length=4096)]


@router.get("/start", status_code=303, response_class=RedirectResponse)
async def oidc_start(
    request: Request,
    services: ServicesDep,
    provider: Annotated[str, Query(max_length=128)],
    next_path: Annotated[
        str, Query(alias="next", max_length=2000, description="Path of this Zoe to which the browser goes afterwards.")
    ] = "/",
) -> Response:
    """Redirect the browser to the provider. It must return within ten minutes, and only once."""
    state, browser, nonce, verifier = (secrets.token_urlsafe(48) for _ in range(4))

    def begin() -> str:
        url = _provider(services, provider).start_url(_redirect_uri(request, services), state, nonce, verifier)
        hashes = hash_of(state), hash_of(browser)
        attempt = SignInAttempt(*hashes, provider, nonce, verifier, _own(next_path), services.clock.now_s() + _WITHIN_S)
        services.accounts.add_sign_in(attempt)
        return url

    try:
        url = await _in_its_lane(services, request, provider, begin)
    except ApiProblem as refusal:
        return _told(request, refusal)
    answer = RedirectResponse(url, 303, {"Cache-Control": "no-store"})
    cookies.put(answer, request, cookies.SIGN_IN, browser, _WITHIN_S)
    return answer


@router.get("/callback", status_code=303, response_class=RedirectResponse)
async def oidc_callback(
    request: Request, services: ServicesDep, state: Text = None, code: Text = None, error: Text = None
) -> Response:
    """Sign in a browser that returns from the provider."""
    try:
        attempt = await run_in_threadpool(_taken, request, services, state or "", code or "", error or "")
        return await _in_its_lane(
            services, request, attempt.provider, lambda: _signed_in(request, services, attempt, code or "")
        )
    except ApiProblem as refusal:
        if not hasattr(request.state, "user"):
            await run_in_threadpool(services.sign_in_audit.note_refused, request, services.accounts, "", "oidc")
        return _told(request, refusal)


async def _in_its_lane(services: Services, request: Request, provider: str, work: Callable[[], T]) -> T:
    """Return what the work returns, in threads of the provider, so that a slow provider delays no other."""
    if provider not in services.settings.oidc:
        raise ApiProblem(Code.NOT_FOUND, f"provider {provider!r} does not exist")
    return await services.password_checks.run_unbraked(provider, network_of(address_of(request)), work)


def _taken(request: Request, services: Services, state: str, code: str, error: str) -> SignInAttempt:
    """Return the sign-in attempt of this browser, and end it, so that it works only once."""
    attempt = services.accounts.take_sign_in(hash_of(state), services.clock.now_s())
    browsers = [hash_of(secret) for secret in cookies.secrets_in(request, cookies.SIGN_IN)]
    if attempt is None or not any(hmac.compare_digest(attempt.browser, browser) for browser in browsers):
        raise ApiProblem(Code.SIGN_IN_FAILED, "it was not started in this browser, took too long, or was already used")
    if error or not code:
        raise ApiProblem(Code.SIGN_IN_FAILED, f"the provider's error: {error[:100] or 'none'}")
    return attempt


def _signed_in(request: Request, services: Services, attempt: SignInAttempt, code: str) -> Response:
    provider = _provider(services, attempt.provider)
    identity = provider.identity(code, _redirect_uri(request, services), attempt.nonce, attempt.verifier)
    try:
        user = admit(services.accounts, identity, services.settings.sign_in_roles, request, clock=services.clock)
    except ApiProblem:
        services.sign_in_audit.note_refused(request, services.accounts, identity.name, identity.provider)
        raise
    services.sign_in_audit.note_right(request, user, identity.provider)
    entered = Response()
    proof, _ = sessions.enter(services, request, entered, user, None)
    cookies.remove(entered, request, cookies.SIGN_IN)
    answer = RedirectResponse(_landing(proof, attempt.next_path), 303, _LANDING_HEADERS)
    answer.raw_headers += [header for header in entered.raw_headers if header[0] == b"set-cookie"]
    return answer


def _landing(proof: str, next_path: str) -> str:
    """Return where the browser goes: always the page that takes the proof, as browsers keep fragments across redirects.

    A fragment is never sent to a server, and no other origin reads it.
    """
    return f"/#{urlencode({'csrf_token': proof, 'next': next_path})}"


def _provider(services: Services, name: str) -> Oidc:
    # Only if a provider is configured: importing the library takes a fifth of the API's start.
    from zoe_api.sign_in.oidc import Oidc

    return Oidc(name, services.settings.oidc[name])


def _redirect_uri(request: Request, services: Services) -> str:
    return f"{services.settings.public_url or str(request.base_url).rstrip('/')}{_CALLBACK}"


def _own(path: str) -> str:
    """Return a path of this origin; `//host` and `/\\host` lead to others."""
    plain = path.isascii() and path.isprintable() and path.startswith("/") and path[1:2] not in ("/", "\\")
    return path if plain else "/"


def _told(request: Request, refusal: ApiProblem) -> Response:
    """Return a page for browsers; raise the problem for programs."""
    if "text/html" not in request.headers.get("accept", ""):
        raise refusal
    shown = refusal.problem
    return pages.told(shown.status, shown.title, f"{shown.detail} {shown.hint}".strip(), at_zoe=True)
