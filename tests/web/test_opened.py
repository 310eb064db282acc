"""An application opened from the page: the browser's cookies that it receives."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.support.documents import document, part
from tests.support.web import PICTURES, Visitor
from zoe_client import Client
from zoe_embedded.stack import Stack

# Tells its caller the headers that reached it, and sets a cookie of its own.
ECHO = """
import http.server, sys
class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Set-Cookie", "mine=1")
        self.end_headers()
        self.wfile.write(str(self.headers).encode())
http.server.HTTPServer(("", int(sys.argv[1])), Echo).serve_forever()
"""


def test_an_application_is_told_its_own_cookies_and_none_of_zoe(admin: Visitor, client: Client, stack: Stack) -> None:
    port = {"name": "web", "number": 8000, "protocol": "http", "proxied": True}
    server = part("main", "python3", "-c", ECHO, "{port:web}", image="zoe/python", ports=[port])
    echo = document({**server, "ends_application": True, "readiness": {"http": "web"}}, name="echo")
    admin.launch({**echo, "kind": "interactive"})
    mine = admin.open("/catalogue").get_by_role("region", name="My notebook")
    with admin.context.expect_page() as opened:
        mine.get_by_role("button", name="Open echo", exact=True).click()
    page = opened.value
    expect(page.locator("body")).to_contain_text("user-agent")
    page.reload()
    told = page.locator("body").inner_text().splitlines()
    assert [line for line in told if "cookie" in line.lower()] == ["cookie: mine=1"]
    assert urlsplit(page.url).hostname != urlsplit(stack.url).hostname
    assert names_of_cookies(admin, page.url) == {"zoe-app", "zoe-by-address", "mine"}
    assert names_of_cookies(admin, stack.url) == {"zoe-session"}
    (running,) = [one for one in client.executions().executions if one.name == "echo"]
    client.cancel(running.id)
    client.wait(running.id, 60)
    page.reload()
    expect(page.get_by_role("heading", name="echo was cancelled")).to_be_visible()
    expect(page.get_by_text("Cancelled by admin")).to_be_visible()
    expect(page.get_by_role("link", name="Run again", exact=True)).to_be_visible()
    if PICTURES is not None:
        page.screenshot(path=PICTURES / "web-ended.png")
    page.get_by_role("link", name="Executions", exact=True).click()
    expect(page.get_by_role("table", name="Executions")).to_be_visible()


def names_of_cookies(visitor: Visitor, url: str) -> set[str | None]:
    """Return the cookies that the browser would send there."""
    return {cookie.get("name") for cookie in visitor.context.cookies(url)}
