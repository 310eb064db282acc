"""Signing in with a password of an LDAP directory, which is Debian's slapd."""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import httpx
import pytest
import structlog
from ldap3 import MODIFY_REPLACE
from pydantic import ValidationError
from structlog.testing import capture_logs

from tests.support.api import Api, problem
from tests.support.broken_directory import BROKEN, broken_directory
from tests.support.directory import BASE, PASSWORD, SEARCHERS_PASSWORD, Directory, directory
from zoe_api.http.attempts import guess_limit
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in.directory_watch import ASK_EVERY_S, DirectoryWatch
from zoe_api.people.sign_in.ldap import Ldap
from zoe_lib.settings.sign_in_settings import LdapSettings, RoleRule
from zoe_lib.store.people import User

# ldap3 leaves sockets to the garbage collector when a connection fails half way.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
RULES = [
    {"provider": "corp", "tenant": "red", "role": "viewer"},
    {"provider": "corp", "group": "staff", "tenant": "red", "role": "operator"},
]


@pytest.fixture(scope="module")
def there() -> Iterator[Directory]:
    with directory() as made:
        yield made


@pytest.fixture
def settings(there: Directory) -> Callable[..., LdapSettings]:
    return lambda **changes: LdapSettings(**there.settings(**changes))


@pytest.fixture
def api(postgres_url: str, settings: Callable[..., LdapSettings]) -> Iterator[Api]:
    gc.freeze()  # so that the end of the test goes through what the test made, and not through all that was imported
    made = Api(postgres_url, ldap={"corp": settings()}, sign_in_roles=RULES)
    yield made
    made.close()
    gc.collect()
    gc.unfreeze()


@pytest.fixture
def lines() -> Iterator[list[MutableMapping[str, Any]]]:
    """Collect the log, from warnings on."""
    before = structlog.get_config()["wrapper_class"]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with capture_logs() as captured:
        yield captured
    structlog.configure(wrapper_class=before)


def sign_in(http: httpx.Client, user: str, password: str = PASSWORD, provider: str = "corp") -> httpx.Response:
    return http.post("/api/v1/session", json={"user": user, "password": password, "provider": provider})


def test_a_user_of_the_directory_signs_in_with_the_role_of_the_groups(api: Api) -> None:
    http = api.http(None)
    names = [(entry["name"], entry["kind"]) for entry in http.get("/api/v1/session/providers").json()["providers"]]
    assert names == [("local", "password"), ("corp", "password")]
    told = sign_in(http, "Mia").json()
    assert (told["user"], told["tenant"], told["role"]) == ("mia", "red", "operator")
    assert http.get("/api/v1/me").json()["user"] == "mia"
    kept = api.store.accounts.user("mia")
    assert (kept.provider, len(kept.subject), kept.password_hash) == ("corp", 36, None)
    assert sign_in(api.http(None), "ned").json()["role"] == "viewer"


def test_changes_by_a_sign_in_are_audited(api: Api) -> None:
    def entries() -> list[tuple[str, str, str, str, int | None]]:
        return [
            (e.user, e.action, e.tenant, e.by, e.status)
            for e in reversed(api.store.accounts.audit(None, 99))
            if e.action != "sign_in"
        ]

    sign_in(api.http(None), "mia")
    made = [("mia", "add_user", "", "corp", 200), ("mia", "set_role", "red", "corp", 200)]
    assert entries() == made
    api.settings.sign_in_roles[1:] = []
    sign_in(api.http(None), "mia")
    assert entries() == [*made, ("mia", "set_role", "red", "corp", 200)]
    sign_in(api.http(None), "mia")
    assert len(entries()) == 3


def test_a_wrong_password_or_user_is_not_told_apart_and_braked(api: Api) -> None:
    for user, password in (("mia", "wrong"), ("nobody", PASSWORD), ("mia", PASSWORD + " ")):
        assert problem(sign_in(api.http(None), user, password))["code"] == "bad_sign_in"
    for _ in range(guess_limit.FAILURES_OF_PAIR_MAX):
        sign_in(api.http(None), "mia", "wrong")
    assert problem(sign_in(api.http(None), "mia"))["code"] == "too_many_sign_ins"


