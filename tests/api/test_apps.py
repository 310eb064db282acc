"""Applications through the proxy: tickets, cookies, origins, HTTP and WebSockets; nobody else gets in."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.support.api import Api, problem
from tests.support.browser import Browser
from tests.support.documents import document, part
from tests.support.people import ALL_SCOPES, make_token
from tests.support.serving import Served
from tests.support.upstream import application
from tests.support.waiting import until
from zoe_api.apps import access, activity, sockets, targets
from zoe_api.cookies import OURS
from zoe_lib.domain import events as ev
from zoe_lib.domain.execution import Cause, ExecutionState
from zoe_lib.store.base import StoreUnavailable
from zoe_lib.store.people import AppAccess
from zoe_lib.wire import ExecutionView
from zoe_master.backends.base import Address

PORTS = [
    {"name": "web", "number": 8000, "protocol": "http", "path": "/lab?token=1", "proxied": True},
    {"name": "ui", "number": 4040, "protocol": "http", "proxied": True},
    {"name": "signed", "number": 4041, "protocol": "http", "proxied": True, "sign_in": {"scheme": "token"}},
    {"name": "doubled", "number": 4042, "protocol": "http", "path": "//evil.example/lab", "proxied": True},
    {"name": "rpc", "number": 7077},
]


class Opened:
    """An execution whose proxied ports are all the same upstream, and a browser's ways to it."""

    def __init__(self, api: Api, upstream: Served) -> None:
        self.api = api
        self.upstream = urlsplit(upstream.url)
        self.master = api.start_master()
        address = Address("127.0.0.1", self.upstream.port or 0, headers={"X-Zoe-Secret": "s3cret"})
        self.master.backend.address = lambda *_: address
        client = api.client()
        submitted = client.submit(document(part("main", ports=PORTS)))
        self.execution: ExecutionView = until(
            lambda: (e := client.execution(submitted.id)).state is ExecutionState.RUNNING and e
        )
        self.path = f"/api/v1/executions/{submitted.id}/services/{self.execution.services[0].id}/ports"

    def ticket(self, http: httpx.Client, port: str = "web") -> str:
        answer = http.post(f"{self.path}/{port}/open")
        assert answer.status_code == 201, answer.text
        return str(answer.json()["url"])

    def visit(self, url: str, http: httpx.Client, **more: Any) -> httpx.Response:
        """As a browser does, which finds `*.localhost` on this machine."""
        parts = urlsplit(url)
        return http.get(parts._replace(scheme="", netloc="").geturl(), headers={"Host": parts.netloc}, **more)

    def enter(self, port: str = "web", http: httpx.Client | None = None) -> httpx.Client:
        """A client of the application's origin, with its cookie."""
        url = self.ticket(http or self.api.http(), port)
        inside = self.api.http(None)
        answer = self.visit(url, inside)
        assert answer.status_code == 303, answer.text
        inside.headers["Host"] = urlsplit(url).netloc
        return inside

    @contextmanager
    def talk(self, inside: httpx.Client, origin: str | None = None, **more: Any) -> Iterator[ClientConnection]:
        host, cookie = inside.headers["Host"], "; ".join(f"{k}={v}" for k, v in inside.cookies.items())
        raw = socket.create_connection(("127.0.0.1", urlsplit(self.api.url).port or 0))
        with connect(
            f"ws://{host}/talk",
            sock=raw,
            origin=origin or f"http://{host}",  # type: ignore[arg-type]
            additional_headers={"Cookie": cookie} if cookie else None,
            proxy=None,
            max_size=None,
            **more,
        ) as made:
            yield made


@pytest.fixture(scope="module")
def upstream() -> Iterator[Served]:
    served = Served(application)
    yield served
    served.close()


@pytest.fixture(scope="module")
def opened(shared_api: Api, upstream: Served) -> Opened:
    """For tests that leave it running."""
    return Opened(shared_api, upstream)


@pytest.fixture
def alone(api: Api, upstream: Served) -> Opened:
    """For tests that end it, or its users."""
    return Opened(api, upstream)


