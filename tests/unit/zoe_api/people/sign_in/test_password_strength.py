"""Passwords that are easy to guess."""

from __future__ import annotations

import pytest

from tests.support.plain_api import USER, refusal, services
from zoe_api.http.problems.codes import Code
from zoe_api.people.sign_in.password_strength import check_strength, own_words


def there() -> object:
    made = services(public_url="https://data.winterthal.example", apps_domain="apps.winterthal.example")
    made.accounts.add_member(USER, "iostack")
    return made


@pytest.mark.parametrize("password", ["violin tractor pebble ocean", "xK9#mQ2$vL7!pR4", "gravel-umbra-fjord-lantern"])
def test_long_and_unrelated_words_pass(password: str) -> None:
    check_strength(password, USER, there(), "password")


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("8273645091827364", "only digits"),
        ("8273-6450_9182 7364", "only digits"),
        ("password123", "common"),
        ("Winterthal2026", "common"),
        ("iostack-iostack", "common"),
        ("qwertyuiop", "common"),
        ("Dragon2024!", "common"),
        ("zoe-ada-iostack", "common"),
    ],
)
def test_easily_guessed_password_is_refused(password: str, why: str) -> None:
    with refusal(Code.INVALID_REQUEST) as found:
        check_strength(password, USER, there(), "new")
    (error,) = found.problem.errors
    assert (error.pointer, error.code) == ("/body/new", "weak_password")
    assert error.message.startswith(f"the password is {why}")
    assert found.problem.detail == error.message


def test_names_that_all_users_know_are_words_with_three_letters_and_more() -> None:
    words = own_words("ada-lovelace", there())
    assert {"zoe", "ada-lovelace", "ada", "lovelace", "iostack", "winterthal", "apps.winterthal.example"} <= set(words)
    assert all(len(word) >= 3 for word in words)
    assert list(words) == sorted(words)
