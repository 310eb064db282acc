"""Sign-in of machines: codes, tokens, and limits on guesses."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from tests.support.plain_api import REQUEST_ID, TENANT, USER, caller_of, person, refusal, request, services
from zoe_api.http.attempts.guess_limit import TooManyGuesses
from zoe_api.http.problems.codes import Code
from zoe_api.people import machines
from zoe_client.wire import MachineDecision, MachineRequest, MachineSecret
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.errors import ConcurrentUpdate, NotFound, TooManyWaiting
from zoe_lib.store.people import MachineSignIn, Token
from zoe_lib.store.sql.accounts.waiting import WaitingBounds
from zoe_lib.submission.ids import hash_of
from zoe_lib.tokens.api_tokens import TokenText

BROWSER = person(session_id="s")


class Waiting:
    """The accounts' table of waiting machines."""

    def __init__(self, made: Any) -> None:
        self.asked: list[tuple[MachineSignIn, WaitingBounds]] = []
        self.taken = 0
        self.error: Exception | None = None
        self.decided: list[tuple[str, str | None]] = []
        self.redeemed: Any = None
        for name in ("ask_for_machine", "machine_sign_in", "decide_machine", "redeem_machine"):
            setattr(made.accounts, name, getattr(self, name))

    def ask_for_machine(self, wanted: MachineSignIn, bounds: WaitingBounds) -> None:
        if self.error is not None:
            raise self.error
        if self.taken:
            self.taken -= 1
            raise ConcurrentUpdate("taken")
        self.asked.append((wanted, bounds))

    def machine_sign_in(self, code: str, now_s: float) -> MachineSignIn | None:
        return next((entry for entry, *_ in self.asked if entry.code == code), None)

    def decide_machine(self, code: str, session_id: str | None, now_s: float) -> None:
        self.decided.append((code, session_id))

    def redeem_machine(self, token: Token, machine: str, now_s: float) -> Any:
        self.token = token
        return self.redeemed


def there() -> tuple[Any, Waiting]:
    made = services(session_token_lifetime_s_max=1000.0)
    return made, Waiting(made)


def ask(made: Any, **body: Any) -> Any:
    return machines.ask_for_machine(MachineRequest(machine="laptop", **body), request(client="2001:db8::7"), made)


def test_a_machine_shows_a_code_and_keeps_a_secret() -> None:
    made, waiting = there()
    told = ask(made, scopes=["read"], lifetime_s=60.0)
    ((wanted, bounds),) = waiting.asked
    assert bounds == WaitingBounds(100, 10_000)
    assert told.code == f"{wanted.code[:4]}-{wanted.code[4:]}"
    assert set(wanted.code) <= set("BCDFGHJKLMNPQRSTVWXZ")
    assert len(wanted.code) == 8
    assert wanted.id == hash_of(told.secret)
    assert (wanted.machine, wanted.address, wanted.network) == ("laptop", "2001:db8::7", "2001:db8::/64")
    assert (wanted.scopes, wanted.lifetime_s) == ({Scope.READ}, 60.0)
    assert wanted.expires_at_s - wanted.asked_at_s == told.expires_in_s == 600
    assert (told.path, told.interval_s) == ("/machine", 2.0)


@pytest.mark.parametrize(("taken", "works"), [(4, True), (5, False)])
def test_another_code_is_tried_if_one_is_taken(taken: int, works: bool) -> None:
    made, waiting = there()
    waiting.taken = taken
    if works:
        ask(made)
        return
    with refusal(Code.SIGN_IN_BUSY):
        ask(made)


def test_too_many_machines_are_refused() -> None:
    made, waiting = there()
    waiting.error = TooManyWaiting("ten wait")
    with refusal(Code.SIGN_IN_BUSY) as found:
        ask(made)
    assert found.problem.detail == "ten wait"


def redeem(made: Any) -> Any:
    return machines.get_machine_token(MachineSecret(secret="x"), request(), made)


def test_a_token_is_told_once_it_is_allowed_and_recorded() -> None:
    made, waiting = there()
    with pytest.raises(NotFound):
        redeem(made)
    waiting.redeemed = MachineSignIn("i", "c", "m", "a", "n", frozenset(), None, 0.0, 1.0)
    assert (redeem(made).state, redeem(made).token) == ("waiting", None)
    waiting.redeemed = replace(waiting.redeemed, refused=True)
    assert redeem(made).state == "refused"
    waiting.redeemed = Token("t9", USER, TENANT, "h", frozenset({"read"}), 0.0, note="laptop")
    told = redeem(made)
    text = TokenText.read(told.token)
    assert text is not None
    assert (told.state, waiting.token.id, waiting.token.secret_hash) == ("allowed", text.id, text.secret_hash)
    assert waiting.token.expires_at_s == pytest.approx(time.time() + 1000, abs=60)
    (entry,) = made.accounts.entries
    assert (entry.user, entry.tenant, entry.by, entry.target) == (USER, TENANT, "t9", "laptop")
    assert (entry.action, entry.status, entry.request_id) == ("get_machine_token", 200, REQUEST_ID)


def test_a_user_sees_what_a_machine_would_get() -> None:
    made, _ = there()
    code = ask(made, scopes=["read", "operate"], lifetime_s=60.0).code
    told = machines.get_machine(code.lower().replace("-", " "), caller_of(made, BROWSER, request(client="2001:db8::8")))
    assert (told.code, told.machine, told.address, told.same_network) == (code, "laptop", "2001:db8::7", True)
    assert told.scopes == ["read"]
    assert told.token_expires_at_s == pytest.approx(time.time() + 60, abs=30)
    assert not machines.get_machine(code, caller_of(made, BROWSER, request(client="192.0.2.1"))).same_network


@pytest.mark.parametrize(("lifetime_s", "ends_in_s"), [(None, 1000), (999.0, 999), (1001.0, 1000)])
def test_a_token_of_a_machine_always_ends(lifetime_s: float | None, ends_in_s: float) -> None:
    made, waiting = there()
    ask(made, lifetime_s=lifetime_s)
    assert machines._end_of(waiting.asked[0][0], made) == pytest.approx(time.time() + ends_in_s, abs=30)


def decide(made: Any, code: str, allow: bool) -> None:
    machines.decide_on_machine(code, MachineDecision(allow=allow), caller_of(made, BROWSER))


def test_a_user_allows_or_refuses() -> None:
    made, waiting = there()
    code = ask(made).code
    decide(made, code, True)
    decide(made, code, False)
    plain = code.replace("-", "")
    assert waiting.decided == [(plain, "s"), (plain, None)]
    other = ask(made, scopes=["admin"]).code
    with refusal(Code.ROLE_MISSING) as found:
        decide(made, other, True)
    assert found.problem.detail == "your role has none of: admin"
    decide(made, other, False)


def test_wrong_codes_are_counted_before_they_are_looked_up() -> None:
    made, _ = there()
    right = ask(made).code
    for _ in range(9):
        with pytest.raises(NotFound):
            decide(made, "wrong", True)
    decide(made, right, True)
    with pytest.raises(NotFound):
        decide(made, "wrong", True)
    with pytest.raises(TooManyGuesses) as braked:
        decide(made, right, True)
    assert braked.value.problem.retry_after_s == 300
    keys, limits, now_s = made.accounts.taken[-1]
    assert [(now_s - since_s, most) for since_s, most in limits.values()] == [(pytest.approx(300), 10)]
    assert list(keys) == list(limits)
