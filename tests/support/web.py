"""A real browser on the web UI: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    Response,
    StorageState,
    expect,
)

from tests.support.ending import cancel_all  # noqa: F401 - for the tests of the web UI
from tests.support.needs import need_program
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parent.parent.parent
# Where pictures for the docs go; they are drawn anew only on request.
PICTURES = ROOT / "docs" / "images" if os.environ.get("ZOE_TEST_PICTURES") == "1" else None
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
_OF_COLOURS = ["color-contrast", "link-in-text-block"]
WAIT_MS = 30_000
# Messages of browsers about every refusal, which pages handle.
_OF_ANSWERS = "Failed to load resource"
# Answers that come for ever.
_STREAM = re.compile(r"/api/v1/events|/logs/stream")
_TWICE_DRAWN = "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"

# Controls that a finger would miss; the links in sentences are exempt (WCAG 2.5.8).
SMALL = """() => [...document.querySelectorAll('a, button, input, select, summary')].filter(one => {
  const { width, height } = one.getBoundingClientRect();
  return width > 1 && one.checkVisibility({visibilityProperty: true}) && !one.closest('p, .sr') && !one.matches('.sr')
    && (width < 24 || height < 24);
}).map(one => one.outerHTML.slice(0, 200))"""


@contextlib.contextmanager
def chromium(playwright: Playwright, name: str = "chromium-headless-shell") -> Iterator[Browser]:
    """Chromium without windows; `chromium` has all features of users' browsers, in 1.6 times the CPU time."""
    program = need_program(name)
    expect.set_options(timeout=WAIT_MS)
    # Its sandbox needs rights that root in a container lacks; only pages of ours are opened.
    browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
    try:
        yield browser
    finally:
        browser.close()


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Return a desktop window without shared state."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    context.set_default_timeout(WAIT_MS)
    return context


