"""Sign-in with OpenID Connect: the browser goes to the provider and returns with a code."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Path, Query, Request
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from zoe_api.access import sessions
from zoe_api.apps import pages
from zoe_api.http import cookies
from zoe_api.http.addresses import address_of
from zoe_api.http.attempts.guess_limit import network_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.request_context import PREFIX
from zoe_api.http.routing import api_router
from zoe_api.people.sign_in.identity import admit
from zoe_api.people.sign_in.oidc_answers import Answer, WrongProvider, callback_path, check_place
from zoe_api.services.dependencies import Services, ServicesDep
from zoe_lib.store.errors import TooManyWaiting
from zoe_lib.store.people import SignInAttempt
from zoe_lib.store.sql.accounts.waiting import WaitingBounds
from zoe_lib.submission.ids import hash_of

if TYPE_CHECKING:
    from zoe_api.people.sign_in.oidc import Oidc

router = api_router("/session/oidc", tag="session")
START = f"{PREFIX}/session/oidc/start"
T = TypeVar("T")
_WITHIN_S = 600.0
_BOUNDS = WaitingBounds(of_network_max=100, in_all_max=10_000)
"""A row takes about 600 bytes. People behind one address who sign in within the same ten minutes share its places."""
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
    hashes, ends_s = (hash_of(state), hash_of(browser)), services.clock.now_s() + _WITHIN_S
    network = network_of(address_of(request))
    attempt = SignInAttempt(*hashes, provider, nonce, verifier, _local_path(next_path), ends_s, network)

    def begin() -> str:
        _store(request, services, attempt)  # before the request to the provider, which is the expensive part
        uri = _redirect_uri(request, services, provider)
        try:
            return _provider(services, provider).start_url(uri, state, nonce, verifier)
        except ApiProblem:
            services.accounts.take_sign_in(attempt.id, 0.0)  # no browser is redirected with it
            raise

    try:
        url = await _run_for_provider(services, request, provider, begin)
    except ApiProblem as refusal:
        return _refusal_page(request, refusal)
    answer = RedirectResponse(url, 303, {"Cache-Control": "no-store"})
    cookies.put(answer, request, cookies.SIGN_IN, browser, _WITHIN_S)
    return answer


@router.get("/callback", status_code=303, response_class=RedirectResponse)
async def oidc_callback(
    request: Request,
    services: ServicesDep,
    state: Text = None,
    code: Text = None,
    error: Text = None,
    iss: Text = None,
) -> Response:
    """Sign in a browser that returns from the only provider."""
    return await _finish_sign_in(request, services, Answer(state or "", code or "", error or "", iss))


@router.get("/callback/{provider}", status_code=303, response_class=RedirectResponse)
async def oidc_callback_of_provider(
    provider: Annotated[str, Path(max_length=128)],
    request: Request,
    services: ServicesDep,
    state: Text = None,
    code: Text = None,
    error: Text = None,
    iss: Text = None,
) -> Response:
    """Sign in a browser that returns from this provider, one of several."""
    return await _finish_sign_in(request, services, Answer(state or "", code or "", error or "", iss, provider))


async def _finish_sign_in(request: Request, services: Services, answer: Answer) -> Response:
    try:
        if any(len(request.query_params.getlist(name)) > 1 for name in ("state", "code", "error", "iss")):
            raise ApiProblem(Code.SIGN_IN_FAILED, "the answer of the provider gives a parameter twice")
        attempt = await run_in_threadpool(_take_attempt, request, services, answer)
        return await _run_for_provider(
            services, request, attempt.provider, lambda: _signed_in(request, services, attempt, answer)
        )
    except ApiProblem as refusal:
        if not hasattr(request.state, "user"):
            by, why = (refusal.provider, refusal.why) if isinstance(refusal, WrongProvider) else ("oidc", "")
            note = services.sign_in_audit.note_refused
            await run_in_threadpool(note, request, services.accounts, "", by, why)
        return _refusal_page(request, refusal)


def _store(request: Request, services: Services, attempt: SignInAttempt) -> None:
    """Store an attempt, in place of earlier ones of this browser, which has one cookie for all."""
    earlier = [hash_of(secret) for secret in cookies.secrets_in(request, cookies.SIGN_IN)]
    try:
        services.accounts.add_sign_in(attempt, earlier, _BOUNDS, services.clock.now_s())
    except TooManyWaiting as refused:
        hint = "a place is free in ten minutes at the latest: try again then"
        raise ApiProblem(Code.SIGN_IN_BUSY, str(refused), hint).retry_after(_WITHIN_S) from None


async def _run_for_provider(services: Services, request: Request, provider: str, work: Callable[[], T]) -> T:
    """Return the result of the task, run in threads of the provider, so that a slow provider delays no other."""
    if provider not in services.settings.oidc:
        raise ApiProblem(Code.NOT_FOUND, f"provider {provider!r} does not exist")
    return await services.password_checks.run_unbraked(provider, network_of(address_of(request)), work)


def _take_attempt(request: Request, services: Services, answer: Answer) -> SignInAttempt:
    """Return the sign-in attempt of this browser, and end it, so that it works only once."""
    attempt = services.accounts.take_sign_in(hash_of(answer.state), services.clock.now_s())
    browsers = [hash_of(secret) for secret in cookies.secrets_in(request, cookies.SIGN_IN)]
    if attempt is None or not any(hmac.compare_digest(attempt.browser, browser) for browser in browsers):
        raise ApiProblem(Code.SIGN_IN_FAILED, "it was not started in this browser, took too long, or was already used")
    check_place(attempt.provider, services.settings.oidc, answer)
    if answer.error or not answer.code:
        raise ApiProblem(Code.SIGN_IN_FAILED, f"the provider's error: {answer.error[:100] or 'none'}")
    return attempt


def _signed_in(request: Request, services: Services, attempt: SignInAttempt, answer: Answer) -> Response:
    provider = _provider(services, attempt.provider)
    uri = _redirect_uri(request, services, attempt.provider)
    identity = provider.identity(answer, uri, attempt.nonce, attempt.verifier)
    try:
        user = admit(services.accounts, identity, services.settings.sign_in_roles, request, clock=services.clock)
    except ApiProblem:
        services.sign_in_audit.note_refused(request, services.accounts, identity.name, identity.provider)
        raise
    services.sign_in_audit.note_right(request, user, identity.provider)
    entered = Response()
    lifetime_s = services.settings.oidc[attempt.provider].session_lifetime_s
    proof, _ = sessions.enter(services, request, entered, user, None, services.clock.now_s() + lifetime_s)
    cookies.remove(entered, request, cookies.SIGN_IN)
    landing = RedirectResponse(_landing(proof, attempt.next_path), 303, _LANDING_HEADERS)
    landing.raw_headers += [header for header in entered.raw_headers if header[0] == b"set-cookie"]
    return landing


def _landing(proof: str, next_path: str) -> str:
    """Return the URL for the browser: always the page that takes the proof, as browsers keep fragments across
    redirects.

    A fragment is never sent to a server, and no other origin reads it.
    """
    return f"/#{urlencode({'csrf_token': proof, 'next': next_path})}"


def _provider(services: Services, name: str) -> Oidc:
    # Only if a provider is configured: importing the library takes a fifth of the API's start.
    from zoe_api.people.sign_in.oidc import Oidc

    return Oidc(name, services.settings.oidc[name])


def _redirect_uri(request: Request, services: Services, provider: str) -> str:
    here = services.settings.public_url or str(request.base_url).rstrip("/")
    return f"{here}{callback_path(provider, services.settings.oidc)}"


def _local_path(path: str) -> str:
    """Return a path of this origin; `//host` and `/\\host` lead to other hosts."""
    plain = path.isascii() and path.isprintable() and path.startswith("/") and path[1:2] not in ("/", "\\")
    return path if plain else "/"


def _refusal_page(request: Request, refusal: ApiProblem) -> Response:
    """Return an error page for browsers; raise the problem for programs."""
    if "text/html" not in request.headers.get("accept", ""):
        raise refusal
    shown = refusal.problem
    text = f"{shown.detail} {shown.hint}".strip()
    return pages.error_page(shown.status, shown.title, text, {"Back to Zoe": "/"})
