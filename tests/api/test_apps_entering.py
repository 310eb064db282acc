"""Entering applications: tickets, cookies, origins and their ends; other requests are refused."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus

from tests.support.api import problem
from tests.support.browser import Browser
from tests.support.opened import Opened
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_api.apps import targets
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import PortAddress


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
    assert (again.status_code, "already used" in again.text) == (401, True)
    assert opened.visit(url.replace("ticket=", "ticket=x"), opened.api.http(None)).status_code == 401


def test_the_secret_is_told_to_those_who_may_open_it(opened: Opened) -> None:
    store, path = opened.api.store, f"{opened.path}/signed"
    direct = {"direct": True}
    own = opened.api.http(make_token(store, "oda", "red", "operator", ALL_SCOPES))
    assert own.get(path, params=direct).json()["headers"] == {}
    opened.api.client().share(opened.execution.id, ShareLevel.OPEN, "oda")
    assert own.get(path, params=direct).json()["headers"]["Authorization"].startswith("token ")
    other = opened.api.http(make_token(store, "olga", "blue", "operator", ALL_SCOPES))
    reader = opened.api.http(make_token(store, "oda", "red", "operator", ("read", "operate")))
    viewer = opened.api.http(make_token(store, "vic", "red", "viewer"))
    opened.api.client().share(opened.execution.id, ShareLevel.OPEN, "vic")
    for answer in (other.get(path, params=direct), reader.get(path, params=direct), own.get(path), viewer.get(path)):
        assert (answer.status_code, answer.json()["headers"]) == (200, {})


def test_a_description_cannot_lead_the_entrance_elsewhere(opened: Opened) -> None:
    url = opened.ticket(opened.api.http(), "doubled")
    assert opened.visit(url, opened.api.http(None)).headers["location"] == "/.//evil.example/lab"


@pytest.mark.parametrize("method", ["HEAD", "POST", "OPTIONS", "PROPFIND"])
def test_a_ticket_is_used_by_following_the_link_only(opened: Opened, method: str) -> None:
    url, inside = opened.ticket(opened.api.http()), opened.api.http(None)
    parts = urlsplit(url)
    looked = inside.request(method, parts._replace(scheme="", netloc="").geturl(), headers={"Host": parts.netloc})
    assert (looked.status_code, looked.headers.get("allow"), "set-cookie" in looked.headers) == (405, "GET", False)
    assert opened.visit(url, inside).status_code == 303


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
    elsewhere = urlsplit(opened.ticket(opened.api.http()))._replace(netloc=ui.headers["Host"]).geturl()
    assert opened.visit(elsewhere, opened.api.http(None)).status_code == 401
    with pytest.raises(AssertionError, match="no proxied port rpc"):
        opened.ticket(opened.api.http(), "rpc")


def test_other_users_are_refused_a_ticket(opened: Opened) -> None:
    api = opened.api
    of_another = make_token(api.store, "eve", "blue")
    operator_of_another = make_token(api.store, "op", "blue", "admin", ALL_SCOPES)
    colleague, operator = make_token(api.store, "bob"), make_token(api.store, "olga", "red", "operator", ALL_SCOPES)
    others = {
        "not_found": [of_another, colleague],
        "share_too_low": [operator_of_another, operator],
        "role_missing": [make_token(api.store, "vera", role="viewer")],
        "scope_missing": [make_token(api.store, scopes=("read",))],
    }
    for code, tokens in others.items():
        for token in tokens:
            assert problem(api.http(token).post(f"{opened.path}/web/open"))["code"] == code


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
    inside, accounts = opened.enter(), opened.api.store.accounts
    looks: list[str] = []
    for name in ("app_access", "app_accesses_among"):
        real = getattr(accounts, name)
        monkeypatch.setattr(accounts, name, lambda *asked, name=name, real=real: looks.append(name) or real(*asked))
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


@pytest.mark.parametrize("end", ["sign out", "disable", "demote"])
def test_the_way_in_ends_with_the_session(alone: Opened, end: str) -> None:
    http = Browser(alone.api).use()
    alone.api.client().share(alone.execution.id, ShareLevel.OPEN, "ben")
    inside = alone.enter(http=http)
    assert inside.get("/").status_code == 200
    unused = alone.ticket(http)
    if end == "sign out":
        http.delete("/api/v1/session")
    elif end == "disable":
        alone.api.store.accounts.set_disabled("ben", True)
    else:
        alone.api.store.accounts.ensure_member("ben", "red", "viewer")
    until(lambda: inside.get("/").status_code == 401)
    late = alone.api.http(None)
    answer = alone.visit(unused, late)
    assert answer.status_code == 401 or late.get("/", headers={"Host": urlsplit(unused).netloc}).status_code == 401


def test_ended_execution_and_silent_application_have_different_codes(alone: Opened) -> None:
    inside = alone.enter()
    alone.master.backend.address = lambda *_: PortAddress("127.0.0.1", 1)
    until(lambda: inside.get("/").status_code == 502)
    alone.api.client().cancel(alone.execution.id)
    alone.api.client().wait(alone.execution.id, 60)
    until(lambda: inside.get("/").status_code == 410)
    page, here = inside.get("/").text, urlsplit(alone.api.url)
    assert "was cancelled" in page
    assert "Cancelled by " in page
    assert f'href="http://127.0.0.1:{here.port}/clone/{alone.execution.id}"' in page


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
    assert alone.visit(unopened, entering).status_code == 303  # the ticket is valid; its target is unknown now
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