def test_one_ticket_one_way_in(opened: Opened) -> None:
    url = opened.ticket(opened.api.http())
    parts, here = urlsplit(url), urlsplit(opened.api.url)
    assert parts.netloc == f"{opened.execution.id}.apps.localhost:{here.port}"
    inside = opened.api.http(None)
    answer = opened.visit(url, inside)
    assert (answer.status_code, answer.headers["location"]) == (303, "/lab?token=1")
    cookie = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie)
    assert not [part for part in cookie if part.startswith("Domain")]
    again = opened.visit(url, opened.api.http(None))
    assert (again.status_code, "used before" in again.text) == (401, True)
    assert opened.visit(url.replace("ticket=", "ticket=x"), opened.api.http(None)).status_code == 401


def test_what_the_application_is_told_and_what_it_is_not(opened: Opened) -> None:
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
    secret = opened.master.master.sign_ins.secret(opened.api.store.execution(opened.execution.id))
    assert said == [f"token {secret}"]
    assert secret not in str(told.headers)
    with opened.talk(inside) as made:
        made.recv()
        made.send("who")
        assert made.recv() == f"token {secret}"
    assert dict(opened.enter("ui").get("/").json()["headers"]).get("authorization") is None


def test_the_secret_is_told_to_those_who_may_open_it(opened: Opened) -> None:
    store, path = opened.api.store, f"{opened.path}/signed"
    direct = {"direct": True}
    own = opened.api.http(make_token(store, "oda", "red", "operator", ALL_SCOPES))
    assert own.get(path, params=direct).json()["headers"]["Authorization"].startswith("token ")
    other = opened.api.http(make_token(store, "olga", "blue", "operator", ALL_SCOPES))
    reader = opened.api.http(make_token(store, "oda", "red", "operator", ("read", "operate")))
    viewer = opened.api.http(make_token(store, "vic", "red", "viewer"))
    for answer in (other.get(path, params=direct), reader.get(path, params=direct), own.get(path), viewer.get(path)):
        assert (answer.status_code, answer.json()["headers"]) == (200, {})


