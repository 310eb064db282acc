"""Answers of a user's program, which are untrusted."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.support.plain_api import Master, person, refusal, run
from zoe_api.http.problems.codes import Code
from zoe_api.services import file_programs
from zoe_api.services.file_programs import Endpoint, FilePrograms, FileRequest
from zoe_lib.messaging.client import MasterRefused


class Content(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> Any:
        yield self._content


def answered(status: int, content: bytes) -> httpx.Response:
    return httpx.Response(status, stream=Content(content))


@pytest.mark.parametrize(
    ("status", "content", "code", "detail"),
    [
        (409, json.dumps({"code": "file_exists", "detail": "a exists"}).encode(), Code.FILE_EXISTS, "a exists"),
        (409, json.dumps({"code": "file_exists", "detail": "x" * 1001}).encode(), Code.FILE_EXISTS, "x" * 1000),
        (404, b"", Code.UPLOAD_GONE, ""),
        (409, b"", Code.WRONG_KIND, ""),
        (423, b"", Code.UPLOAD_BUSY, ""),
        (507, b"", Code.WORKSPACE_FULL, "the disk of the files, or your quota on it, is full"),
        (500, b"", Code.FILES_UNAVAILABLE, None),
        (404, b'{"code": "made up", "detail": "x"}', Code.UPLOAD_GONE, ""),
        (404, b"[]", Code.UPLOAD_GONE, ""),
        (404, b'{"code": "file_exists"}', Code.UPLOAD_GONE, ""),
        (404, b" " * 65_537, Code.UPLOAD_GONE, ""),
    ],
)
def test_a_refusal_is_one_of_the_codes(status: int, content: bytes, code: Code, detail: str | None) -> None:
    found = run(file_programs._refusal(answered(status, content))).problem
    assert found.code == code
    assert detail is None or found.detail == detail


class Transport:
    """Programs at ports; absent ones refuse connections."""

    def __init__(self, *there: int) -> None:
        self.there = there
        self.sent: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if request.url.port not in self.there:
            raise httpx.ConnectError("refused")
        return answered(200, b"{}")

    async def aclose(self) -> None:
        return None


def place(port: int) -> dict[str, Any]:
    return {"host": "10.0.0.1", "port": port, "secret": "s3cret"}


def test_a_program_is_asked_for_once_and_again_when_it_moved() -> None:
    programs, master = FilePrograms(), Master(files=place(1))
    transport: Any = Transport(1)
    programs._transport = transport

    def sent() -> httpx.Response:
        wanted = FileRequest("GET", "/shared", {"path": "a b"}, {"range": "x"})
        answer: httpx.Response = run(programs.answer(master.ask, person(), wanted, "r"))
        return answer

    sent()
    sent()
    assert [(kind, body, asker) for kind, body, _, asker in master.asked] == [
        ("files", {"tenant": "iostack", "user": "ada"}, "ada")
    ]
    request = transport.sent[0]
    assert (request.method, str(request.url)) == ("GET", "http://10.0.0.1:1/shared?path=a+b")
    assert (request.headers["authorization"], request.headers["range"]) == ("Bearer s3cret", "x")
    transport.there = (2,)
    master.answers["files"] = place(2)
    assert sent().status_code == 200
    assert len(master.asked) == 2
    transport.there = ()
    with refusal(Code.FILES_UNAVAILABLE):
        sent()
    assert programs._known == {}


def test_a_refusal_of_the_master_is_an_answer() -> None:
    with refusal(Code.FILES_BUSY):
        file_programs._request_endpoint(Master(files=MasterRefused("files_busy", "busy")).ask, person(), "r")
    assert file_programs._request_endpoint(Master(files=place(1)).ask, person(), "r") == Endpoint(
        "10.0.0.1", 1, "s3cret"
    )
    assert "s3cret" not in repr(Endpoint("h", 1, "s3cret"))


def test_an_answer_is_read_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_programs, "_ANSWER_BYTES_MAX", 3)
    assert run(FilePrograms().content(answered(200, b"123"))) == b"123"
    with refusal(Code.FILES_UNAVAILABLE):
        run(FilePrograms().content(answered(200, b"1234")))
