"""Hashes of passwords are as strong as RFC 9106 asks where memory is short."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import pytest
from argon2 import Type, extract_parameters

from tests.support.api import in_threads
from tests.support.waiting import until
from zoe_api import passwords
from zoe_api.codes import Code
from zoe_api.problems import ApiProblem
from zoe_lib.store.memory import MemoryStore

AT_A_TIME = 30
Check = Callable[[], None]


def guesses(store: MemoryStore, check: Check) -> Callable[[int], str]:
    """What somebody is told who guesses."""

    def guess(_: int) -> str:
        with pytest.raises(ApiProblem) as refused:
            passwords.guess(store, "local", "mia", "192.0.2.1", check)
        return refused.value.problem.code

    return guess


def test_hashes_are_argon2id_of_full_strength_and_salted() -> None:
    first, second = passwords.hashed("correct horse"), passwords.hashed("correct horse")
    told = extract_parameters(first)
    assert (told.type, told.time_cost >= 3, told.memory_cost >= 65536) == (Type.ID, True, True)
    assert first != second
    assert "correct" not in first


def test_guesses_beside_each_other_do_not_pass_the_brake() -> None:
    checked: list[None] = []
    told = Counter(in_threads(AT_A_TIME, guesses(MemoryStore(), lambda: checked.append(None))))
    assert told[Code.BAD_SIGN_IN] == len(checked)
    assert passwords.FAILURES_OF_PAIR_MAX <= len(checked) < passwords.FAILURES_OF_PAIR_MAX + passwords.AT_ONCE_MAX
    assert told[Code.TOO_MANY_SIGN_INS] == AT_A_TIME - len(checked)


def test_few_passwords_are_checked_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "WAIT_S", 0.01)
    inside: list[None] = []
    told: list[str] = []
    released = threading.Event()

    def check() -> None:
        inside.append(None)
        released.wait(60)

    guess = guesses(MemoryStore(), check)
    threads = [threading.Thread(target=lambda: told.append(guess(0))) for _ in range(AT_A_TIME)]
    for thread in threads:
        thread.start()
    until(lambda: len(inside) + len(told) == AT_A_TIME)
    assert (len(inside), set(told)) == (passwords.AT_ONCE_MAX, {Code.SIGN_IN_BUSY})
    released.set()
    for thread in threads:
        thread.join()
    assert Counter(told)[Code.BAD_SIGN_IN] == passwords.AT_ONCE_MAX
