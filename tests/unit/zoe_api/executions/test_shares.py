"""Creating and ending shares."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import PEER, TENANT, USER, caller_of, operator, person, refusal, request, services
from zoe_api.executions import shares
from zoe_api.http.problems.codes import Code
from zoe_client.wire import ShareRequest
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.store.errors import NotFound, TooManyShares
from zoe_lib.store.people import Principal, Share

ONE = execution(1)


def there() -> Any:
    made = services(ONE)
    made.accounts.shared[ONE.id, TENANT, PEER] = ShareLevel.CONTROL
    made.accounts.given = []
    made.accounts.share = made.accounts.given.append
    made.accounts.end_share = lambda *given: made.accounts.given.append(given)
    made.accounts.shares = lambda _: [Share(ONE.id, TENANT, USER, PEER, ShareLevel.CONTROL, 1.0)]
    return made


def share(made: Any, principal: Principal, user: str | None = PEER) -> Any:
    return shares.share_execution(ONE.id, ShareRequest(user=user, level="open"), caller_of(made, principal, request()))


@pytest.mark.parametrize("user", [PEER, None])
def test_an_owner_shares_with_a_user_or_with_the_tenant(user: str | None) -> None:
    made = there()
    told = share(made, person(), user)
    (given,) = made.accounts.given
    assert (given.execution_id, given.tenant, given.owner, given.user, given.level) == (
        ONE.id,
        TENANT,
        USER,
        user,
        "open",
    )
    assert (told.user, told.level, told.at_s) == (user, "open", given.at_s)


@pytest.mark.parametrize("principal", [person(PEER), operator()])
def test_only_the_owner_shares(principal: Principal) -> None:
    made = there()
    with refusal(Code.SHARE_TOO_LOW):
        share(made, principal)
    assert made.accounts.given == []


def test_share_with_oneself_or_beyond_the_bound_is_refused() -> None:
    made = there()
    with refusal(Code.INVALID_REQUEST):
        share(made, person(), USER)

    def full(_: Share) -> None:
        raise TooManyShares("a hundred")

    made.accounts.share = full
    with refusal(Code.TOO_MANY_SHARES):
        share(made, person())


@pytest.mark.parametrize(("principal", "allowed"), [(person(), True), (operator(), True), (person(PEER), False)])
def test_owners_and_operators_see_and_end_shares(principal: Principal, allowed: bool) -> None:
    made = there()
    if allowed:
        assert [share.user for share in shares.list_shares(ONE.id, caller_of(made, principal, request())).shares] == [
            PEER
        ]
        shares.end_share(ONE.id, caller_of(made, principal, request()), PEER)
        assert made.accounts.given == [(ONE.id, PEER)]
        return
    for work in (shares.list_shares, shares.end_share):
        with refusal(Code.SHARE_TOO_LOW):
            work(ONE.id, caller_of(made, principal, request()))  # type: ignore[operator]
    with pytest.raises(NotFound):
        shares.list_shares(ONE.id, caller_of(made, person("eve"), request()))
