"""Paths that can be sent, and meanings of the store's statuses."""

from __future__ import annotations

import httpx
import pytest

from tests.support.plain_api import refusal, run
from tests.support.plain_swift import LOGIN, PlainSwift
from zoe_api.http.problems.codes import Code
from zoe_api.services.objects import account
from zoe_api.services.objects.account import StoreRequest, can_be_sent


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ((), True),
        ((b"c", b"a"), True),
        ((b"c", b"..."), True),
        ((b"c", b".a"), True),
        ((b"c", b""), True),
        ((b"c", b".", b"a"), False),
        ((b"c", b".."), False),
    ],
)
def test_a_part_that_is_removed_on_the_way_is_not_sent(path: tuple[bytes, ...], sent: bool) -> None:
    assert can_be_sent(path) is sent


@pytest.mark.parametrize(
    ("status", "code", "detail"),
    [
        (401, Code.FILE_DENIED, "the object store does not allow this for c/a"),
        (403, Code.FILE_DENIED, "the object store does not allow this for c/a"),
        (404, Code.NOT_FOUND, "c/a does not exist"),
        (409, Code.WRONG_KIND, "c/a is not empty"),
        (412, Code.FILE_EXISTS, "c/a exists"),
        (413, Code.WORKSPACE_FULL, "the object store takes no more: said"),
        (416, Code.INVALID_RANGE, "c/a does not have these bytes"),
        (429, Code.FILES_BUSY, "the object store has too many requests; try again soon"),
        (498, Code.FILES_BUSY, "the object store has too many requests; try again soon"),
        (507, Code.WORKSPACE_FULL, "the object store is full"),
        (500, Code.FILES_UNAVAILABLE, "the object store zoe answered 500"),
    ],
)
def test_each_status_has_its_meaning(status: int, code: Code, detail: str) -> None:
    swift = PlainSwift(c={})
    swift.statuses["GET", "c/a"] = status
    with refusal(code) as found:
        run(swift.account.send_and_close(StoreRequest("GET", (b"c", b"a"))))
    assert found.problem.detail == detail
    assert run(swift.account.send_and_close(StoreRequest("GET", (b"c", b"a")), status)).status_code == status


def test_text_of_the_store_is_shortened_and_the_account_named() -> None:
    told = account.refusal(LOGIN, 413, (), " " + "x" * 300).problem.detail
    assert told == "the object store takes no more: " + "x" * 200
    assert account.refusal(LOGIN, 404, (), "").problem.detail == "the account does not exist"
    assert (
        account.unreachable(LOGIN, OSError()).problem.detail
        == "the object store zoe does not answer: the connection broke"
    )


def test_an_answer_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "ANSWER_BYTES_MAX", 4)
    swift = PlainSwift(c={"a": b"1234", "b": b"12345"})
    assert run(swift.account.read(StoreRequest("GET", (b"c", b"a"))))[1] == b"1234"
    with refusal(Code.FILES_UNAVAILABLE):
        run(swift.account.read(StoreRequest("GET", (b"c", b"b"))))
    assert isinstance(run(swift.answer(LOGIN, StoreRequest("GET", ()))), httpx.Response)
