"""The names that the API answers to, over the whole application."""

from __future__ import annotations

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.postgres import connect

OWN = [
    "127.0.0.1",
    "127.0.0.1.",
    "localhost:1",
    "LOCALHOST",
    "localhost.",
    "[::1]:80",
    "zoe.localhost",
    "192.0.2.7:5100",
]
PATHS = ["/api/v1/me", "/", "/healthz", "/metrics", "/api/v1/openapi.json", "/api/docs", "/nothing.js"]


@pytest.mark.parametrize("host", OWN)
def test_it_answers_to_addresses_and_names_of_this_machine(shared_api: Api, host: str) -> None:
    assert shared_api.http().get("/api/v1/me", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_to_a_name_of_somebody_else_it_says_nothing_on_any_path(shared_api: Api, path: str) -> None:
    answer = shared_api.http().get(path, headers={"Host": "evil.example:5100"})
    assert (problem(answer)["code"], answer.status_code) == ("host_not_allowed", 421)


def test_refused_host_causes_no_look_up_and_no_change(
    api: Api, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api.store.accounts, "principal", lambda *_: pytest.fail("the caller was looked up"))
    answer = api.http().post("/api/v1/tokens", json={}, headers={"Host": "evil.example"})
    assert answer.status_code == 421
    with connect(postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM audit WHERE action <> 'refused'")
        assert cursor.fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize(
    "host", ["x.apps.localhost", "X.Apps.Localhost:5100", "x.apps.localhost.", "x.apps.localhost.:80"]
)
def test_names_of_applications_lead_to_these_and_never_to_the_api(shared_api: Api, host: str) -> None:
    answer = shared_api.http().get("/api/v1/me", headers={"Host": host})
    assert (answer.status_code, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")


def told(postgres_url: str, host: str, **settings: object) -> httpx.Response:
    api = Api(postgres_url, **settings)
    try:
        return api.http().get("/api/v1/me", headers={"Host": host})
    finally:
        api.close()


@pytest.mark.parametrize(
    ("settings", "host", "status"),
    [
        ({"public_url": "https://zoe.example.org"}, "ZOE.example.org:8443", 200),
        ({"public_url": "https://zoe.example.org"}, "www.zoe.example.org", 421),
        ({"allowed_hosts": ["Zoe.lan"]}, "zoe.LAN.", 200),
        ({"allowed_hosts": ["zoe.lan"], "public_url": "https://zoe.example.org"}, "zoe.example.org", 200),
        ({"allowed_hosts": ["zoe.lan"]}, "localhost", 200),
        ({"allowed_hosts": ["zoe.lan"]}, "evil.example", 421),
        ({"allowed_hosts": []}, "evil.example", 200),
        ({"allowed_hosts": ["*"]}, "evil.example", 200),
        ({"apps_domain": "apps.example.org"}, "x.apps.example.org", 401),
        ({"apps_domain": "apps.example.org"}, "apps.example.org", 421),
    ],
)
def test_settings_say_which_names_are_its_own(
    postgres_url: str, settings: dict[str, object], host: str, status: int
) -> None:
    assert told(postgres_url, host, **settings).status_code == status
