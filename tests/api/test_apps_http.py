"""Applications over HTTP through the proxy: forwarded and dropped parts in both directions, and requests that count as
use.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import quote, urljoin, urlsplit

import httpx
import pytest

from tests.support.opened import Opened
from tests.support.people import make_token
from tests.support.upstream import application
from tests.support.waiting import until
from zoe_api.apps import activity
from zoe_api.http.cookies import OURS
from zoe_lib.domain.applications.sharing import ShareLevel


def test_application_gets_the_request_without_headers_of_the_proxy(opened: Opened) -> None:
    inside = opened.enter()
    inside.cookies.set("mine", "1")
    told = inside.post("/a%20b/c?d=%2F&e", content=b"x" * 100_000, headers={"Connection": "keep-alive"})
    assert told.headers["x-application"] == "yes"
    seen = told.json()
    assert (seen["method"], seen["size"]) == ("POST", 100_000)
    assert seen["target"] == "/a%20b/c?d=%2F&e"
    headers = dict(seen["headers"])
    assert (headers["host"], headers["x-zoe-secret"]) == (opened.upstream.netloc, "s3cret")
    assert (headers["x-forwarded-host"], headers["x-forwarded-proto"]) == (inside.headers["Host"], "http")
    assert headers["cookie"] == "mine=1"
    assert [name for name, _ in seen["headers"]].count("host") == 1


def test_no_cookie_of_zoe_reaches_an_application_or_is_set_by_one(opened: Opened) -> None:
    inside = opened.enter()
    own = f"zoe-app={inside.cookies['zoe-app']}"
    theirs = "; ".join(f"{name}=x" for name in sorted(OURS - {"zoe-app"}))
    stranger = opened.api.http(None)
    stranger.headers.update({"Host": inside.headers["Host"], "Cookie": f"{theirs}; {own}; mine=1"})
    assert dict(stranger.get("/").json()["headers"])["cookie"] == "mine=1"


def test_a_browser_cannot_say_what_only_the_proxy_may(opened: Opened) -> None:
    inside = opened.enter()
    forged = {"X-Zoe-Secret": "guess", "X-Forwarded-Host": "elsewhere", "Forwarded": "host=elsewhere"}
    forged |= {"X-Forwarded-For": "192.0.2.7", "X-Real-IP": "192.0.2.7"}
    headers = inside.get("/", headers=forged).json()["headers"]
    said = [
        value
        for name, value in headers
        if name in ("x-zoe-secret", "x-forwarded-host", "forwarded", "x-forwarded-for", "x-real-ip")
    ]
    assert sorted(said) == sorted(["s3cret", inside.headers["Host"]])


def test_the_proxy_signs_in_and_no_browser_sees_or_says_how(opened: Opened) -> None:
    inside = opened.enter("signed")
    told = inside.get("/", headers={"Authorization": "token guess"})
    said = [value for name, value in told.json()["headers"] if name == "authorization"]
    secret = opened.master.master.port_secrets.secret(opened.api.store.execution(opened.execution.id))
    assert said == [f"token {secret}"]
    assert secret not in str(told.headers)
    with opened.talk(inside) as made:
        made.recv()
        made.send("who")
        assert made.recv() == f"token {secret}"
    assert dict(opened.enter("ui").get("/").json()["headers"]).get("authorization") is None


def test_use_is_written_down_once_a_minute(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    store, execution = alone.api.store, alone.execution.id
    inside = alone.enter()
    assert store.last_uses([execution]) == {}
    assert inside.get("/").status_code == 200
    first = store.last_uses([execution])
    assert first
    inside.get("/")
    assert store.last_uses([execution]) == first


def test_requests_of_an_open_page_are_not_a_use(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "EVERY_S", 0.0)
    inside = alone.enter()

    def used_by(work: Callable[[], object]) -> bool:
        before = alone.api.store.last_uses([alone.execution.id])
        work()
        return before != alone.api.store.last_uses([alone.execution.id])

    assert not used_by(lambda: inside.get("/", headers={"Sec-Fetch-Mode": "cors"}))
    assert not used_by(lambda: inside.get("/", headers={"Sec-Fetch-Mode": "no-cors"}))
    assert not used_by(lambda: inside.put("/", headers={"Sec-Fetch-Mode": "cors"}))
    assert used_by(lambda: inside.get("/", headers={"Sec-Fetch-Mode": "navigate"}))
    assert used_by(lambda: inside.get("/"))
    assert used_by(lambda: inside.post("/", headers={"Sec-Fetch-Mode": "cors"}))


def test_redirections_and_cookies_stay_at_the_applications_origin(opened: Opened) -> None:
    inside = opened.enter()
    assert inside.get("/away").headers["location"] == "/echo?from=here"
    assert inside.get("/elsewhere").headers["location"] == "https://elsewhere.example/"
    assert inside.get("/cookies").headers.get_list("set-cookie") == [
        "mine=1; Path=/; HttpOnly",
        "blank=1",
    ]


def test_a_cookie_stays_with_the_browser_that_was_given_it(opened: Opened) -> None:
    """Neither another user of the same application nor another application receives it."""
    bob = opened.api.http(make_token(opened.api.store, "bob"))
    opened.api.client().share(opened.execution.id, ShareLevel.OPEN, "bob")
    first, second = opened.enter(), opened.enter(http=bob)
    assert first.get("/cookies").cookies["mine"] == "1"
    for inside in (second, opened.enter("ui")):
        assert "cookie" not in dict(inside.get("/").json()["headers"])


@pytest.mark.parametrize(
    "to", ["javascript:alert(1)", "mailto:a@b", "about:blank", "urn:x", "http://xn--/", "http://[::1", "http://h:%s/x"]
)
def test_every_redirection_is_left_to_the_browser(opened: Opened, to: str) -> None:
    inside, address = opened.enter(), urlsplit(opened.api.url)
    headers = {"Host": inside.headers["Host"], "Cookie": f"zoe-app={inside.cookies['zoe-app']}"}
    # httpx reads the bodies of redirects it does not follow.
    with closing(HTTPConnection(str(address.hostname), address.port, timeout=60)) as browser:
        browser.request("GET", f"/redirect?to={quote(to)}", headers=headers)
        answer = browser.getresponse()
        assert (answer.status, answer.headers["Location"]) == (302, to)


@pytest.mark.parametrize("to", ["//evil.example/x", "/\\evil.example/x", "///evil.example"])
def test_a_redirection_to_a_path_like_a_host_stays_at_the_applications_origin(opened: Opened, to: str) -> None:
    inside = opened.enter()
    location = inside.get("/doubled", params={"to": to}).headers["location"]
    assert location == f"/.{to}"
    here = f"http://{inside.headers['Host']}/"
    assert urlsplit(urljoin(here, location.replace("\\", "/"))).netloc == inside.headers["Host"]


def test_a_redirection_without_a_path_leads_to_the_root(opened: Opened) -> None:
    assert opened.enter().get("/doubled", params={"to": "?a=b"}).headers["location"] == "/?a=b"


def test_invalid_address_is_refused_dropped_or_passed_unchanged(opened: Opened) -> None:
    inside = opened.enter()
    assert inside.get("/", headers={"Origin": "http://["}).status_code == 403
    told = inside.get("/", headers={"Referer": "http://["})
    assert (told.status_code, "referer" in dict(told.json()["headers"])) == (200, False)
    answer = inside.get("/nowhere")
    assert (answer.status_code, answer.headers["location"]) == (302, "http://[")


def test_headers_pass_byte_by_byte(opened: Opened) -> None:
    inside = opened.enter()
    name = "\u65e5\u672c.txt".encode()
    told = inside.get("/named", headers={b"X-Name": name})
    assert dict(told.headers.raw)[b"content-disposition"] == b'attachment; filename="' + name + b'"'
    echoed = dict(inside.get("/", headers={b"X-Name": name}).json()["headers"])
    assert echoed["x-name"].encode("latin-1") == name


def test_headers_that_may_be_there_once_are_there_once(opened: Opened) -> None:
    names = [name.lower() for name, _ in opened.enter().get("/").headers.raw]
    for once in (b"date", b"server", b"content-type", b"content-length"):
        assert names.count(once) <= 1, names


def test_answers_come_as_they_are_made(opened: Opened) -> None:
    inside = opened.enter()
    with inside.stream("GET", "/slowly") as answer:
        assert next(answer.iter_bytes()) == b"first"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_application_that_hangs_is_let_go_when_its_browser_has_left(opened: Opened, method: str) -> None:
    inside = opened.enter()
    before = getattr(application.state, "left", 0)
    for _ in range(3):
        with pytest.raises(httpx.ReadTimeout):
            inside.request(method, "/hangs", content=b"body" if method == "POST" else None, timeout=0.3)
    until(lambda: getattr(application.state, "left", 0) == before + 3)


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS"])
def test_a_body_passes_with_every_method(opened: Opened, method: str) -> None:
    assert opened.enter().request(method, "/echo", content=b"hello").json()["size"] == 5


def test_chunks_overrule_a_length_beside_them(opened: Opened) -> None:
    headers = {"Content-Length": "50", "Transfer-Encoding": "chunked"}
    answer = opened.enter().post("/echo", headers=headers, content=iter([b"hello"]))
    assert answer.status_code == 400 or answer.json()["size"] == 5