@pytest.mark.parametrize(
    ("user", "password"), [("pia", PASSWORD), *(("mia", text) for text in ("\u0221", "\u2028", "x" * 1000))]
)
def test_refusal_does_not_reveal_existing_users(api: Api, user: str, password: str) -> None:
    """An entry without a password, and passwords that LDAP's rules for strings do not allow (RFC 4013)."""
    told, stranger = (sign_in(api.http(None), text, password) for text in (user, "nobody"))
    alike = ("code", "detail", "hint", "status")
    assert [problem(told).get(key) for key in alike] == [problem(stranger).get(key) for key in alike]
    assert told.status_code == 401


def test_names_that_the_directory_takes_for_one_are_braked_as_one(api: Api) -> None:
    names = ["mia", "MIA", "Mia", " mia", "mia ", "m\u00adia", "\uff4dia"]
    for number in range(guess_limit.FAILURES_OF_PAIR_MAX):
        sign_in(api.http(None), names[number % len(names)], "wrong")
    for name in names:
        assert problem(sign_in(api.http(None), name))["code"] == "too_many_sign_ins"
    assert sign_in(api.http(None), "ned").status_code == 200


def test_a_password_that_is_no_text_is_wrong(api: Api) -> None:
    """JSON has halves of characters, which no encoding has."""
    for provider in ("local", "corp"):
        body = json.dumps({"user": "mia", "password": "\ud83d", "provider": provider})
        answer = api.http(None).post("/api/v1/session", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 401, 422), answer.text


@pytest.mark.parametrize("password", ["\u00ad", "\u200b\u2060", "\ufe0f", "\u180b\u034f"])
def test_a_password_of_nothing_that_counts_is_no_way_in(api: Api, password: str) -> None:
    """LDAP's rules for strings (RFC 4013) leave nothing of it, and a bind without a password succeeds for any name."""
    assert problem(sign_in(api.http(None), "mia", password))["code"] == "bad_sign_in"


def test_no_password_is_no_way_in(api: Api, settings: Callable[..., LdapSettings]) -> None:
    assert problem(sign_in(api.http(None), "mia", ""))["code"] == "invalid_request"
    assert Ldap("corp", settings()).identity("mia", "") is None
    assert Ldap("corp", settings()).identity("", "") is None
    found = Ldap("corp", settings()).identity("mia", PASSWORD)
    assert found is not None
    assert found.groups == {"staff"}


HOSTILE = (
    "*", "m*", "mia)(uid=*", "mia)(|(uid=*", "*)(objectClass=*", "mi\0a",
    "\\6dia", "mia\0", "(", "\u00fc", "mia,ou=people",
)  # fmt: skip


def test_characters_of_filters_are_characters(api: Api) -> None:
    for user in HOSTILE:
        assert sign_in(api.http(None), user).status_code == (400 if "\0" in user else 401), user
        assert Ldap("corp", api.settings.ldap["corp"]).identity(user, PASSWORD) is None
    assert api.store.accounts.users() == [User("ada"), User("root")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "ldaps://localhost:1"}, "refused"),
        ({"url": "ldaps://nowhere.invalid"}, "invalid server address"),
        ({"bind_dn": f"cn=other,{BASE}"}, "invalidCredentials"),
        ({"ca_file": "stranger"}, "certificate"),
        ({"url": "plain", "start_tls": True, "ca_file": "stranger"}, "certificate"),
        ({"url": "by address"}, "certificate"),
        ({"base": "dc=elsewhere"}, "noSuchObject"),
    ],
)
def test_why_a_directory_cannot_be_trusted_or_asked_is_logged_and_not_told(
    api: Api,
    there: Directory,
    settings: Callable[..., LdapSettings],
    lines: list[MutableMapping[str, Any]],
    changes: dict[str, Any],
    words: str,
) -> None:
    named = {
        "stranger": there.stranger,
        "plain": there.plain,
        "by address": there.secure.replace("localhost", "127.0.0.1"),
    }
    changed = {key: named.get(value, value) if isinstance(value, str) else value for key, value in changes.items()}
    api.settings.ldap["corp"] = settings(**changed)
    told = problem(sign_in(api.http(None), "mia"))
    assert told["code"] == "provider_unavailable"
    assert told["detail"] == "corp gave no valid answer"
    [cause] = [line["cause"] for line in lines if line["event"] == "provider_unavailable"]
    assert words in cause
    assert PASSWORD not in str(lines)
    assert SEARCHERS_PASSWORD not in str(lines)


