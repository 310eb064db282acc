"""A program on another port of Zoe's own host, opened in the browser that is signed in: cookies ignore ports.

It is sent the session's cookie and runs scripts of its own there. It makes no token and changes nothing.
"""

from __future__ import annotations

import http.server
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from tests.support.documents import sized
from tests.support.waiting import until
from tests.support.web import Visitor
from zoe_client import Client
from zoe_embedded.stack import Stack

# Every request that a page may try against another origin; the results are in `tried`.
ATTACK = """
async ([zoe, id]) => {
  const tried = {};
  const note = async (name, work) => {
    try { tried[name] = String(await work()).slice(0, 2000); } catch (error) { tried[name] = `refused: ${error}`; }
  };
  const body = JSON.stringify({note: "stolen", scopes: ["read"]});
  const changes = [["/api/v1/tokens", body], [`/api/v1/executions/${id}/cancel`, ""], ["/api/v1/session", ""]];
  for (const [path, sent] of changes) {
    for (const mode of ["cors", "no-cors"]) {
      for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
        await note(`post ${path} ${mode} ${type}`, async () => {
          const headers = {"Content-Type": type};
          const answer = await fetch(zoe + path, {method: "POST", mode, credentials: "include", headers, body: sent});
          return `${answer.type} ${answer.status} ${await answer.text()}`;
        });
      }
    }
  }
  for (const [method, path] of [["DELETE", "/api/v1/session"], ["GET", "/api/v1/session"]]) {
    await note(method + path, async () => (await fetch(zoe + path, {method, credentials: "include"})).text());
  }
  await note("beacon", () => navigator.sendBeacon(`${zoe}/api/v1/tokens`, new Blob([body], {type: "text/plain"})));
  await note("own storage", () => JSON.stringify({...localStorage, ...sessionStorage}));
  const frame = document.createElement("iframe");
  frame.name = "stage";
  document.body.append(frame);
  for (const path of ["/", "/api/v1/session"]) {
    frame.src = zoe + path;
    await new Promise(loaded => { frame.onload = loaded; });
    await note(`frame storage ${path}`, () => JSON.stringify(frame.contentWindow.localStorage));
    await note(`frame text ${path}`, () => frame.contentDocument.body.innerText);
  }
  for (const [path, enctype] of [
    ["/api/v1/tokens", "text/plain"], [`/api/v1/executions/${id}/cancel`, "text/plain"],
  ]) {
    const form = document.createElement("form");
    Object.assign(form, {method: "post", action: zoe + path, enctype, target: "stage"});
    form.innerHTML = `<input name='{"note": "stolen", "x": "' value='"}'><input name="csrf" value="">`;
    document.body.append(form);
    form.submit();
    await new Promise(loaded => { frame.onload = loaded; });
  }
  const opened = window.open(zoe + "/");
  const isBlank = () => { try { return opened.location.href === "about:blank"; } catch { return false; } };
  while (isBlank()) await new Promise(later => setTimeout(later, 50));
  await note("window storage", () => JSON.stringify(opened.localStorage));
  await note("window document", () => opened.document.body.innerText);
  return tried;
}
"""


@dataclass
class RawPort:
    """A program on a port of this host; `cookies` is what browsers sent it."""

    port: int
    cookies: list[str] = field(default_factory=list)