@dataclass
class Visitor:
    """A visitor with a browser window; its errors are recorded."""

    context: BrowserContext
    page: Page
    url: str
    errors: list[str] = field(default_factory=list)
    _under_way: set[Request] = field(default_factory=set)

    @classmethod
    def of(cls, browser: Browser, url: str, **options: Any) -> Visitor:
        return cls.within(new_context(browser, **options), url)

    @classmethod
    def within(cls, context: BrowserContext, url: str) -> Visitor:
        """Yield a visitor with a new page in a browser that others have used."""
        visitor = cls(context, context.new_page(), url)
        visitor.page.on("console", visitor._on_console)
        visitor.page.on("pageerror", lambda error: visitor.errors.append(str(error)))
        visitor.page.on("response", visitor._on_response)
        visitor.page.on("request", visitor._on_request)
        visitor.page.on("requestfinished", visitor._on_request_over)
        visitor.page.on("requestfailed", visitor._on_request_over)
        return visitor

    def _on_request(self, request: Request) -> None:
        if not _STREAM.search(request.url):
            self._under_way.add(request)

    def _on_request_over(self, request: Request) -> None:
        self._under_way.discard(request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and _OF_ANSWERS not in message.text:
            self.errors.append(message.text)

    def _on_response(self, answer: Response) -> None:
        """The API may refuse; the pages' own files must exist."""
        if answer.status >= 400 and "/api/" not in answer.url:
            self.errors.append(f"{answer.status} {answer.url}")

    def open(self, path: str = "/") -> Page:
        self.page.goto(f"{self.url}{path}")
        return self.page

    def settled(self) -> None:
        """Wait until the page has its data, has drawn it, and sends no further requests."""
        until(self._is_settled, lambda: [request.url for request in self._under_way])

    def _is_settled(self) -> bool:
        self.page.evaluate(_TWICE_DRAWN)
        return not self._under_way and self.page.locator(".loading").count() == 0

    def sign_in(self, user: str, password: str) -> Page:
        self.open()
        self.type_password(user, password)
        return self._there()

    def home(self) -> Page:
        """Open the first page, once it knows the signed-in user."""
        self.open()
        return self._there()

    def _there(self) -> Page:
        expect(self.page.get_by_role("heading", name="Catalogue", exact=True)).to_be_visible()
        return self.page

    def type_password(self, user: str, password: str) -> None:
        self.page.get_by_label("User", exact=True).fill(user)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.get_by_role("button", name="Sign in", exact=True).click()

    def launch(self, application: dict[str, Any]) -> str:
        """Launch by the editor, as a user pastes a description; return the execution's id."""
        self.open("/new")
        editor = self.page.get_by_label("Description as JSON", exact=True)
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(json.dumps(application))
        self.page.get_by_role("button", name="Launch", exact=True).click()
        self.page.wait_for_url(re.compile("/executions/[^/]+$"))
        return self.page.url.rsplit("/", 1)[-1]

    def violations(self) -> list[str]:
        """Return axe's findings about accessibility."""
        self.page.evaluate(AXE.read_text("utf-8"))
        return self._found({})

    def violations_in_the_dark(self) -> list[str]:
        """Return violations in the dark colours of the same page, where nothing else differs; call it after
        `violations`.
        """
        self.page.emulate_media(color_scheme="dark")
        found = self._found({"runOnly": _OF_COLOURS})
        self.page.emulate_media(color_scheme="light")
        return found

    def _found(self, options: dict[str, Any]) -> list[str]:
        found = self.page.evaluate("options => axe.run(options)", {"resultTypes": ["violations"], **options})
        return [f"{entry['id']}: {node['html'][:200]}" for entry in found["violations"] for node in entry["nodes"]]

    def close(self) -> None:
        self.context.close()


class UserBrowser:
    """The browser of one user, in which tests are visitors one after the other: another one for each costs a second.

    Each begins with a new page, and with the browser's state right after signing in.
    """

    def __init__(self, browser: Browser, url: str, user: str, password: str) -> None:
        self._context = new_context(browser)
        self._url = url
        self._who = (user, password)
        self._kept: StorageState | None = None

    def visitor(self) -> Visitor:
        """Return the next one, signed in; the page is empty."""
        self._forget()
        visitor = Visitor.within(self._context, self._url)
        if self._kept is None or not self._resumed(visitor.page, self._kept):
            visitor.sign_in(*self._who)
            self._kept = self._context.storage_state()
        visitor.page.goto("about:blank")
        return visitor

    def close(self) -> None:
        self._context.close()

    def _forget(self) -> None:
        for page in self._context.pages:
            page.close()
        self._context.unroute_all()
        self._context.clear_permissions()
        self._context.set_offline(False)
        self._context.clear_cookies()

    def _resumed(self, page: Page, kept: StorageState) -> bool:
        """Return whether the session continues: a test may have ended it."""
        self._context.add_cookies(kept["cookies"])  # type: ignore[arg-type] # as they were given
        answer = page.goto(f"{self._url}/api/v1/me")  # of the pages' origin, and without a program
        entries = [entry for origin in kept["origins"] for entry in origin["localStorage"]]
        page.evaluate(
            "entries => {localStorage.clear(); for (const {name, value} of entries) localStorage[name] = value}",
            entries,
        )
        if answer is None or not answer.ok:
            self._context.clear_cookies()
            page.evaluate("localStorage.clear()")
            return False
        return True


def fits(phone: Visitor) -> None:
    """Return whether only output scrolls sideways, which has lines of any length, and all controls are large enough."""
    phone.settled()
    wide = "[...document.querySelectorAll('main *, header *')].filter(one => one.scrollWidth > one.clientWidth + 1"
    wide += " && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX) && one.role !== 'log')"
    wide += ".map(one => `${one.className} ${one.scrollWidth} > ${one.clientWidth}: ${one.innerText}`)"
    assert phone.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    for wrong in (wide, SMALL):
        found = phone.page.evaluate(wrong)
        assert found == [], f"{phone.page.url}: {found}"
    assert phone.violations() == []


def counted_clicks(page: Page) -> Callable[[], int]:
    """Count clicks from now on, in a page that is not loaded again; return a function that returns the number."""
    page.evaluate("window.clicks = 0; addEventListener('click', one => { clicks += one.isTrusted }, true)")
    return lambda: int(page.evaluate("window.clicks"))


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab, or with `back` Shift+Tab, until the control of this name or label has the focus."""
    named = """name => [document.activeElement].some(one => one && [one.getAttribute('aria-label'),
        one.innerText, one.labels && [...one.labels].map(l => l.innerText).join()].some(t => t?.trim() === name))"""
    for _ in range(80):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate(named, name):
            return
    raise AssertionError(f"Tab does not lead to {name}")
