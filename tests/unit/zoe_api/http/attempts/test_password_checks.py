"""Password checks: their lanes, and refusals before any hashing."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

import pytest

from tests.support.plain_api import Accounts, refusal, run
from zoe_api.http.attempts import password_checks
from zoe_api.http.attempts.guess_limit import Brake, TooManyGuesses
from zoe_api.http.attempts.lane import NoPlace
from zoe_api.http.attempts.password_checks import PasswordChecks
from zoe_api.http.problems.codes import Code

ADA = Brake("local", "ada", "192.0.2.7")


class HereLane:
    """A lane that runs its tasks at once."""

    made: dict[str, tuple[int, int, int]]

    def __init__(self, name: str, *bounds: int) -> None:
        self.name, self.is_busy, self.full, self.inside = name, False, False, 0
        self.made[name] = (bounds[0], bounds[1], bounds[2])
        self.networks: list[str] = []

    def submit(self, network: str, work: Any) -> Future[Any]:
        if self.full:
            raise NoPlace
        self.networks.append(network)
        future: Future[Any] = Future()
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        return None


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> PasswordChecks:
    monkeypatch.setattr(HereLane, "made", {}, raising=False)
    monkeypatch.setattr(password_checks, "Lane", HereLane)
    return PasswordChecks()


def familiar() -> Accounts:
    accounts = Accounts()
    accounts.marks[ADA._familiar] = [time.time()]
    return accounts


def checked(checks: PasswordChecks, accounts: Accounts | None = None, work: Any = lambda: "yes") -> Any:
    return run(checks.run(ADA, accounts or Accounts(), work))


def braked() -> Any:
    raise TooManyGuesses(ADA.pair, 300)


def test_a_check_runs_in_the_lane_of_its_provider(checks: PasswordChecks) -> None:
    assert checked(checks) == "yes"
    lane: Any = checks.lane("local")
    assert lane.networks == ["192.0.2.7"]
    checks.lane("local familiar")
    assert HereLane.made == {
        "familiar": (2, 64, 8),
        "passwords-local": (4, 36, 16),
        "passwords-local familiar": (2, 36, 16),
    }
    assert checks.lane("local") is lane
    checks.close()
    assert checks.lane("local") is not lane


def test_a_familiar_user_has_another_lane_while_the_first_is_busy(checks: PasswordChecks) -> None:
    lane: Any = checks.lane("local")
    lane.is_busy = True
    checked(checks, familiar())
    other: Any = checks.lane("local familiar")
    assert (lane.networks, other.networks) == ([], ["192.0.2.7"])
    checked(checks, Accounts())
    assert lane.networks == ["192.0.2.7"]
    lane.is_busy = False
    checked(checks, familiar())
    assert len(lane.networks) == 2


def test_braked_sign_in_is_remembered_and_not_checked_again(checks: PasswordChecks) -> None:
    with pytest.raises(TooManyGuesses):
        checked(checks, work=braked)
    worked: list[int] = []
    with refusal(Code.TOO_MANY_SIGN_INS):
        checked(checks, familiar(), lambda: worked.append(1))
    assert worked == []
    checks._braked[ADA.pair] = time.monotonic() - 0.001, time.monotonic() + 60
    assert checked(checks) == "yes"


def test_a_braked_network_lets_familiar_users_through(checks: PasswordChecks) -> None:
    checks._remember(TooManyGuesses(ADA.place, 60))
    with refusal(Code.TOO_MANY_SIGN_INS):
        checked(checks)
    assert checked(checks, familiar()) == "yes"
    looks: Any = checks._looks
    looks.full = True
    with refusal(Code.TOO_MANY_SIGN_INS):
        checked(checks, familiar())


def test_without_a_place_a_check_is_refused(checks: PasswordChecks) -> None:
    lane: Any = checks.lane("local")
    lane.full = True
    with refusal(Code.SIGN_IN_BUSY):
        checked(checks)


def test_remembered_brakes_are_bounded(checks: PasswordChecks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_checks, "_REMEMBERED_MAX", 2)
    for key in ("a", "b", "c"):
        checks._remember(TooManyGuesses(key, 60))
    assert [checks._braked_s(key) is None for key in ("a", "b", "c")] == [True, True, False]
    until_s, ends_s = checks._braked["c"]
    assert (9 < until_s - time.monotonic() <= 10, 59 < ends_s - time.monotonic() <= 60) == (True, True)
