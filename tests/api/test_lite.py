"""Pages without scripts: signing in, the list, cancelling; hostile names stay texts."""

from __future__ import annotations

import re
import time
from contextlib import closing
from html.parser import HTMLParser

import httpx
import pytest

from tests.support.api import Api
from tests.support.browser import PASSWORD, Browser
from tests.support.documents import job
from tests.support.people import make_token
from tests.support.postgres import connect
from tests.support.waiting import until
from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions.events import PromiseOffered
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, PromiseOffers
from zoe_lib.store.errors import StoreUnavailable

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&{{ 7*7 }}"
ALLOWED = {"html", "head", "meta", "title", "body", "h1", "p", "a", "form", "input", "button", "label", "select",
           "option", "table", "thead", "tbody", "tr", "th", "td", "strong"}  # fmt: skip


class Markup(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def signed_in(api: Api, user: str = "ada", role: str = "user", tenant: str = "red") -> tuple[httpx.Client, str]:
    """A browser, and the first page that it is shown."""
    http = Browser(api, user, role, tenant).http
    answer = http.post("/lite/sign-in", data={"user": user, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    return http, checked(answer)


def pressed(http: httpx.Client, page: str, path: str) -> httpx.Response:
    """The answer to a form of the page, which must hold it."""
    assert f'action="{path}"'.replace("&", "&amp;") in page, page
    return http.post(path, data={"csrf": csrf(page)})


def csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([\w-]+)"', page)
    assert found
    return found[1]


def checked(answer: httpx.Response) -> str:
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    markup = Markup(answer.text)
    assert markup.tags <= ALLOWED
    assert not {name for name in markup.attributes if name.startswith("on") or name in ("style", "src")}
    return answer.text


def test_sign_in_list_and_cancel_without_a_script(api: Api) -> None:
    stranger = api.http(None)
    assert "Sign in" in checked(stranger.get("/lite/"))
    wrong = stranger.post("/lite/sign-in", data={"user": "ada", "password": "wrong password"})
    assert wrong.status_code == 401
    assert "wrong" in checked(wrong)
    execution = api.client().submit(job())
    http, page = signed_in(api)
    assert execution.id in page
    cancel = f"/lite/executions/{execution.id}/cancel"
    for refused in (http.post(cancel), http.post(cancel, data={"csrf": "guess"})):
        assert refused.status_code == 403
        checked(refused)
    foreign = http.post(cancel, data={"csrf": csrf(page)}, headers={"Origin": "http://elsewhere.example"})
    assert foreign.status_code == 403
    assert api.store.execution(execution.id).state is ExecutionState.SUBMITTED
    after = pressed(http, page, cancel)
    assert after.status_code == 200
    assert execution.id not in checked(after)
    assert api.store.execution(execution.id).state is ExecutionState.CANCELLED
    ended = pressed(http, after.text, "/lite/?ended=1")
    assert execution.id in checked(ended)
    assert execution.id not in checked(pressed(http, ended.text, "/lite/"))
    written = [(e.action, e.status) for e in api.store.accounts.audit(None, 10, "ada") if e.action.startswith("lite")]
    assert written == [("lite_cancel", status) for status in (200, 403, 403)]
    assert pressed(http, ended.text, "/lite/sign-out").status_code == 303
    assert "Sign in" in http.get("/lite/").text


def test_it_shows_deadlines(api: Api) -> None:
    client = api.client(make_token(api.store, "ada"))
    plain = checked(signed_in(api)[0].get("/lite/"))
    assert "<td>2065-01-24 05:20:00 UTC</td>" not in plain
    client.submit(job(), deadline="2065-01-24T05:20:00Z")
    late = client.submit(job(size={"run_time_s": 60}), deadline="+1s").id
    until(lambda: client.execution(late).deadline_s < time.time())  # type: ignore[operator]
    client.cancel(late)  # writes the miss, as there is no master
    page = checked(signed_in(api)[0].get("/lite/?ended=1"))
    assert "<td>2065-01-24 05:20:00 UTC</td>" in page
    assert "UTC, missed (too short)</td>" in page


def offered(api: Api, ends_in_s: float = 600.0) -> Execution:
    """An execution of ada's with an offer."""
    asked = api.client(make_token(api.store, "ada")).submit(job(size={"run_time_s": 60}), finish_by="+1s")
    now_s = time.time()
    terms = FinishTerms(3_000_000_000.0, 0.95, 4, 4320.0, 2_999_990_000.0, price="3.20", currency="EUR", runs=23)
    offers = PromiseOffers(HOSTILE, now_s + ends_in_s, (Offer(OfferKind.EARLIEST, terms),))
    version = api.store.execution(asked.id).version
    return api.store.append(asked.id, [PromiseOffered(at_s=now_s, offers=offers)], version, None)


def test_an_offer_is_accepted_without_a_script(api: Api) -> None:
    asked = offered(api)
    http, page = signed_in(api)
    assert "It cannot be promised: &lt;script&gt;" in page
    assert "Offer 1 (the earliest end that sure), until " in page
    accept = f"/lite/executions/{asked.id}/accept/1"
    for refused in (http.post(accept), http.post(accept, data={"csrf": "guess"})):
        assert refused.status_code == 403
        checked(refused)
    foreign = http.post(accept, data={"csrf": csrf(page)}, headers={"Origin": "http://elsewhere.example"})
    assert foreign.status_code == 403
    for number in ("7", "0", "one", "9" * 5000, "\u0661"):
        missing = http.post(f"{accept[:-1]}{number}", data={"csrf": csrf(page)})
        assert missing.status_code == 409
        checked(missing)
    assert api.store.execution(asked.id).promise is None
    after = checked(pressed(http, page, accept))
    assert "Promised: it ends by 2065-01-24 05:20:00" in after
    assert "with 95% confidence, with 4 elastic services guaranteed, for about 3.20 EUR" in after
    assert accept not in after
    promise = api.store.execution(asked.id).promise
    assert promise is not None
    assert promise.offer == 1
    written = {(e.action, e.status) for e in api.store.accounts.audit(None, 20, "ada") if e.action == "lite_accept"}
    assert written == {("lite_accept", status) for status in (200, 403, 409)}


def test_offers_are_accepted_only_in_time_and_by_who_may(api: Api) -> None:
    over = offered(api, ends_in_s=-1.0)
    asked = offered(api)
    http, page = signed_in(api)
    assert f"/lite/executions/{over.id}/accept/1" not in page
    late = http.post(f"/lite/executions/{over.id}/accept/1", data={"csrf": csrf(page)})
    assert (late.status_code, "no offers wait" in checked(late)) == (409, True)
    api.store.accounts.ensure_member("bob", "red", "user")
    api.client(make_token(api.store, "ada")).share(asked.id, ShareLevel.LOOK, "bob")
    bob, page = signed_in(api, "bob")
    assert "Offer 1" in page
    assert "/accept/" not in page
    refused = bob.post(f"/lite/executions/{asked.id}/accept/1", data={"csrf": csrf(page)})
    assert refused.status_code == 403
    assert api.store.execution(asked.id).promise is None


def test_a_page_by_the_cookie_alone_shows_and_changes_nothing(api: Api) -> None:
    execution = api.client().submit(job())
    http, page = signed_in(api)
    stolen = api.http(None, cookies=dict(http.cookies))
    for seen in (stolen.get("/lite/"), stolen.post("/lite/"), stolen.post("/lite/", data={"csrf": "guess"})):
        assert seen.status_code == 200
        assert execution.id in checked(seen)
        assert "/cancel" not in seen.text
        assert "Sign in again" in seen.text
        assert csrf(page) not in seen.text
    for path in (f"/lite/executions/{execution.id}/cancel", "/lite/sign-out"):
        for data in ({}, {"csrf": ""}, {"csrf": stolen.cookies["zoe-session"]}):
            assert stolen.post(path, data=data).status_code == 403
    assert api.store.execution(execution.id).state is ExecutionState.SUBMITTED
    assert pressed(http, page, f"/lite/executions/{execution.id}/cancel").status_code == 200


def test_names_do_not_become_markup(api: Api, postgres_url: str) -> None:
    execution = api.client().submit(job())
    with closing(connect(postgres_url)) as connection, connection, connection.cursor() as cursor:
        told = {"name": HOSTILE, "id": execution.id}
        cursor.execute("UPDATE executions SET name = %(name)s, message = %(name)s WHERE id = %(id)s", told)
    _, page = signed_in(api)
    assert "&lt;script&gt;" in page
    assert "{{ 7*7 }}" in page
    wrong = api.http(None).post("/lite/sign-in", data={"user": HOSTILE, "password": "x", "provider": HOSTILE})
    checked(wrong)


def test_roles_and_tenants_hold_here_too(api: Api) -> None:
    execution = api.client().submit(job())
    _, page = signed_in(api, "vic", "viewer")
    assert execution.id not in page
    api.client().share(execution.id, ShareLevel.CONTROL, "vic")
    viewer, page = signed_in(api, "vic", "viewer")
    assert (execution.id in page, "Cancel" in page) == (True, False)
    assert viewer.post(f"/lite/executions/{execution.id}/cancel", data={"csrf": csrf(page)}).status_code == 403
    for level, cancels in ((ShareLevel.LOOK, False), (ShareLevel.CONTROL, True)):
        api.store.accounts.ensure_member("bob", "red", "user")
        api.client().share(execution.id, level, "bob")
        _, page = signed_in(api, "bob")
        assert (execution.id in page, "Cancel" in page) == (True, cancels)
    other, page = signed_in(api, "eva", "user", "blue")
    assert execution.id not in page + other.get("/lite/?all=1&ended=1").text
    assert other.post(f"/lite/executions/{execution.id}/cancel", data={"csrf": csrf(page)}).status_code == 404
    operator, page = signed_in(api, "olga", "operator", "blue")
    assert execution.id in pressed(operator, page, "/lite/?all=1").text
    assert "Sign in" in api.http(make_token(api.store)).get("/lite/").text


def test_it_says_so_when_the_database_is_away(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    http, _ = signed_in(api)

    def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(api.store.accounts, "sessions_among", away)
    answer = http.get("/lite/")
    assert answer.status_code == 503
    assert "database" in checked(answer)


def test_a_long_list_comes_in_pages(api: Api) -> None:
    client = api.client()
    ids = {client.submit(job()).id for _ in range(51)}
    http, first = signed_in(api)
    link = re.search(r'action="(/lite/\?[^"]*cursor[^"]*)"', first)
    assert link
    second = pressed(http, first, link[1].replace("&amp;", "&")).text
    assert {one for one in ids if one in first or one in second} == ids
    assert http.get("/lite/?cursor=never+ours").headers["location"] == "/lite/"
