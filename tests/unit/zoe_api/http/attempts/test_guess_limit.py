"""Limits on password guesses: for a user at a network, over a network, and over all networks."""

from __future__ import annotations

import time

import pytest

from tests.support.plain_api import Accounts
from zoe_api.http.attempts import guess_limit
from zoe_api.http.attempts.guess_limit import Brake, TooManyGuesses, network_of

ADA = Brake("local", "ada", "192.0.2.7")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::", "2001:db8:0:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("somewhere", "somewhere"),
    ],
)
def test_a_network_is_an_address_or_what_a_subscriber_has_of_ipv6(address: str, network: str) -> None:
    assert network_of(address) == network


def test_keys_differ_by_what_they_count() -> None:
    others = [Brake("ldap", "ada", "192.0.2.7"), Brake("local", "bob", "192.0.2.7"), Brake("local", "ada", "192.0.2.8")]
    keys = [key for other in (ADA, *others) for key in (other.pair, other.everywhere, other._familiar)]
    assert len({*keys}) == 4 + 3 + 4
    assert ADA.everywhere == others[2].everywhere
    assert ADA.place == others[0].place == others[1].place != others[2].place
    assert ADA._familiar not in {ADA.pair, ADA.place, ADA.everywhere}


def test_a_guess_is_counted_before_it_is_checked_and_given_back_if_it_was_right() -> None:
    accounts = Accounts()
    taken_s = ADA.take(accounts)
    ((keys, limits, now_s),) = accounts.taken
    assert list(keys) == [ADA.pair, ADA.place, ADA.everywhere]
    assert now_s == taken_s
    assert {key: (now_s - since_s, most) for key, (since_s, most) in limits.items()} == {
        ADA.pair: (pytest.approx(300), 10),
        ADA.place: (pytest.approx(300), 100),
        ADA.everywhere: (pytest.approx(3600), 100),
    }
    ADA.record_success(accounts, taken_s)
    assert accounts.given_back == [(keys, taken_s)]
    assert accounts.guesses.total() == 0


@pytest.mark.parametrize(
    ("key", "most", "told", "within_s"),
    [(ADA.pair, 10, ADA.pair, 300), (ADA.place, 100, ADA.place, 300), (ADA.everywhere, 100, ADA.pair, 3600)],
)
def test_too_many_failures_are_refused_and_nothing_is_counted(key: str, most: int, told: str, within_s: int) -> None:
    accounts = Accounts()
    accounts.guesses[key] = most - 1
    ADA.take(accounts)
    before = accounts.guesses.copy()
    with pytest.raises(TooManyGuesses) as braked:
        ADA.take(accounts)
    assert accounts.guesses == before
    assert (braked.value.key, braked.value.problem.retry_after_s) == (told, within_s)
    assert braked.value.problem.detail == f"try again in {within_s // 60} minutes"


def test_strangers_do_not_lock_out_a_user_where_that_user_signs_in() -> None:
    accounts = Accounts()
    ADA.record_success(accounts, 1.0)
    assert ADA.is_familiar(accounts)
    assert not Brake("local", "ada", "192.0.2.8").is_familiar(accounts)
    accounts.guesses[ADA.place] = accounts.guesses[ADA.everywhere] = 1000
    ADA.take(accounts)
    accounts.guesses[ADA.pair] = 10
    with pytest.raises(TooManyGuesses):
        ADA.take(accounts)


def test_a_place_stays_familiar_for_four_days_and_is_noted_anew_after_two() -> None:
    accounts, now_s = Accounts(), time.time()
    day_s = 86_400
    accounts.marks[ADA._familiar] = [now_s - 4 * day_s - 60]
    assert not ADA.is_familiar(accounts)
    accounts.marks[ADA._familiar] = [now_s - 4 * day_s + 60]
    assert ADA.is_familiar(accounts)
    ADA.record_success(accounts, 1.0)
    assert len(accounts.marks[ADA._familiar]) == 2
    ADA.record_success(accounts, 1.0)
    assert len(accounts.marks[ADA._familiar]) == 2
    assert 4 * day_s == guess_limit.FAMILIAR_S
