"""The settings in docs/operate/sign-in.md let people of a directory and of an OpenID Connect provider in.

They go to a real API as they are in the document, but for addresses and files with secrets.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.docs.documents import DOCS, blocks
from tests.support.api import problem
from tests.support.certified_oidc import Client, certified_provider, goes_through
from tests.support.directory import PASSWORD, directory
from tests.support.installation import Installation
from tests.support.waiting import until
from zoe_embedded.processes.ports import HeldPorts

SESSION = "/api/v1/session"
PEOPLE = {"s-1": {"preferred_username": "Ida", "email": "ida@example.org"}}
SECRET = "known to Zoe and its provider"


@dataclass(frozen=True)
class Site:
    """An API with the settings of the document."""

    url: str

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False, timeout=30)


def filled(recipe: str, values: dict[str, str]) -> str:
    """The recipe with each of these texts, which it has once, replaced."""
    for text, value in values.items():
        assert recipe.count(f'"{text}"') == 1, text
        recipe = recipe.replace(f'"{text}"', f'"{value}"')
    return recipe


@pytest.fixture
def site(postgres_url: str, tmp_path: Path) -> Iterator[Site]:
    [recipe] = [block.text for block in blocks(DOCS / "operate/sign-in.md") if "[oidc." in block.text]
    (tmp_path / "client").write_text(SECRET + "\n")
    with ExitStack() as ends:
        there = ends.enter_context(directory())
        own, providers = HeldPorts(1), HeldPorts(1)
        url = f"http://127.0.0.1:{own.numbers[0]}"
        client = Client(tomllib.loads(recipe)["oidc"]["firm"]["client_id"], SECRET, f"{url}{SESSION}/oidc/callback")
        issuer = ends.enter_context(certified_provider(client, PEOPLE, providers))
        values = {
            "https://zoe.example.org": url,
            "https://id.example.org": issuer,
            "/etc/zoe/oidc_secret": str(tmp_path / "client"),
            "ldaps://ldap.example.org": there.secure,
            "/etc/zoe/ldap_secret": str(there.searchers_password),
        }
        installation = Installation(postgres_url, forked=False, **tomllib.loads(filled(recipe, values)))
        ends.callback(installation.close)
        for tenant in ("guests", "lab"):
            installation.store.accounts.add_tenant(tenant)
        own.close()
        # As if the authority were in the trust store of the system.
        installation.start_api(own.numbers[0], SSL_CERT_FILE=str(there.authority))
        until(lambda: _answers(url), lambda: installation.log(f"api-{own.numbers[0]}"))
        yield Site(url)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", trust_env=False).text == "ok"
    except httpx.TransportError:
        return False


def test_people_of_the_directory_and_of_the_provider_get_the_roles_of_the_recipe(site: Site) -> None:
    with site.browser() as browser:
        told = browser.get(f"{SESSION}/providers").json()["providers"]
        assert [(entry["name"], entry["kind"]) for entry in told] == [
            ("local", "password"), ("lab", "password"), ("firm", "redirect")
        ]  # fmt: skip
        start = browser.get(f"{SESSION}/oidc/start", params={"provider": "firm"})
        assert start.status_code == 303, start.text
        back = goes_through(browser, start.headers["location"], "s-1", f"{site.url}{SESSION}/oidc/callback")
        assert browser.get(back).status_code == 303
        who = browser.get(SESSION).json()
        assert (who["user"], who["tenant"], who["role"]) == ("ida", "guests", "viewer")

    def sign_in(user: str, password: str = PASSWORD) -> httpx.Response:
        with site.browser() as browser:
            return browser.post(SESSION, json={"user": user, "password": password, "provider": "lab"})

    who = sign_in("mia").json()
    assert (who["user"], who["tenant"], who["role"]) == ("mia", "lab", "user")
    assert problem(sign_in("mia", "wrong"))["code"] == "bad_sign_in"
    # Not in the group of the rule.
    assert problem(sign_in("ned"))["code"] == "no_membership"
