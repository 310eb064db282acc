"""Descriptions: catalogue entries by role, and the demand of an application."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.applications import GIB, application, component, execution
from tests.support.plain_api import PEER, TENANT, USER, caller_of, person, services
from zoe_api.executions.submissions import checking, descriptions
from zoe_client.wire import FillRequest
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.executions.limits import Limits, LimitSubject
from zoe_lib.store.errors import NotFound, QuotaExceeded

ENTRY: Any = SimpleNamespace(id="e", title="Notebook")


@pytest.mark.parametrize(
    ("own_s", "longest_s", "told_s"),
    [
        *((None, None, None), (None, 60.0, None), (100.0, None, 100.0), (60.0, 60.0, 60.0), (61.0, 60.0, 60.0)),
        (1.0, 60.0, 1.0),
    ],
)
def test_a_time_limit_that_nobody_chose_is_at_most_the_tenants(
    own_s: float | None, longest_s: float | None, told_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"name": "x"} | ({} if own_s is None else {"time_limit_s": own_s})
    monkeypatch.setattr("zoe_lib.descriptions.catalogue_document", lambda _: dict(document))
    limits = Limits({} if longest_s is None else {"red": {"time_limit_s": longest_s}})
    assert descriptions._document_of(ENTRY, "red", limits).get("time_limit_s") == told_s


def test_form_shows_the_default_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoe_lib.descriptions.catalogue_document", lambda _: {"name": "x"})
    limits = Limits({"red": {"time_limit_s": 60.0}}, {}, 90.0)
    assert descriptions._document_of(ENTRY, "red", limits)["time_limit_s"] == 60.0
    assert descriptions._document_of(ENTRY, "blue", limits)["time_limit_s"] == 90.0


@pytest.mark.parametrize(
    ("code", "hints", "plain"),
    [
        ("image_absent", {}, True),
        ("image_not_allowed", {"a": "b"}, True),
        ("image_not_allowed", {}, False),
        ("no_device", {"a": "b"}, False),
    ],
)
def test_reasons_of_images_are_told_in_plain_words(code: str, hints: dict[str, str], plain: bool) -> None:
    platform = Platform((), BackendCapabilities(image_hints=hints), None)
    told = descriptions._plain(Finding((), code, "message"), ENTRY, platform)
    assert told == ("Notebook is not installed here" if plain else "message")


def obstacle(monkeypatch: pytest.MonkeyPatch, *found: Finding) -> Finding | None:
    app = application(component("worker"), component("main", ends_application=True))
    monkeypatch.setattr("zoe_lib.descriptions.catalogue_document", lambda _: {})
    monkeypatch.setattr("zoe_lib.descriptions.parse", lambda _: app)
    monkeypatch.setattr(descriptions, "findings", lambda *_: list(found))
    return descriptions._obstacle(ENTRY, Platform((), BackendCapabilities(), None))


def test_the_obstacle_of_the_component_that_ends_the_application_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Finding(("components", 0, "image"), "no_device", "other")
    main = Finding(("components", 1, "image"), "no_device", "main")
    unsure = Finding(("components", 1), "x", "unsure", certain=False)
    absent = Finding(("components", 0), "image_absent", "absent", certain=False)
    assert obstacle(monkeypatch) is None
    assert obstacle(monkeypatch, unsure) is None
    assert obstacle(monkeypatch, unsure, absent) is absent
    assert obstacle(monkeypatch, other, main) is main
    assert obstacle(monkeypatch, other) is other


@pytest.mark.parametrize(
    ("changes", "noted"),
    [
        ({}, False),
        ({"default_deadline_s": 5.0}, True),
        ({"default_deadline": "tomorrow"}, True),
        ({"default_deadline_s": 5.0, "expected_run_s": 1.0}, False),
    ],
)
def test_a_deadline_without_a_run_time_is_noted(changes: dict[str, Any], noted: bool) -> None:
    assert bool(checking.unknown_run(application(**changes))) is noted


def test_demand_has_the_limits_of_tenant_and_user() -> None:
    made = services(execution(1), execution(2, user=PEER), execution(3, tenant="elsewhere"))
    limits = {None: 5, USER: 2}
    for user, most in limits.items():
        subject = LimitSubject(TENANT, user)
        made.store.change_limits(lambda now: now.with_changed_amounts(subject, {"executions": most}), 1.0, "c")  # noqa: B023
    app = application(time_limit_s=60.0)
    told = descriptions._demand(made.store, person(), app)
    assert (told.core.services, told.core.cores, told.core.memory_bytes) == (2, 2.0, 2 * GIB)
    assert (told.elastic.services, told.elastic.cores, told.time_limit_s) == (2, 2.0, 60.0)
    assert (told.executions, told.executions_max) == (2, 5)
    assert (told.executions_of_user, told.executions_of_user_max) == (1, 2)
    made.store._state.put(execution(4))
    with pytest.raises(QuotaExceeded):
        descriptions._demand(made.store, person(), app)


def test_an_entry_that_a_role_may_not_have_does_not_exist() -> None:
    with pytest.raises(NotFound):
        descriptions.fill_form("none", FillRequest(values={}), caller_of(services(), person()))