def test_plain_becomes_tls_before_anything_is_said(api: Api, there: Directory, settings: Any) -> None:
    api.settings.ldap["corp"] = settings(url=there.plain, start_tls=True)
    assert sign_in(api.http(None), "mia").status_code == 200


def test_one_that_does_not_answer_is_not_waited_for(api: Api, there: Directory, settings: Any) -> None:
    api.settings.ldap["corp"] = settings(timeout_s=0.5)
    os.kill(there.process.pid, signal.SIGSTOP)
    try:
        assert problem(sign_in(api.http(None), "mia"))["code"] == "provider_unavailable"
    finally:
        os.kill(there.process.pid, signal.SIGCONT)
    api.settings.ldap["corp"] = settings()  # on a busy machine it takes longer to wake up
    assert sign_in(api.http(None), "mia").status_code == 200


@pytest.mark.parametrize("fault", BROKEN)
def test_one_that_breaks_the_protocol_is_no_internal_error(api: Api, settings: Any, fault: str) -> None:
    with broken_directory(BROKEN[fault]) as broken:
        api.settings.ldap["corp"] = settings(url=broken.url, timeout_s=1.0)
        assert problem(sign_in(api.http(None), "mia"))["code"] in ("provider_unavailable", "bad_sign_in")


@pytest.mark.parametrize("fault", ["answers a byte at a time", "has entries without end"])
def test_one_that_goes_on_is_not_heard_out(settings: Any, fault: str) -> None:
    with broken_directory(BROKEN[fault]) as broken, pytest.raises(ApiProblem, match="gave no valid answer"):
        Ldap("corp", settings(url=broken.url, timeout_s=1.0)).identity("mia", PASSWORD)
    assert not broken.heard_out


def test_passwords_in_the_clear_are_refused_by_the_settings(settings: Any) -> None:
    for changes in (
        {"url": "ldap://ldap.example.org"},
        {"url": "http://localhost"},
        {"filter": "(uid=mia)"},
        {"group_filter": "(cn=x)"},
    ):
        with pytest.raises(ValidationError):
            settings(**changes)
    assert settings(url="ldap://localhost:1").url


def test_a_provider_that_is_not_there_is_not_found(api: Api) -> None:
    assert problem(sign_in(api.http(None), "mia", provider="other"))["code"] == "not_found"
    assert problem(sign_in(api.http(None), "mia", provider="local"))["code"] == "bad_sign_in"


def test_a_user_who_leaves_the_directory_is_signed_out_and_a_group_that_is_left_gives_no_role(
    api: Api, there: Directory
) -> None:
    group, entry = f"cn=ops,ou=groups,{BASE}", f"uid=lea,ou=people,{BASE}"
    rules = [*RULES, {"provider": "corp", "group": "ops", "tenant": "red", "role": "admin"}]
    api.settings.sign_in_roles = [RoleRule(**rule) for rule in rules]
    watch = DirectoryWatch(api.settings, api.store.accounts, {"corp": Ldap("corp", api.settings.ldap["corp"])})
    with there.changing() as changes:
        person = {"uid": "lea", "cn": "Lea", "sn": "L", "userPassword": PASSWORD}
        assert changes.add(entry, "inetOrgPerson", person)
        assert changes.add(group, "groupOfNames", {"cn": "ops", "member": entry})
        http = api.http(None)
        assert sign_in(http, "lea").json()["role"] == "admin"
        assert changes.modify_dn(entry, "uid=leah")  # renamed users keep their identity
        assert changes.modify(group, {"member": [(MODIFY_REPLACE, [f"uid=leah,ou=people,{BASE}"])]})
        watch.look(time.time())
        assert http.get("/api/v1/session").json()["role"] == "admin"
        assert changes.delete(group)
        watch.look(time.time() + 2 * ASK_EVERY_S)
        assert http.get("/api/v1/session").json()["role"] == "viewer"
        assert changes.delete(f"uid=leah,ou=people,{BASE}")
        watch.look(time.time() + 4 * ASK_EVERY_S)
    assert problem(http.get("/api/v1/session"))["code"] == "session_over"
    told = [(entry.user, entry.action, entry.by) for entry in api.store.accounts.audit(None, 5)]
    assert ("lea", "end_unknown_user", "corp") in told
