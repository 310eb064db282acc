"""Swift's answers to the request to rewrite an object, as the job understands them."""

from __future__ import annotations

import socket
import threading
import time

import httpx
import pytest

from storage_bridge.model import BOOK_HEADER, DRY_HEADER, RATE_HEADER, REWRITE, REWRITE_HEADER
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import SwiftAdmin, SwiftHttp
from storage_controller.swift.objects import ListedEntry, SwiftObjects, while_alive
from storage_controller.swift.rewrite_ledger import RewriteJob

JOB = RewriteJob("acme", "c", False, True, 100_000)


def at(monkeypatch: pytest.MonkeyPatch, status: int, text: str) -> tuple[SwiftObjects, list[tuple[object, ...]]]:
    asked: list[tuple[object, ...]] = []

    def ask(_: SwiftHttp, *arguments: object) -> httpx.Response:
        asked.append(arguments)
        return httpx.Response(status, text=text)

    monkeypatch.setattr(SwiftHttp, "ask", ask)
    return SwiftObjects(SwiftHttp(SwiftAdmin("http://127.0.0.1:1/auth/v1.0", "admin", "key"))), asked


def test_proxies_that_are_silent_are_noticed_long_before_an_object_is_late() -> None:
    end, looks = threading.Event(), []

    def silent() -> None:
        looks.append(1)
        raise RequestRefusedError(503, "cannot reach Swift: timed out")

    began_s = time.monotonic()
    with pytest.raises(RequestRefusedError, match="timed out"):
        while_alive(lambda: end.wait(600), silent, look_s=0.01)
    end.set()
    assert len(looks) == 2
    assert time.monotonic() - began_s < 60


def test_a_slow_object_is_waited_for_while_proxies_answer() -> None:
    asked, answers = threading.Event(), iter([RequestRefusedError(503, "once"), None, None])

    def look() -> None:
        if (error := next(answers, None)) is not None:
            raise error
        asked.set()

    assert while_alive(lambda: asked.wait(60) and "done", look, look_s=0.01) == "done"


def test_error_of_the_work_is_raised() -> None:
    def work() -> None:
        raise RequestRefusedError(409, "no")

    with pytest.raises(RequestRefusedError, match="no"):
        while_alive(work, lambda: None)


def test_it_says_what_is_wanted_and_waits_as_long_as_the_rate_says(monkeypatch: pytest.MonkeyPatch) -> None:
    objects, asked = at(monkeypatch, 200, '{"outcome": "changed", "bytes": 5}')
    assert objects.rewrite(JOB, "a b", ListedEntry("d/é", 10**9), "digest")["outcome"] == "changed"
    [(method, account, path, headers, timeout_s)] = asked
    assert (method, account, path) == (REWRITE, "AUTH_acme", "a%20b/d/%C3%A9")
    assert headers == {REWRITE_HEADER: "rules", DRY_HEADER: "yes", RATE_HEADER: "100000", BOOK_HEADER: "digest"}
    assert isinstance(timeout_s, float)
    assert timeout_s > 10**9 / JOB.bytes_per_s


@pytest.mark.parametrize(
    ("status", "text", "refused", "sentence"),
    [
        (405, "", 409, "does not have the filters"),
        (403, "only a reseller admin", 409, "not a reseller admin"),
        (500, "", 503, "Swift answers 500"),
        (200, "not JSON", 503, "Swift answers 200"),
        (200, '["a"]', 503, "Swift answers 200"),
        (200, "{}", 503, "Swift answers 200"),
        (200, '{"outcome": "away", "sentence": "the store answers 503"}', 503, "the store answers 503"),
    ],
)
def test_invalid_answer_is_refused(
    monkeypatch: pytest.MonkeyPatch, status: int, text: str, refused: int, sentence: str
) -> None:
    objects, _ = at(monkeypatch, status, text)
    with pytest.raises(RequestRefusedError, match=sentence) as told:
        objects.rewrite(JOB, "c", ListedEntry("a", 5), "")
    assert told.value.status == refused


def test_a_proxy_that_cannot_now_is_asked_later(monkeypatch: pytest.MonkeyPatch) -> None:
    objects, _ = at(monkeypatch, 503, "the rules of this proxy are damaged\n")
    found = objects.rewrite(JOB, "c", ListedEntry("a", 5), "")
    assert (found["outcome"], found["sentence"]) == ("later", "the rules of this proxy are damaged")


@pytest.mark.parametrize(("status", "text"), [(500, ""), (200, "{}"), (200, "nonsense")])
def test_a_listing_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, status: int, text: str) -> None:
    objects, _ = at(monkeypatch, status, text)
    for call in (lambda: objects.containers("acme", ""), lambda: objects.objects("acme", "c", "")):
        with pytest.raises(RequestRefusedError, match=f"Swift answers {status}"):
            call()
    assert at(monkeypatch, 404, "")[0].containers("acme", "") == []


@pytest.mark.parametrize("listens", [True, False])
def test_a_look_finds_whether_a_proxy_answers(listens: bool) -> None:
    """As one that is stopped, its machine accepts connections."""
    with socket.socket() as stopped:
        stopped.bind(("127.0.0.1", 0))
        if listens:
            stopped.listen()
        url = f"http://127.0.0.1:{stopped.getsockname()[1]}/auth/v1.0"
        with pytest.raises(RequestRefusedError, match="cannot reach Swift"):
            SwiftHttp(SwiftAdmin(url, "admin", "key")).look(0.2)
