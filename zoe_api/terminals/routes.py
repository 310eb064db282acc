"""Terminals in running services."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import structlog
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from zoe_api.access import sessions
from zoe_api.access.access import check, entry, known_by_token
from zoe_api.access.visibility import confirmed_visible, entered_execution
from zoe_api.http.origins import foreign, origin_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, from_master, problem_response
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller, Services, stream_place
from zoe_api.terminals import bridge
from zoe_client.wire import TerminalOpening
from zoe_client.words.plain_errors import sentences
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.store.errors import NotFound, StoreUnavailable
from zoe_lib.store.people import Principal

log = structlog.get_logger(__name__)
router = api_router("/executions/{execution_id}/services/{service_id}", tag="executions")
SUBPROTOCOL = "zoe-terminal"
_OPENING_S = 10.0


@dataclass(frozen=True, slots=True)
class _TerminalOpening:
    """A checked request to open a terminal: client and service."""

    client: WebSocket
    caller: Caller
    execution: Execution
    service_id: str

    def still_allowed(self) -> bool | None:
        return confirmed_visible(self.caller, self.execution, ShareLevel.CONTROL)


@router.websocket("/terminal")
async def open_terminal(client: WebSocket, execution_id: str, service_id: str) -> None:
    """Run a command in a service: for the owner, and for users with a share at level `control`; operators have no
    exception.
    """
    client.state.request_id = f"req-{uuid4().hex[:16]}"
    try:
        opening = await run_in_threadpool(_check_request, client, execution_id, service_id)
        with stream_place(opening.caller):
            await client.accept(SUBPROTOCOL if SUBPROTOCOL in client.scope["subprotocols"] else None)
            await _serve(opening)
    except ApiProblem as refused:
        await _refuse(client, refused)
    except StoreUnavailable:
        await _refuse(client, ApiProblem(Code.DATABASE_UNAVAILABLE))
    except MasterUnreachable:
        await _refuse(client, ApiProblem(Code.MASTER_UNREACHABLE))
    except OSError:
        await _refuse(client, ApiProblem(Code.NO_TERMINAL, "its process does not answer"))
    except WebSocketDisconnect:
        return


def _check_request(client: WebSocket, execution_id: str, service_id: str) -> _TerminalOpening:
    services: Services = client.app.state.services
    public = services.settings.public_url
    if foreign(client.scope, None if public is None else origin_of(public)):
        raise ApiProblem(Code.FOREIGN_ORIGIN)
    principal = _principal(client, services)
    check(principal, Scope.SUBMIT)
    person = replace(principal, scopes=principal.scopes - {Scope.OPERATE})
    try:
        execution = entered_execution(Caller(services, principal, client), execution_id, ShareLevel.CONTROL)
    except NotFound as unknown:
        raise ApiProblem(Code.NOT_FOUND, str(unknown)) from None
    service = next((service for service in execution.services if service.id == service_id), None)
    if service is None or not service.alive:
        raise ApiProblem(Code.NOT_FOUND, f"execution {execution.id} has no running service {service_id}")
    return _TerminalOpening(client, Caller(services, person, client), execution, service_id)


def _principal(client: WebSocket, services: Services) -> Principal:
    """Return the client of a token or a session; a page sends its proof as a subprotocol, since it can set no other
    header of a WebSocket.
    """
    scheme, _, text = client.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return known_by_token(services.accounts, text.strip()).principal
    proof = next((entry for entry in client.scope["subprotocols"] if entry != SUBPROTOCOL), "")
    asker = sessions.require(services.accounts, client, proof)
    sessions.check_proved(asker)
    return asker.principal


async def _serve(opening: _TerminalOpening, clock: Clock = SYSTEM_CLOCK) -> None:
    wanted = await _first_message(opening.client)
    accounts = opening.caller.services.accounts
    target = opening.client.url.path
    audited = entry(opening.caller.principal, opening.client, "open_terminal", target, 101)
    audit_id = await run_in_threadpool(accounts.add_audit, audited)
    began_s = clock.monotonic_s()
    try:
        reader, writer = await _connect_terminal(opening, wanted)
        await bridge.bridge(
            opening.client,
            reader,
            writer,
            lambda: run_in_threadpool(opening.still_allowed),
            opening.caller.services.stopping,
        )
    finally:
        lasted = {"seconds": [None, round(clock.monotonic_s() - began_s, 1)]}
        # Also when the process stops, which cancels this.
        await asyncio.shield(
            asyncio.ensure_future(run_in_threadpool(_end_audit, opening.caller.services, audit_id, lasted))
        )


async def _connect_terminal(
    opening: _TerminalOpening, wanted: TerminalOpening
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    body = {"service_id": opening.service_id, **wanted.model_dump()}
    request_id = opening.client.state.request_id
    try:
        endpoint = await run_in_threadpool(
            opening.caller.services.master.ask, "terminal", body, request_id, opening.caller.principal.user
        )
    except MasterRefused as refused:
        raise from_master(refused) from None
    host = endpoint["host"] or await run_in_threadpool(opening.caller.services.master.host)
    return await bridge.connect(host, endpoint["port"], endpoint["secret"])


def _end_audit(services: Services, audit_id: int, changes: dict[str, Any]) -> None:
    try:
        services.accounts.end_audit(audit_id, 101, changes)
    except StoreUnavailable:
        log.warning("the end of a terminal is not in the audit log", entry=audit_id)


async def _first_message(client: WebSocket) -> TerminalOpening:
    try:
        async with asyncio.timeout(_OPENING_S):
            event = await client.receive()
        if event["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(event.get("code", 1005))
        return TerminalOpening.model_validate_json(event.get("text") or "null")
    except TimeoutError:
        raise ApiProblem(Code.INVALID_REQUEST, f"no command came within {_OPENING_S:g} s") from None
    except ValidationError as error:
        raise ApiProblem(Code.INVALID_REQUEST, "; ".join(sentences(error))[:500]) from None


async def _refuse(client: WebSocket, refused: ApiProblem) -> None:
    """Answer the handshake with the problem; after it, send the problem as a message, and close."""
    problem = refused.for_path(client.url.path)
    if client.application_state.name == "CONNECTING":
        await problem_response(problem)(client.scope, client.receive, client.send)
        return
    try:
        await client.send_text(problem.model_dump_json())
        await bridge.close(client, bridge.REFUSED, problem.title[:120])
    except (RuntimeError, WebSocketDisconnect):
        return
