"""Permission to open a terminal, and its proof."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import PEER, TENANT, USER, after, refusal, request, services
from tests.support.scheduling import started
from zoe_api.http.problems.codes import Code
from zoe_api.terminals import routes as terminals
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.store.people import Session, Token
from zoe_lib.submission.ids import hash_of
from zoe_lib.tokens.api_tokens import TokenText

ONE = started(after(execution(1), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0)), "n1", "n1", "n1", "n1")
SERVICE = ONE.services[0].id
TEXT, COOKIE = TokenText("t", "secret"), "a" * 43


def there(user: str = USER, role: str = "user", scopes: frozenset[str] = frozenset(Scope), **settings: Any) -> Any:
    made = services(ONE, **settings)
    made.accounts.add_member(user, role=role)
    made.accounts.add_token(Token("t", user, TENANT, TEXT.secret_hash, scopes, 0.0))
    made.accounts.add_session(Session(hash_of(COOKIE), user, TENANT, 0.0, time.time() + 60, hash_of("proof")))
    return made


def checked(
    made: Any, headers: dict[str, str] | None = None, protocols: tuple[str, ...] = (), service: str = SERVICE
) -> Any:
    given = {"authorization": f"Bearer {TEXT}"} if headers is None else headers
    client = request(headers=given, services=made)
    client.scope["subprotocols"] = list(protocols)
    client.scope["app"] = SimpleNamespace(state=SimpleNamespace(services=made))
    return terminals._check_request(client, ONE.id, service)


def test_the_owner_opens_a_terminal_by_a_token() -> None:
    opening = checked(there())
    assert (opening.caller.user, opening.execution.id, opening.service_id) == (USER, ONE.id, SERVICE)
    assert checked(there(), {"authorization": f"bearer  {TEXT} "}).caller.user == USER
    with refusal(Code.BAD_TOKEN):
        checked(there(), {"authorization": "Bearer zoe_t_wrong"})


def test_a_page_sends_its_proof_as_a_subprotocol() -> None:
    cookie = {"cookie": f"zoe-session={COOKIE}"}
    assert checked(there(), cookie, ("zoe-terminal", "proof")).caller.principal.session_id == hash_of(COOKIE)
    for protocols in ((), ("zoe-terminal",), ("wrong", "proof")):
        with refusal(Code.CSRF_TOKEN_MISSING):
            checked(there(), cookie, protocols)
    with refusal(Code.NO_TOKEN):
        checked(there(), {})


@pytest.mark.parametrize(
    ("user", "role", "given", "code"),
    [
        (PEER, "user", ShareLevel.CONTROL, None),
        (PEER, "user", ShareLevel.OPEN, Code.SHARE_TOO_LOW),
        (PEER, "user", None, Code.NOT_FOUND),
        ("olga", "operator", None, Code.SHARE_TOO_LOW),
        (USER, "viewer", None, Code.ROLE_MISSING),
    ],
)
def test_a_terminal_takes_the_level_to_control(user: str, role: str, given: Any, code: Code | None) -> None:
    made = there(user, role)
    if given is not None:
        made.accounts.shared[ONE.id, TENANT, user] = given
    if code is None:
        assert checked(made).still_allowed() is True
        made.accounts.shared.clear()
        return
    with refusal(code):
        checked(made)


def test_an_operator_keeps_a_terminal_only_as_long_as_it_is_shared() -> None:
    made = there("olga", "operator")
    made.accounts.shared[ONE.id, TENANT, "olga"] = ShareLevel.CONTROL
    opening = checked(made)
    assert opening.still_allowed() is True
    made.accounts.shared.clear()
    assert opening.still_allowed() is False


def test_a_token_that_only_reads_opens_none() -> None:
    with refusal(Code.SCOPE_MISSING):
        checked(there(scopes=frozenset({"read"})))


def test_pages_of_other_origins_open_none() -> None:
    origin = {"authorization": f"Bearer {TEXT}", "origin": "http://evil.example"}
    with refusal(Code.FOREIGN_ORIGIN):
        checked(there(), origin)
    assert checked(there(), {**origin, "origin": "http://zoe.example"})
    assert checked(there(public_url="https://zoe.example"), {**origin, "origin": "https://zoe.example"})


def test_a_service_has_to_run() -> None:
    with refusal(Code.NOT_FOUND):
        checked(there(), service="none")
    made = there()
    ended = after(ONE, ev.ServiceEnded(at_s=3.0, service_id=SERVICE, cause="exited"))
    made.store._state.put(ended)
    with refusal(Code.NOT_FOUND) as found:
        checked(made)
    assert "has no running service" in found.problem.detail
