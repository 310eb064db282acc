"""Targets of notifications: allowed addresses, visible details, and new secrets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.plain_api import TENANT, USER, caller_of, operator, person, refusal, services
from zoe_api.http.problems.codes import Code
from zoe_api.people import notifications
from zoe_client.wire import TargetRequest
from zoe_lib.store.errors import TooManyTargets
from zoe_lib.store.people import NotificationTarget

HOOK = NotificationTarget(
    "n1",
    TENANT,
    USER,
    "hook",
    "https://hooks.example/secret",
    ["failed"],
    b"sealed",
    1.0,
    USER,
    failures=2,
    next_at_s=9.0,
)

MAIL: dict[str, Any] = {
    "mail_domains": ["example.org"],
    "smtp_url": "smtp://mail.example:25",
    "mail_from": "zoe@example.org",
}


def test_a_target_tells_when_it_is_tried_again() -> None:
    told = notifications._view(HOOK)
    assert (told.next_at_s, told.failures, told.secret, told.waiting) == (9.0, 2, None, False)
    assert notifications._view(replace(HOOK, failures=0)).next_at_s is None
    assert notifications._view(replace(HOOK, stopped=True)).next_at_s is None
    assert notifications._view(replace(HOOK, news_id=5, done_id=4)).waiting
    assert not notifications._view(replace(HOOK, news_id=5, done_id=5)).waiting
    assert notifications._view(HOOK, "whsec_x").secret == "whsec_x"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hooks.example/secret/path", "https://hooks.example/..."),
        ("https://hooks.example:8443/x", "https://hooks.example:8443/..."),
        ("mailto:team@example.org", "mailto:..."),
    ],
)
def test_the_url_of_the_tenants_target_is_for_operators(url: str, shown: str) -> None:
    of_tenant = replace(HOOK, user=None, url=url, last_error="10.0.0.1 refused")
    seen = notifications._visible_target(of_tenant, person())
    assert (seen.url, seen.last_error) == (shown, "")
    whole = notifications._visible_target(of_tenant, operator())
    assert (whole.url, whole.last_error) == (url, "10.0.0.1 refused")
    assert notifications._visible_target(replace(HOOK, url=url), person()).url == url


@pytest.mark.parametrize("url", ["http://127.0.0.1/x", "https://10.0.0.1/x", "mailto:a@other.example", "ftp://a"])
def test_notifications_are_not_sent_just_anywhere(url: str) -> None:
    with refusal(Code.TARGET_REFUSED):
        notifications._check_url(url, services(**MAIL).settings)


def test_webhooks_and_addresses_that_settings_allow_are_taken() -> None:
    settings = services(**MAIL, webhook_networks=["10.0.0.0/8"]).settings
    for url in ("https://10.0.0.1/x", "https://hooks.example/x", "mailto:a@example.org"):
        notifications._check_url(url, settings)


def made_target(tmp_path: Path, before: list[NotificationTarget], of_tenant: bool = False, **body: Any) -> Any:
    made = services(keys_dir=tmp_path, notification_targets_max=7, **MAIL)
    kept: list[Any] = []

    def set_target(target: NotificationTarget, most: int) -> NotificationTarget:
        kept.append((target, most))
        return target

    made.accounts.targets = lambda tenant, user: before
    made.accounts.set_target = set_target
    given = {"url": "https://hooks.example/y", **body}
    principal = operator(USER) if of_tenant else person()
    told = notifications.set_target("hook", TargetRequest(**given), caller_of(made, principal), of_tenant)
    return told, kept[0][0], kept[0][1]


def test_a_new_target_gets_a_secret_which_is_told_once(tmp_path: Path) -> None:
    told, kept, most = made_target(tmp_path, [], on=("failed", "failed"))
    assert told.secret.startswith("whsec_")
    assert (kept.tenant, kept.user, kept.name, kept.kinds, most) == (TENANT, USER, "hook", ["failed"], 7)
    assert (kept.set_by, kept.id[0], len(kept.id), bool(kept.sealed)) == (USER, "n", 25, True)


def test_a_target_that_is_replaced_keeps_its_secret_unless_a_new_one_is_asked_for(tmp_path: Path) -> None:
    others = [replace(HOOK, user=None, id="n2"), replace(HOOK, name="other", id="n3")]
    told, kept, _ = made_target(tmp_path, [*others, HOOK])
    assert (told.secret, kept.id, kept.sealed, kept.url) == (None, "n1", b"sealed", "https://hooks.example/y")
    told, kept, _ = made_target(tmp_path, [HOOK], new_secret=True)
    assert (kept.id, kept.sealed != b"sealed", told.secret is None) == ("n1", True, False)
    assert made_target(tmp_path, others)[1].id not in ("n1", "n2", "n3")
    assert made_target(tmp_path, others, of_tenant=True)[1].id == "n2"


def test_an_address_of_mail_has_no_secret(tmp_path: Path) -> None:
    assert made_target(tmp_path, [], url="mailto:a@example.org")[0].secret is None


def test_too_many_targets_are_refused(tmp_path: Path) -> None:
    made = services(keys_dir=tmp_path)

    def full(*_: Any) -> None:
        raise TooManyTargets("ten")

    made.accounts.targets, made.accounts.set_target = (lambda *_: []), full
    with refusal(Code.TOO_MANY_TARGETS):
        notifications.set_target("hook", TargetRequest(url="https://hooks.example/y"), caller_of(made, person()))


def test_targets_of_the_tenant_are_for_operators() -> None:
    assert notifications._owner(person(), False) == USER
    assert notifications._owner(operator(), False) == "olga"
    assert notifications._owner(operator(), True) is None
    with refusal(Code.ROLE_MISSING):
        notifications._owner(person(), True)
