"""The pages: HTML with forms, without scripts."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from zoe_api.access import access, sessions
from zoe_api.access.visibility import levels_of, note_look
from zoe_api.access.wire_forms import deadline_view
from zoe_api.executions.cancelling import cancel
from zoe_api.executions.controlling import accept
from zoe_api.http.problems.codes import PROBLEMS, Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.problems.refusals import note_refused
from zoe_api.http.request_context import PREFIX
from zoe_api.lite.promise_words import offer_sentences, promise_sentence
from zoe_api.lite.visible import visible
from zoe_api.people.sign_in.password_sign_in import signed_in
from zoe_api.people.sign_in.passwords import LOCAL
from zoe_api.services.dependencies import Caller, Services
from zoe_client.wire import SignIn
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ALL, ShareLevel
from zoe_lib.domain.executions.execution import TERMINAL_STATES, Execution, ExecutionId, ExecutionState
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.messaging.client import MasterUnreachable
from zoe_lib.store.errors import InvalidCursor, NotFound, StoreUnavailable
from zoe_lib.store.people import Principal
from zoe_lib.store.values import ExecutionQuery

HOME = "/lite/"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_PER_PAGE = 50
_PROOF = "csrf"
_NUMBER = re.compile("[0-9]{1,3}")
_TOLD_AS: Mapping[type[Exception], Code] = {
    StoreUnavailable: Code.DATABASE_UNAVAILABLE,
    MasterUnreachable: Code.DATABASE_UNAVAILABLE,
    NotFound: Code.NOT_FOUND,
    IllegalTransition: Code.ILLEGAL_STATE,
}
_TOLD: tuple[type[Exception], ...] = (ApiProblem, *_TOLD_AS)
_TOLD_AT_SIGN_IN = (Code.TOO_MANY_SIGN_INS, Code.SIGN_IN_BUSY, Code.NO_MEMBERSHIP)
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=visible,
)
Page = Callable[[Services, Request, Mapping[str, str]], Response]


def application(services: Services) -> Starlette:
    """Return all pages, to be mounted at `/lite`."""
    return Starlette(
        routes=[
            Route("/", _endpoint(services, _executions), methods=["GET", "POST"]),
            Route("/sign-in", _sign_in(services), methods=["POST"]),
            Route("/sign-out", _endpoint(services, _sign_out), methods=["POST"]),
            Route("/executions/{execution_id}/cancel", _endpoint(services, _cancel), methods=["POST"]),
            Route("/executions/{execution_id}/accept/{offer}", _endpoint(services, _accept), methods=["POST"]),
        ]
    )


def _endpoint(services: Services, page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_answer, services, page, request, await _fields(request))

    return answer


async def _fields(request: Request) -> Mapping[str, str]:
    form = await request.form() if request.method == "POST" else {}
    return {name: value for name, value in form.items() if isinstance(value, str)}


def _answer(services: Services, page: Page, request: Request, fields: Mapping[str, str]) -> Response:
    """Return the page, or the page of an error."""
    try:
        return page(services, request, fields)
    except _TOLD as error:
        if isinstance(error, ApiProblem) and error.problem.status == 401:
            note_refused(request.scope, Code(error.problem.code))
        return _told(services, error)


def _told(services: Services, error: Exception) -> Response:
    """Return the page of an error in `_TOLD`."""
    if isinstance(error, ApiProblem):
        refusal = error.problem
        signing = refusal.status == 401 or refusal.code in _TOLD_AT_SIGN_IN
        message = f"{refusal.title}. {refusal.detail}".strip()
        return (
            _sign_in_page(services, message, refusal.status)
            if signing
            else _page("told.html", refusal.status, message=message)
        )
    code = next(code for kind, code in _TOLD_AS.items() if isinstance(error, kind))
    status, title = PROBLEMS[code]
    return _page("told.html", status, message=title)


def _executions(services: Services, request: Request, fields: Mapping[str, str]) -> Response:
    asker = _signed_in(services, request, fields)
    return _list(Caller(services, asker.principal, request), fields[_PROOF] if asker.proved else "")


def _list(caller: Caller, proof: str) -> Response:
    """Return the page of executions. Its forms carry the session's proof from page to page; without it, the page is
    read-only."""
    services, principal, request = caller.services, caller.principal, caller.request
    access.check(principal, Scope.READ)
    cursor = request.query_params.get("cursor")
    every = "all" in request.query_params and principal.operator
    states = None if "ended" in request.query_params else frozenset(ExecutionState) - TERMINAL_STATES
    try:
        visibility = ALL if every else principal.visibility
        page = services.store.executions(
            ExecutionQuery(visibility=visibility, states=states, limit=_PER_PAGE, cursor=cursor)
        )
    except InvalidCursor:
        return RedirectResponse(HOME, 303, _HEADERS)
    levels = levels_of(caller, page.executions)
    if principal.operator:
        note_look(caller, f"{PREFIX}/executions")
    switches = {name: "1" for name in ("ended", "all") if name in request.query_params}
    more = f"{HOME}?{urlencode({**switches, 'cursor': page.next_cursor})}" if page.next_cursor else ""
    return _page(
        "executions.html",
        principal=principal,
        executions=[(one, _can_change(principal, one, levels), _deadline(one)) for one in page.executions],
        more=more,
        ended="ended" in request.query_params,
        csrf=proof,
        providers=_providers(services),
    )


def _sign_in(services: Services) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        fields = await _fields(request)
        try:
            body = SignIn(**{name: value for name, value in fields.items() if name in SignIn.model_fields and value})
            return await signed_in(body, request, services, lambda user: _entered(services, request, user, body.tenant))
        except ValidationError:
            return _sign_in_page(services, PROBLEMS[Code.BAD_SIGN_IN][1], 401)
        except _TOLD as error:
            return _told(services, error)

    return answer


def _entered(services: Services, request: Request, user: str, tenant: str | None) -> Response:
    """Sign in, and answer with the page itself: a redirect would lose the proof, or put it into a URL."""
    entered = Response()
    proof, principal = sessions.enter(services, request, entered, user, tenant)
    answer = _list(Caller(services, principal, request), proof)
    answer.raw_headers += [header for header in entered.raw_headers if header[0] == b"set-cookie"]
    return answer


def _sign_out(services: Services, request: Request, fields: Mapping[str, str]) -> Response:
    asker = _changing(services, request, fields, "lite_sign_out")
    answer = RedirectResponse(HOME, 303, _HEADERS)
    sessions.end(services.accounts, request, answer, asker)
    return answer


def _cancel(services: Services, request: Request, fields: Mapping[str, str]) -> Response:
    caller = _submitting(services, request, fields, "lite_cancel")
    cancel(caller, request.path_params["execution_id"])
    return _list(caller, fields[_PROOF])


def _accept(services: Services, request: Request, fields: Mapping[str, str]) -> Response:
    caller = _submitting(services, request, fields, "lite_accept")
    offer = request.path_params["offer"]
    number = int(offer) if _NUMBER.fullmatch(offer) else 0  # there is no offer 0
    accept(caller, request.path_params["execution_id"], number)
    return _list(caller, fields[_PROOF])


def _signed_in(services: Services, request: Request, fields: Mapping[str, str]) -> sessions.Asker:
    asker = sessions.require(services.accounts, request, fields.get(_PROOF, ""))
    access.asked_by(request, asker.principal)
    return asker


def _changing(services: Services, request: Request, fields: Mapping[str, str], action: str) -> sessions.Asker:
    """Return the client that requests a change with a form; the change is recorded before it is made."""
    asker = _signed_in(services, request, fields)
    request.state.audit_id = services.accounts.add_audit(access.entry(asker.principal, request, action))
    sessions.check_proved(asker)
    return asker


def _submitting(services: Services, request: Request, fields: Mapping[str, str], action: str) -> Caller:
    """Return the client that changes an execution with a form; 403 without the scope."""
    principal = _changing(services, request, fields, action).principal
    access.check(principal, Scope.SUBMIT)
    return Caller(services, principal, request)


def _deadline(execution: Execution) -> str:
    """Return when the deadline is, and how the execution stands to it; empty without one."""
    view = deadline_view(execution)
    if view is None:
        return ""
    cause = "" if view.cause is None else f" ({view.cause.replace('_', ' ')})"
    status = "" if view.status is None else f", {view.status.replace('_', ' ')}{cause}"
    return f"{_clock(view.at_s)}{status}"


def _clock(at_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at_s))


def _can_change(principal: Principal, execution: Execution, levels: Mapping[ExecutionId, ShareLevel]) -> bool:
    ends = execution.terminal or execution.state is ExecutionState.STOPPING
    return Scope.SUBMIT in principal.scopes and not ends and levels[execution.id] is ShareLevel.CONTROL


def _sign_in_page(services: Services, message: str, status: int) -> Response:
    message = "" if message.startswith(PROBLEMS[Code.NO_TOKEN][1]) else message
    return _page("sign_in.html", status if message else 200, message=message, providers=_providers(services))


def _providers(services: Services) -> list[str]:
    return [LOCAL, *services.settings.ldap]


def _page(template: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(_TEMPLATES.get_template(template).render(**values), status, _HEADERS)


_TEMPLATES.filters["clock"] = _clock
_TEMPLATES.filters["promise"] = promise_sentence
_TEMPLATES.filters["offers"] = offer_sentences
