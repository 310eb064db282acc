"""End all access of a user, and refuse weak passwords."""

from __future__ import annotations

import pytest

from tests.support.api import Api, problem
from tests.support.browser import PASSWORD, Browser
from tests.support.people import make_token

NEW = "violet harbour anvil"
WEAK = [
    "1234567890",
    "8301927465523",  # no list has it
    "\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669\u0660",
    "password123",
    "qwertyuiop",
    "aaaaaaaaaaaa",
    "q1w2e3r4t5",
    "benbenbenben",
    "zoezoezoezoe",
    "a" * 1000,
    "Summer2026!",
    "Winter2025!!",
    "!Autumn-2026",
    "January2026!",
    "Monday 26 !!",
    "Welcome2026!",
    "ben-2026-ben",
    "Ben.Zoe.2026!",
    "Red2026!!!!",  # a tenant
    "zoe.lab.example",
    "Lab-Example-2026",
    "zoe-red-ben",
    "benredexample!!",
    "ben@zoe.lab.example",
    "127.0.0.1:15100",
]


def test_all_tokens_and_sessions_of_a_user_end_by_one_command(api: Api) -> None:
    browser, token = Browser(api), make_token(api.store, "ben")
    http = browser.use()
    made = api.http(token).post("/api/v1/tokens", json={}).json()["secret"]
    ended = api.client(api.admin).admin.end_access("ben")
    assert (ended.tokens, ended.sessions) == (2, 1)
    for client in (http, api.http(token), api.http(made)):
        assert client.get("/api/v1/me").status_code == 401
    assert browser.try_to_sign_in().status_code == 200
    assert api.http().delete("/api/v1/admin/users/ben/access").status_code == 403
    assert api.http(api.admin).delete("/api/v1/admin/users/nobody/access").status_code == 404


@pytest.mark.parametrize("end_tokens", [False, True])
@pytest.mark.parametrize("by", ["user", "admin"])
def test_a_new_password_ends_tokens_when_that_is_asked_for(api: Api, end_tokens: bool, by: str) -> None:
    http, token = Browser(api).use(), make_token(api.store, "ben")
    if by == "user":
        body = {"old": PASSWORD, "new": NEW, "end_tokens": end_tokens}
        assert http.put("/api/v1/session/password", json=body).status_code == 204
    else:
        api.client(api.admin).admin.change_user("ben", password=NEW, end_tokens=end_tokens)
    assert http.get("/api/v1/me").status_code == 401
    assert api.http(token).get("/api/v1/me").status_code == (401 if end_tokens else 200)


def test_common_and_digits_only_passwords_are_refused_everywhere(api: Api) -> None:
    api.settings.public_url = "https://zoe.lab.example"
    browser, admin = Browser(api), api.http(api.admin)
    user = browser.use()
    for password in WEAK:
        answers = {
            "/body/new": user.put("/api/v1/session/password", json={"old": PASSWORD, "new": password}),
            "/body/password": admin.patch("/api/v1/admin/users/ben", json={"password": password}),
            "/body/password ": admin.post("/api/v1/admin/users", json={"name": "benben", "password": password}),
        }
        for field, answer in answers.items():
            told = problem(answer)
            assert (told["code"], told["errors"][0]["pointer"]) == ("invalid_request", field.rstrip()), password
            assert (told["errors"][0]["code"], password in answer.text) == ("weak_password", False), password
    assert browser.try_to_sign_in().status_code == 200


@pytest.mark.parametrize(
    "password",
    [
        NEW,
        "x7Qp-92kLmv",
        "summer marmalade anvil 2026",
        "9f3a-7c21-88e0",
        "\u65e5\u672c\u8a9e\u306e\u9577\u3044\u5408\u8a00\u8449\u3067",
    ],
)
def test_others_are_taken_whatever_they_are_made_of(api: Api, password: str) -> None:
    Browser(api)
    assert api.http(api.admin).patch("/api/v1/admin/users/ben", json={"password": password}).status_code == 200


def test_tokens_of_a_disabled_user_do_not_come_back_to_life(api: Api) -> None:
    """A stolen token would work again."""
    api.store.accounts.ensure_member("ben", "red", "user")
    token, admin = make_token(api.store, user="ben", tenant="red"), api.http(api.admin)
    assert api.http(token).get("/api/v1/me").status_code == 200
    for disabled in (True, False):
        assert admin.patch("/api/v1/admin/users/ben", json={"disabled": disabled}).status_code == 200
        assert api.http(token).get("/api/v1/me").status_code == 401
