"""Counting of failed sign-ins, and the users whom the brake delays."""

from __future__ import annotations

import time

import pytest

from zoe_api.http.attempts.guess_limit import (
    FAILURES_OF_NETWORK_MAX,
    FAILURES_OF_PAIR_MAX,
    FAILURES_OF_USER_MAX,
    USER_WITHIN_S,
    Brake,
    network_of,
)
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in import passwords
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore


class Guesses:
    """Sign-ins at one store, of which only those with the right password succeed."""

    def __init__(self, accounts: AccountStore) -> None:
        self.accounts = accounts
        self.checked = 0

    def guess(self, address: str, user: str = "mia", right: bool = False) -> str:
        """Return the code of the refusal, `in` without one."""

        def check() -> str | None:
            self.checked += 1
            return user if right else None

        try:
            passwords.guess(self.accounts, Brake("local", user, network_of(address)), check)
        except ApiProblem as refusal:
            return refusal.problem.code
        return "in"


@pytest.fixture
def guesses(store: PostgresStore) -> Guesses:
    return Guesses(store.accounts)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("no address", "no address"),
    ],
)
def test_addresses_of_one_machine_are_one_network(address: str, network: str) -> None:
    assert network_of(address) == network


def test_addresses_of_one_ipv6_network_share_their_guesses(guesses: Guesses) -> None:
    for number in range(FAILURES_OF_PAIR_MAX):
        assert guesses.guess(f"2001:db8::{number + 1:x}") == Code.BAD_SIGN_IN
    assert guesses.guess("2001:db8::ffff", right=True) == Code.TOO_MANY_SIGN_INS
    assert guesses.guess("2001:db8:0:1::1", right=True) == "in"
    assert guesses.checked == FAILURES_OF_PAIR_MAX + 1


def test_one_network_tries_no_thousand_names(guesses: Guesses) -> None:
    for number in range(FAILURES_OF_NETWORK_MAX):
        assert guesses.guess("192.0.2.1", f"user-{number}") == Code.BAD_SIGN_IN
    assert guesses.guess("192.0.2.1", "another", right=True) == Code.TOO_MANY_SIGN_INS


def test_guesses_at_one_user_are_bounded_over_all_networks(guesses: Guesses) -> None:
    told = [guesses.guess(f"10.0.{number}.1") for number in range(2 * FAILURES_OF_USER_MAX)]
    assert told.count(Code.BAD_SIGN_IN) == guesses.checked == FAILURES_OF_USER_MAX
    assert told.count(Code.TOO_MANY_SIGN_INS) == FAILURES_OF_USER_MAX
    assert guesses.guess("10.1.0.1", "ben", right=True) == "in"


def test_strangers_do_not_lock_a_user_out_of_a_familiar_network(guesses: Guesses) -> None:
    assert guesses.guess("2001:db8::1", right=True) == "in"
    for number in range(FAILURES_OF_USER_MAX):
        guesses.guess(f"10.0.{number}.1")
    assert guesses.guess("10.1.0.1", right=True) == Code.TOO_MANY_SIGN_INS
    assert guesses.guess("2001:db8::2", right=True) == "in"
    for _ in range(FAILURES_OF_PAIR_MAX):
        assert guesses.guess("2001:db8::1") == Code.BAD_SIGN_IN
    assert guesses.guess("2001:db8::1", right=True) == Code.TOO_MANY_SIGN_INS


def test_failures_of_others_at_a_familiar_network_do_not_count_for_its_users(guesses: Guesses) -> None:
    assert guesses.guess("192.0.2.1", right=True) == "in"
    for number in range(FAILURES_OF_NETWORK_MAX):
        guesses.guess("192.0.2.1", f"user-{number}")
    assert guesses.guess("192.0.2.1", "ben", right=True) == Code.TOO_MANY_SIGN_INS
    assert guesses.guess("192.0.2.1", right=True) == "in"
    for _ in range(FAILURES_OF_PAIR_MAX):
        assert guesses.guess("192.0.2.1") == Code.BAD_SIGN_IN
    assert guesses.guess("192.0.2.1", right=True) == Code.TOO_MANY_SIGN_INS


def test_right_password_or_failed_provider_counts_as_no_failure(guesses: Guesses) -> None:
    def away() -> None:
        raise ApiProblem(Code.PROVIDER_UNAVAILABLE)

    for _ in range(2 * FAILURES_OF_PAIR_MAX):
        assert guesses.guess("192.0.2.1", right=True) == "in"
        with pytest.raises(ApiProblem, match="provider_unavailable"):
            passwords.guess(guesses.accounts, Brake("local", "mia", "192.0.2.1"), away)


def test_the_brake_on_a_user_lets_go(guesses: Guesses) -> None:
    brake = Brake("local", "mia", "192.0.2.1")
    for _ in range(FAILURES_OF_USER_MAX):
        guesses.accounts.add_failure(brake.everywhere, time.time() - USER_WITHIN_S - 1)
    assert guesses.guess("192.0.2.1", right=True) == "in"


def test_familiarity_takes_one_mark_for_many_sign_ins(guesses: Guesses) -> None:
    for _ in range(5):
        guesses.guess("192.0.2.1", right=True)
    kept = guesses.accounts.failures([Brake("local", "mia", "192.0.2.1")._familiar], 0.0)
    assert list(kept.values()) == [1]
