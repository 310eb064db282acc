"""The execution to compare with."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import PEER, TENANT, caller_of, person, request, services
from zoe_api.executions import diff_routes as diffs
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.store.errors import NotFound


def there(*stored: Any) -> Any:
    made = services(*stored)
    made.store.use_of = lambda *_: []
    return made


def compared(made: Any, principal: Any = None, **given: Any) -> Any:
    return diffs.diff_executions("execution-0009", caller_of(made, principal or person(), request()), **given)


LATER = execution(9, name="x")


def test_the_one_before_has_the_same_name_user_and_tenant() -> None:
    others = [
        execution(8, name="xx"),
        execution(7, name="X"),
        execution(6, name="x", user=PEER),
        execution(3, name="x"),
    ]
    told = compared(there(LATER, execution(5, name="x"), execution(10, name="x"), *others))
    assert (told.before, told.after) == ("execution-0005", "execution-0009")


def test_without_one_before_nothing_is_compared() -> None:
    told = compared(there(LATER, execution(10, name="x")))
    assert (told.before, told.entries, told.hidden) == (None, [], False)


def test_another_one_can_be_named_if_it_is_visible() -> None:
    theirs = execution(1, user=PEER)
    made = there(LATER, theirs, execution(2))
    assert compared(made, earlier="execution-0002").before == "execution-0002"
    with pytest.raises(NotFound):
        compared(made, earlier=theirs.id)
    made.accounts.shared[theirs.id, TENANT, "ada"] = ShareLevel.LOOK
    assert compared(made, earlier=theirs.id).hidden