def test_use_is_written_down_once_a_minute(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    store, execution = alone.api.store, alone.execution.id
    inside = alone.enter()
    assert store.last_uses([execution]) == {}
    assert inside.get("/").status_code == 200
    first = store.last_uses([execution])
    assert first
    inside.get("/")
    assert store.last_uses([execution]) == first


def test_what_a_page_that_is_left_open_reads_and_saves_is_no_use(
    alone: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_is_sent_over_a_socket_is_a_use_and_what_it_tells_is_none(
    alone: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, execution = alone.api.store, alone.execution.id
    inside = alone.enter()
    monkeypatch.setattr(activity, "EVERY_S", 0.0)
    with alone.talk(inside) as made:
        made.recv()
        assert store.last_uses([execution]) == {}
        made.send("hello")
        assert made.recv() == "hello"
    assert execution in store.last_uses([execution])


def test_redirections_and_cookies_stay_at_the_applications_origin(opened: Opened) -> None:
    inside = opened.enter()
    assert inside.get("/away").headers["location"] == "/echo?from=here"
    assert inside.get("/elsewhere").headers["location"] == "https://elsewhere.example/"
    assert inside.get("/cookies").headers.get_list("set-cookie") == [
        "mine=1; Path=/; HttpOnly",
        "blank=1",
    ]


def test_a_cookie_stays_with_the_browser_that_was_given_it(opened: Opened) -> None:
    """Neither another user of the same application nor another application hears of it."""
    first, second = opened.enter(), opened.enter(http=opened.api.http(make_token(opened.api.store, "bob")))
    assert first.get("/cookies").cookies["mine"] == "1"
    for inside in (second, opened.enter("ui")):
        assert "cookie" not in dict(inside.get("/").json()["headers"])


@pytest.mark.parametrize(
    "to", ["javascript:alert(1)", "mailto:a@b", "about:blank", "urn:x", "http://xn--/", "http://[::1", "http://h:%s/x"]
)
def test_every_redirection_is_left_to_the_browser(opened: Opened, to: str) -> None:
    inside, address = opened.enter(), urlsplit(opened.api.url)
    headers = {"Host": inside.headers["Host"], "Cookie": f"zoe-app={inside.cookies['zoe-app']}"}
    # httpx reads what it does not follow.
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


def test_a_description_cannot_lead_the_entrance_elsewhere(opened: Opened) -> None:
    url = opened.ticket(opened.api.http(), "doubled")
    assert opened.visit(url, opened.api.http(None)).headers["location"] == "/.//evil.example/lab"


def test_what_is_no_address_is_refused_dropped_or_passed_as_it_is(opened: Opened) -> None:
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


def test_a_message_beyond_the_bound_ends_a_websocket(opened: Opened) -> None:
    with opened.talk(opened.enter()) as talk:
        talk.recv()
        talk.send("much")
        with pytest.raises(ConnectionClosed):
            talk.recv()


@pytest.mark.parametrize("label", ["{id}-junk", "{id}-00", "{id}-0", "{id}-01", "{id}-", "{id}-9"])
def test_only_labels_that_zoe_writes_lead_to_a_port(opened: Opened, label: str) -> None:
    inside = opened.enter()
    host = inside.headers["Host"].replace(opened.execution.id, label.format(id=opened.execution.id))
    assert inside.get("/echo", headers={"Host": host}).status_code == 401


def test_every_port_has_an_origin_of_its_own(opened: Opened) -> None:
    web, ui = opened.enter("web"), opened.enter("ui")
    assert ui.headers["Host"].startswith(f"{opened.execution.id}-1.apps.localhost")
    assert ui.get("/").status_code == web.get("/").status_code == 200
    web.headers["Host"] = ui.headers["Host"]
    assert web.get("/").status_code == 401
    with pytest.raises(AssertionError, match="no proxied port rpc"):
        opened.ticket(opened.api.http(), "rpc")


def test_nobody_else_gets_a_ticket(opened: Opened) -> None:
    api = opened.api
    of_another = make_token(api.store, "eve", "blue")
    operator_of_another = make_token(api.store, "op", "blue", "admin", ALL_SCOPES)
    others = {
        "not_found": [of_another, operator_of_another],
        "role_missing": [make_token(api.store, "vera", role="viewer")],
        "scope_missing": [make_token(api.store, scopes=("read",))],
    }
    for code, tokens in others.items():
        for token in tokens:
            assert problem(api.http(token).post(f"{opened.path}/web/open"))["code"] == code
    colleague = api.http(make_token(api.store, "bob"))
    assert opened.enter(http=colleague).get("/").status_code == 200


def test_without_a_cookie_or_with_anothers_there_is_nothing(opened: Opened) -> None:
    stranger = opened.api.http(None, cookies={"zoe-app": "guess"})
    stranger.headers["Host"] = opened.enter().headers["Host"]
    answer = stranger.get("/")
    assert (answer.status_code, "x-application" in answer.headers) == (401, False)
    session = Browser(opened.api).use()
    answer = session.get("/", headers={"Host": stranger.headers["Host"]})
    assert answer.status_code == 401


def test_an_application_cannot_shut_its_user_out_of_others_by_cookies(opened: Opened) -> None:
    inside = opened.enter()
    host, own = inside.headers["Host"], f"zoe-app={inside.cookies['zoe-app']}"
    stranger = opened.api.http(None)
    stranger.headers["Host"] = host
    set_by_others = "; ".join(f"zoe-app={n:043}" for n in range(100))
    for cookies in (f"{set_by_others}; {own}", f"{own}; {set_by_others}"):
        assert stranger.get("/", headers={"Cookie": cookies}).status_code == 200
    with pytest.raises(InvalidStatus), opened.talk(stranger):
        pass


def test_many_cookies_cost_two_looks_into_the_database(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, store = opened.enter(), opened.api.store
    looks: list[str] = []
    for name in ("app_access", "app_accesses_among"):
        real = getattr(store, name)
        monkeypatch.setattr(store, name, lambda *asked, name=name, real=real: looks.append(name) or real(*asked))
    stranger = opened.api.http(None)
    stranger.headers["Host"] = inside.headers["Host"]
    others = [f"zoe-app={n:043}" for n in range(179)]
    for own, expected, status in (
        ([f"zoe-app={inside.cookies['zoe-app']}"], ["app_accesses_among", "app_access"], 200),
        ([], ["app_accesses_among"], 401),
    ):
        looks.clear()
        assert stranger.get("/", headers={"Cookie": "; ".join([*others, *own])}).status_code == status
        assert looks == expected


def test_over_https_only_the_cookie_counts_that_no_other_origin_can_set(opened: Opened) -> None:
    url = opened.ticket(opened.api.http())
    inside = opened.api.http(None)
    inside.headers.update({"X-Forwarded-Proto": "https", "Host": urlsplit(url).netloc})
    name, _, secret = opened.visit(url, inside).headers["set-cookie"].split(";")[0].partition("=")
    assert name == "__Host-zoe-app"
    for cookies, status in (
        (f"zoe-app=x; __Host-zoe-app={secret}", 200),
        (f"zoe-app={secret}", 401),
        (f"zoe-app={secret}; __Host-zoe-app=x", 401),
    ):
        assert inside.get("/", headers={"Cookie": cookies}).status_code == status


def test_the_api_is_not_there_on_an_applications_origin(opened: Opened) -> None:
    inside = opened.enter()
    answer = inside.get("/api/v1/executions", headers={"Authorization": f"Bearer {opened.api.token}"})
    assert answer.headers["x-application"] == "yes"
    from_notebook = {"Origin": f"http://{inside.headers['Host']}", "Host": urlsplit(opened.api.url).netloc}
    browser = Browser(opened.api).use()
    for method, path in (("GET", "/api/v1/executions"), ("POST", "/api/v1/executions"), ("GET", "/api/v1/session")):
        assert problem(browser.request(method, path, headers=from_notebook))["code"] == "foreign_origin"


def test_pages_of_other_origins_get_nothing(opened: Opened) -> None:
    inside = opened.enter()
    for origin in ("http://elsewhere.example", opened.api.url, "null"):
        answer = inside.post("/", headers={"Origin": origin})
        assert (answer.status_code, "x-application" in answer.headers) == (403, False)
        with pytest.raises(InvalidStatus), opened.talk(inside, origin):
            pass
    own = inside.post("/", headers={"Origin": f"http://{inside.headers['Host']}"})
    assert dict(own.json()["headers"])["origin"] == f"http://{opened.upstream.netloc}"


def test_a_websocket_talks_both_ways_and_ends_as_the_application_says(opened: Opened) -> None:
    inside = opened.enter()
    with opened.talk(inside, subprotocols=["kernel.v1"]) as made:  # type: ignore[list-item]
        assert made.subprotocol == "kernel.v1"
        target = opened.upstream.netloc
        assert made.recv() == f"http://{target} {target} None"
        for message in ("hello", b"\x00" * 3_000_000, "x" * 2_000_000):
            made.send(message)
            assert made.recv() == message
        made.send("end")
        with pytest.raises(ConnectionClosed) as ended:
            made.recv()
    assert ended.value.rcvd is not None
    assert (ended.value.rcvd.code, ended.value.rcvd.reason) == (4001, "as asked")


def test_what_is_said_before_the_other_side_reads_arrives_in_order(opened: Opened) -> None:
    messages = [str(number) for number in range(100)]
    with opened.talk(opened.enter()) as made:
        for message in messages:
            made.send(message)
        greeting, *echoed = [made.recv(30) for _ in range(101)]
        assert str(greeting).startswith("http://")
        assert echoed == messages


def test_a_websocket_needs_the_cookie_and_says_so_in_the_form_of_all_refusals(opened: Opened) -> None:
    stranger = opened.api.http(None)
    stranger.headers["Host"] = opened.enter().headers["Host"]
    with pytest.raises(InvalidStatus) as refused, opened.talk(stranger):
        pass
    answer = refused.value.response
    assert (answer.status_code, answer.headers["Content-Type"]) == (403, "application/problem+json")
    told = json.loads(answer.body)
    assert (told["code"], told["instance"]) == ("socket_refused", "/talk")


@pytest.mark.parametrize(("host", "status"), [("localhost", 404), ("evil.example", 421)])
def test_the_api_has_no_websockets(opened: Opened, host: str, status: int) -> None:
    raw = socket.create_connection(("127.0.0.1", urlsplit(opened.api.url).port or 0))
    with pytest.raises(InvalidStatus) as refused, connect(f"ws://{host}/api/v1/events", sock=raw, proxy=None):
        pass
    answer = refused.value.response
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")


def close_code(talking: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as ended:
        talking.recv(30)
    assert ended.value.rcvd is not None
    return ended.value.rcvd.code


def test_who_signs_out_loses_open_websockets(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_CHECK_S", 0.05)
    http = Browser(alone.api).use()
    with alone.talk(alone.enter(http=http)) as talking:
        talking.recv()
        http.delete("/api/v1/session")
        assert close_code(talking) == 1008


class Blip:
    """A database that cannot tell who may use an application."""

    def __init__(self, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failures, self.answers, self.failing = 0, 0, False
        self._look = opened.api.store.app_access
        monkeypatch.setattr(opened.api.store, "app_access", self.app_access)
        monkeypatch.setattr(access, "_REMEMBERED_S", 0.0)
        monkeypatch.setattr(sockets, "_CHECK_S", 0.02)

    def app_access(self, *asked: Any) -> AppAccess | None:
        if self.failing:
            self.failures += 1
            raise StoreUnavailable("the connection broke")
        self.answers += 1
        return self._look(*asked)


def test_a_moment_without_the_database_ends_no_websocket(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    blip = Blip(alone, monkeypatch)
    with alone.talk(alone.enter()) as talking:
        talking.recv()
        blip.failing = True
        until(lambda: blip.failures >= 3)
        talking.send("still there?")
        assert talking.recv() == "still there?"
        blip.failing, before = False, blip.answers
        until(lambda: blip.answers > before)
        talking.send("and now?")
        assert talking.recv() == "and now?"


def test_a_websocket_ends_when_nobody_can_tell_for_long(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_UNKNOWN_S", 0.1)
    blip = Blip(alone, monkeypatch)
    with alone.talk(alone.enter()) as talking:
        talking.recv()
        blip.failing = True
        assert close_code(talking) == 1013


@pytest.mark.parametrize("end", ["sign out", "disable", "demote"])
def test_the_way_in_ends_with_the_session(alone: Opened, end: str) -> None:
    http = Browser(alone.api).use()
    inside = alone.enter(http=http)
    assert inside.get("/").status_code == 200
    unused = alone.ticket(http)
    if end == "sign out":
        http.delete("/api/v1/session")
    elif end == "disable":
        alone.api.store.set_disabled("ben", True)
    else:
        alone.api.store.ensure_member("ben", "red", "viewer")
    until(lambda: inside.get("/").status_code == 401)
    late = alone.api.http(None)
    answer = alone.visit(unused, late)
    assert answer.status_code == 401 or late.get("/", headers={"Host": urlsplit(unused).netloc}).status_code == 401


def test_what_has_ended_and_what_does_not_answer_are_told_apart(alone: Opened) -> None:
    inside = alone.enter()
    alone.master.backend.address = lambda *_: Address("127.0.0.1", 1)
    until(lambda: inside.get("/").status_code == 502)
    alone.api.client().cancel(alone.execution.id)
    alone.api.client().wait(alone.execution.id, 60)
    until(lambda: inside.get("/").status_code == 404)


def test_without_a_master_what_was_opened_goes_on_until_its_service_ends(
    alone: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "_REMEMBERED_S", 0.0)
    inside, unopened = alone.enter(), alone.ticket(alone.api.http(), "ui")
    assert inside.get("/").status_code == 200
    alone.api.stop_master()
    for _ in range(2):
        assert inside.get("/").status_code == 200
    entering = alone.api.http(None)
    assert alone.visit(unopened, entering).status_code == 303  # the ticket is good; what it leads to cannot be told now
    assert entering.get("/", headers={"Host": urlsplit(unopened).netloc}).status_code == 502
    execution = alone.api.store.execution(alone.execution.id)
    ended = ev.ServiceEnded(at_s=time.time(), service_id=execution.services[0].id, cause=Cause.EXITED)
    alone.api.store.append(execution.id, [ended], execution.version, None)
    assert inside.get("/").status_code == 404


def test_without_a_master_what_it_told_long_ago_does_not_count(alone: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_REMEMBERED_S", 0.0)
    monkeypatch.setattr(targets, "_WITHOUT_MASTER_S", 0.0)
    inside = alone.enter()
    assert inside.get("/").status_code == 200
    alone.api.stop_master()
    assert inside.get("/").status_code == 502
