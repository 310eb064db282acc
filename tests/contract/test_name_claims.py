"""Contract of the store of accounts on claims of names."""

from __future__ import annotations

import pytest

from tests.support.api import in_threads
from tests.support.stores import OpenAccounts
from zoe_lib.store.errors import ConcurrentUpdate


def test_a_name_is_claimed_once_until_it_is_released_or_expires(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    accounts.claim_names(["a", "b"], "one", 0.0, 10.0)
    for ids in (["a"], ["c", "b"]):
        with pytest.raises(ConcurrentUpdate):
            accounts.claim_names(ids, "two", 9.0, 19.0)
    accounts.claim_names(["c"], "three", 9.0, 19.0)  # the refused call claimed nothing
    accounts.claim_names(["b", "b"], "two", 10.0, 20.0)
    accounts.release_names("one")
    with pytest.raises(ConcurrentUpdate):
        accounts.claim_names(["b"], "four", 11.0, 21.0)
    accounts.release_names("two")
    accounts.claim_names(["b"], "four", 11.0, 21.0)


def test_of_claims_at_the_same_moment_one_succeeds(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()

    def claims(number: int) -> bool:
        try:
            accounts.claim_names(["x", "y"] if number % 2 else ["y", "x"], str(number), 0.0, 10.0)
        except ConcurrentUpdate:
            return False
        return True

    assert in_threads(8, claims).count(True) == 1