@pytest.fixture
def raw_port() -> Iterator[RawPort]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>application</title><h1>An application</h1>")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = RawPort(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def by_the_cookie(url: str, cookie: str, method: str, path: str, body: object = None) -> tuple[int, str]:
    """What the program itself gets with the cookie that it was sent: it is no browser, and names no origin."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Cookie": cookie, "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}{path}", data, headers, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def proof_of(page: Page | Frame) -> str:
    """What the page of Zoe keeps."""
    return str(page.evaluate("localStorage.getItem('zoe-csrf-token')"))


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_program_on_a_raw_port_gets_the_cookie_and_can_do_nothing_with_it(
    browser: Browser, stack: Stack, client: Client, raw_port: RawPort, name: str
) -> None:
    execution = client.submit(sized(0.1, "sleep", "600", name="mine"))
    tokens = {token.id for token in client.tokens().tokens}
    url = f"http://{name}:{urlsplit(stack.url).port}"
    visitor = Visitor.of(browser, url)
    visitor.sign_in("admin", stack.password)
    proof = proof_of(visitor.page)
    assert len(proof) > 40

    attacker = visitor.context.new_page()
    attacker.goto(f"http://{name}:{raw_port.port}/")
    tried = attacker.evaluate(ATTACK, [url, execution.id])
    cookie = next(sent for sent in raw_port.cookies if "zoe-session=" in sent)
    assert proof not in json.dumps(tried) + str(raw_port.cookies)
    assert [name for name, came in tried.items() if "csrf_token" in came or '"secret"' in came] == []
    assert tried["own storage"] == "{}"

    value = cookie.split("zoe-session=")[1].partition(";")[0]
    status, told = by_the_cookie(url, cookie, "GET", "/api/v1/session")
    assert (status, json.loads(told)["csrf_token"]) == (200, "")
    for method, path, body in (
        ("POST", "/api/v1/tokens", {"note": "stolen"}),
        ("POST", f"/api/v1/executions/{execution.id}/cancel", None),
        ("PUT", "/api/v1/session/tenant", {"tenant": "default"}),
        ("DELETE", "/api/v1/session", None),
    ):
        assert by_the_cookie(url, f"zoe-session={value}", method, path, body)[0] == 403, path

    assert {token.id for token in client.tokens().tokens} == tokens
    assert client.execution(execution.id).state not in ("stopping", "cancelled")
    attacker.close()

    page = visitor.open("/account")
    page.get_by_label("Note").fill(f"mine at {name}")
    page.get_by_role("button", name="Make a token", exact=True).click()
    expect(page.get_by_role("row").filter(has_text=f"mine at {name}")).to_be_visible()
    (made,) = (token for token in client.tokens().tokens if token.id not in tokens)
    assert made.expires_at_s is not None
    visitor.close()
    assert visitor.errors == []


def test_a_page_with_the_cookie_and_without_the_proof_asks_to_sign_in_again(admin: Visitor, stack: Stack) -> None:
    page = admin.home()
    page.evaluate("localStorage.clear()")
    admin.open("/executions")
    expect(page.get_by_role("alert")).to_contain_text("Sign in again")
    admin.type_password("admin", stack.password)
    expect(page.get_by_role("heading", name="Executions of default", exact=True)).to_be_visible()
    page.locator("summary", has_text="admin").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_other_tabs_and_reloads_go_on_with_the_session(admin: Visitor, client: Client, stack: Stack) -> None:
    execution = client.submit(sized(0.1, "sleep", "600", name="cancelled in a second tab"))
    admin.home()
    second = admin.context.new_page()
    second.goto(f"{admin.url}/executions/{execution.id}")
    second.reload()
    second.get_by_role("button", name="Cancel", exact=True).click()
    second.get_by_role("button", name="Cancel the execution", exact=True).click()
    until(lambda: client.execution(execution.id).state == "cancelled")
    # Signed in anew there, which gives both tabs another session and another proof.
    before = proof_of(second)
    second.locator("summary", has_text="admin").click()
    second.get_by_role("button", name="Sign out", exact=True).click()
    expect(second.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    assert proof_of(second) == "None"
    second.get_by_label("User", exact=True).fill("admin")
    second.get_by_label("Password", exact=True).fill(stack.password)
    second.get_by_role("button", name="Sign in", exact=True).click()
    expect(second.locator("summary", has_text="admin")).to_be_visible()
    assert proof_of(second) not in ("None", before)
    second.close()
    assert admin.launch(sized(0.1, "true", name="in the first tab"))


def test_an_address_that_somebody_wrote_takes_no_proof_away(admin: Visitor) -> None:
    page = admin.home()
    before = proof_of(page)
    page.goto("about:blank")
    page.goto(f"{admin.url}/#csrf_token=somebody-elses&next=//elsewhere.example/")
    expect(page.get_by_role("heading", name="Catalogue", exact=True)).to_be_visible()
    assert (proof_of(page), page.url) == (before, f"{admin.url}/catalogue")


def test_a_proof_and_a_cookie_of_somebody_else_sign_nobody_in(admin: Visitor, stack: Stack) -> None:
    """A page on another port of this host can set the cookie, and write the address; the user would work as another."""
    page = admin.home()
    with httpx.Client(base_url=stack.url, trust_env=False) as attacker:
        begun = attacker.post("/api/v1/session", json={"user": "admin", "password": stack.password}).json()
        cookie = attacker.cookies["zoe-session"]
    before = proof_of(page)
    page.context.add_cookies([{"name": "zoe-session", "value": cookie, "domain": "127.0.0.1", "path": "/api"}])
    page.goto("about:blank")
    page.goto(f"{admin.url}/#csrf_token={begun['csrf_token']}&next=/%5Cevil.example")
    expect(page.get_by_role("heading", name="Catalogue", exact=True)).to_be_visible()
    assert (proof_of(page), page.url) == (before, f"{admin.url}/catalogue")
