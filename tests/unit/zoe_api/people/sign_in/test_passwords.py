"""Hashes of passwords are as strong as RFC 9106 asks where memory is short."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from tests.support.plain_api import Accounts, refusal
from zoe_api.http.attempts.guess_limit import Brake
from zoe_api.http.problems.codes import Code
from zoe_api.people.sign_in import passwords


def test_hashes_are_argon2id_of_full_strength_and_salted() -> None:
    first, second = passwords.hash_password("correct horse"), passwords.hash_password("correct horse")
    told = extract_parameters(first)
    assert (told.type, told.time_cost >= 3, told.memory_cost >= 65536) == (Type.ID, True, True)
    assert first != second
    assert "correct" not in first


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def accounts(**of_user: object) -> Accounts:
    made = Accounts()
    made.add_member("ada", **{"password_hash": passwords.hash_password("correct horse"), **of_user})
    return made


def test_only_the_right_password_of_a_user_who_may_sign_in_is_right(cheap: None) -> None:
    assert passwords.user_with_password(accounts(), "ada", "correct horse") == "ada"
    assert passwords.user_with_password(accounts(), "ada", "wrong horse") is None
    assert passwords.user_with_password(accounts(disabled=True), "ada", "correct horse") is None
    assert passwords.user_with_password(accounts(password_hash=None), "ada", "nobody's password") is None
    assert passwords.user_with_password(accounts(password_hash="broken"), "ada", "correct horse") is None
    assert passwords.user_with_password(accounts(), "eve", "nobody's password") is None


def test_a_wrong_guess_stays_counted_and_a_right_one_is_given_back(cheap: None) -> None:
    made = accounts()
    with refusal(Code.BAD_SIGN_IN):
        passwords.verify(made, "ada", "wrong", "192.0.2.7")
    assert (made.guesses.total(), made.given_back) == (3, [])
    passwords.verify(made, "ada", "correct horse", "192.0.2.7")
    assert made.guesses.total() == 3
    assert Brake(passwords.LOCAL, "ada", "192.0.2.7").is_familiar(made)


def test_a_check_without_a_result_is_given_back() -> None:
    made = Accounts()
    brake = Brake("ldap", "ada", "192.0.2.7")
    with pytest.raises(ZeroDivisionError):
        passwords.guess(made, brake, lambda: 1 // 0)
    assert made.guesses.total() == 0
    assert not brake.is_familiar(made)
