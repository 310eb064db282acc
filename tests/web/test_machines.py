"""`zoe login` in a terminal, allowed in a real browser by the signed-in user."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.stack import ZOE, environment
from tests.support.waiting import until
from tests.support.web import Visitor
from zoe_embedded.stack import Stack


class Login:
    """`zoe login URL --no-browser` as a process, as on a machine without a screen."""

    def __init__(self, stack: Stack, directory: Path) -> None:
        self._output = directory / "login.err"
        without = {key: value for key, value in environment(stack).items() if not key.startswith("ZOE_")}
        with self._output.open("wb") as errors:
            self.process = subprocess.Popen(
                [str(ZOE), "login", stack.url, "--no-browser", "-o", "json"],
                env={**without, "XDG_CONFIG_HOME": str(directory)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        until(lambda: "code:" in self.told, lambda: self.told)

    @property
    def told(self) -> str:
        return self._output.read_text()

    @property
    def code(self) -> str:
        found = re.search(r"code: +([A-Z]{4}-[A-Z]{4})", self.told)
        assert found, self.told
        return found[1]


@pytest.fixture
def login(stack: Stack, tmp_path: Path) -> Iterator[Login]:
    made = Login(stack, tmp_path)
    yield made
    if made.process.poll() is None:
        made.process.kill()
    made.process.communicate()


def test_a_terminal_is_allowed_after_the_sign_in_of_the_browser(browser: Browser, stack: Stack, login: Login) -> None:
    """The address leads to the page, also through the sign-in; the page shows the request; the terminal continues."""
    visitor = Visitor.of(browser, stack.url)
    page = visitor.open(f"/machine?code={login.code}")
    visitor.type_password("admin", stack.password)
    card = page.get_by_role("region", name="Allow a machine")
    for words in (login.code, "act as admin in default", "see your executions", "127.0.0.1"):
        expect(card).to_contain_text(words)
    expect(card).not_to_contain_text("manage users")
    visitor.settled()
    assert visitor.violations() == []
    card.get_by_role("button", name="Allow this machine", exact=True).click()
    expect(card).to_contain_text("Allowed.")
    output, _ = login.process.communicate(timeout=60)
    assert (login.process.returncode, b'"admin"' in output) == (0, True), login.told
    page.goto(f"{stack.url}/account")
    expect(page.get_by_text("zoe login on ")).to_be_visible()
    visitor.close()
    assert visitor.errors == []


def test_a_code_is_typed_and_a_machine_refused(admin: Visitor, login: Login) -> None:
    page = admin.open("/machine")
    page.get_by_label("Code that zoe login shows").fill(login.code.lower())
    page.get_by_role("button", name="Continue", exact=True).click()
    page.get_by_role("button", name="Refuse", exact=True).click()
    expect(page.get_by_text("Refused. The machine got nothing.")).to_be_visible()
    assert login.process.wait(60) == 4
    page.goto(f"{admin.url}/machine?code=BCDF-BCDF")
    expect(page.get_by_text("no machine is waiting with this code")).to_be_visible()
    page.get_by_role("button", name="Enter another code").click()
    expect(page.get_by_label("Code that zoe login shows")).to_be_visible()
