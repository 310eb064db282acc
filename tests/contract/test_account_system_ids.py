"""Numbers of system users and groups: each is given once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.stores import OpenAccounts
from zoe_lib.store.errors import NoSystemIds
from zoe_lib.store.sql.accounts.system_ids import IdKind


def test_a_number_is_given_once_and_stays(open_accounts: OpenAccounts) -> None:
    accounts = open_accounts()
    assert accounts.system_id(IdKind.USER, "ada", 1000, 1002) == 1000
    assert accounts.system_id(IdKind.TENANT, "ada", 1000, 1002) == 1001
    assert accounts.system_id(IdKind.USER, "bob", 1000, 1002) == 1002
    assert open_accounts().system_id(IdKind.USER, "ada", 1000, 1002) == 1000
    with pytest.raises(NoSystemIds, match="user_ids_last"):
        accounts.system_id(IdKind.USER, "eve", 1000, 1002)
    assert accounts.system_id(IdKind.USER, "eve", 2000, 2002) == 2000
    assert accounts.system_id(IdKind.USER, "ada", 2000, 2002) == 1000


def test_processes_never_give_one_number_twice(open_accounts: OpenAccounts) -> None:
    several = [open_accounts() for _ in range(4)]
    names = [f"user{number % 10}" for number in range(80)]
    with ThreadPoolExecutor(8) as pool:
        given = list(
            pool.map(lambda entry: several[entry[0] % 4].system_id(IdKind.USER, entry[1], 1000, 1999), enumerate(names))
        )
    assert dict(zip(names, given, strict=True)) == dict(zip(names[:10], given[:10], strict=True))
    assert sorted(set(given)) == list(range(1000, 1010))
