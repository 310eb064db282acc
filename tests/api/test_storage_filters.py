"""Uploaded filters from command line and SDK to a storage controller: owners and rights."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, problem
from tests.support.asked_controller import asks
from tests.support.modules import FLIPPING, READING, entry, module
from tests.support.people import make_token
from tests.support.storage_controller import served_controller
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_client import Client
from zoe_client.wire import StorageFilterRequest
from zoe_lib.store.people import AuditEntry

FLIP = module(*FLIPPING)


def wanted(content: bytes = FLIP, **more: Any) -> StorageFilterRequest:
    return StorageFilterRequest(module=base64.b64encode(content).decode(), **more)


@pytest.fixture
def red(api: Api, postgres_url: str) -> Iterator[Client]:
    """A user of the tenant red; the API asks a controller."""
    with served_controller(postgres_url) as controller:
        asks(api, controller)
        yield api.client()


def test_a_user_uploads_for_the_tenant_and_an_admin_for_all(api: Api, red: Client) -> None:
    made = red.upload_storage_filter("Flip", wanted())
    assert (made.tenant, made.name, made.runs) == ("red", "flip", "stored")
    assert made.sha256 == hashlib.sha256(FLIP).hexdigest()
    admin = api.client(api.admin)
    shared = admin.upload_storage_filter("read", wanted(module(*READING), shared=True))
    assert (shared.tenant, shared.runs, shared.same_size) == (None, "read", True)
    admin.upload_storage_filter("flip", wanted(tenant="blue"))
    assert [(filter_.tenant, filter_.name) for filter_ in red.storage_filters().filters] == [
        (None, "read"),
        ("red", "flip"),
    ]
    assert [filter_.tenant for filter_ in admin.storage_filters(everyone=True).filters] == [None, "blue", "red"]
    [rule] = admin.add_storage_rules("FOR CONTAINER red/c DO SET flip").rules
    assert rule.enforced
    assert [filter_.rules for filter_ in red.storage_filters().filters] == [[], [rule.id]]


def test_others_and_all_need_an_admin_and_viewers_upload_nothing(api: Api, red: Client) -> None:
    http = api.http()
    body = wanted().model_dump()
    for more in ({"tenant": "blue"}, {"shared": True}):
        refused = http.put("/api/v1/storage/filters/flip", json=body | more)
        assert refused.status_code == 403, refused.text
        assert http.delete("/api/v1/storage/filters/flip", params=more).status_code == 403
    assert http.get("/api/v1/storage/filters", params={"everyone": True}).status_code == 403
    viewer = api.http(make_token(api.store, tenant="red", user="eve", scopes=("read",)))
    assert viewer.put("/api/v1/storage/filters/flip", json=body).status_code == 403
    assert viewer.get("/api/v1/storage/filters").json() == {"filters": [], "versions": []}


def test_invalid_filter_is_refused_with_the_controllers_sentence(api: Api, red: Client) -> None:
    for name, content, sentence in (
        ("flip", b"text", "does not begin with"),
        ("encryption", FLIP, "the name of another filter"),
    ):
        answer = api.http().put(f"/api/v1/storage/filters/{name}", json=wanted(content).model_dump())
        assert problem(answer)["code"] == "storage_rule_refused"
        assert sentence in answer.text
    assert api.http().put("/api/v1/storage/filters/a", json={"module": "A" * 1_500_000}).status_code in (413, 422)
    assert api.http().delete("/api/v1/storage/filters/absent").status_code >= 400


def test_the_command_line_uploads_lists_and_removes(
    api: Api, red: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOE_URL", api.url)
    monkeypatch.setenv("ZOE_TOKEN", api.token)
    (tmp_path / "turn.wasm").write_bytes(FLIP)
    run = CliRunner()
    for arguments, said in (
        (["add", str(tmp_path / "turn.wasm")], "turn"),
        (["ls"], hashlib.sha256(FLIP).hexdigest()[:12]),
        (["rm", "turn"], "turn"),
    ):
        done = run.invoke(app, ["storage", "filter", *arguments])
        assert done.exit_code == 0, done.output
        assert said in done.output
    assert red.storage_filters().filters == []


def test_an_upload_of_a_user_changes_no_rule_and_a_move_is_in_the_audit_log(
    api: Api, red: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any user of the tenant replaced what an admin's rule ran."""
    admin = api.client(api.admin)
    passes = module(entry("transform", "(i32.const 0)"))
    first, second = (hashlib.sha256(content).hexdigest() for content in (module(*READING), passes))
    red.upload_storage_filter("mask", wanted(module(*READING)))
    [rule] = admin.add_storage_rules("FOR CONTAINER red/people DO SET mask").rules
    assert [(module.name, module.tenant, module.sha256, module.newest) for module in rule.modules] == [
        ("mask", "red", first, True)
    ]
    other = api.http(make_token(api.store, tenant="red", user="ben"))
    for refused in (
        other.put("/api/v1/storage/filters/mask", json=wanted(passes).model_dump()),
        other.delete("/api/v1/storage/filters/mask"),
    ):
        assert problem(refused)["code"] == "storage_rule_refused"
        assert "its author or an admin changes it" in refused.text
    assert red.upload_storage_filter("mask", wanted(passes)).rules == [rule.id]
    [kept] = admin.storage_rules().rules
    assert [(module.sha256, module.newest) for module in kept.modules] == [(first, False)]
    path = f"/api/v1/storage/rules/{rule.id}/filters/mask"
    assert api.http().put(path, json={}).status_code == 403
    monkeypatch.setenv("ZOE_URL", api.url)
    monkeypatch.setenv("ZOE_TOKEN", api.admin)
    listed = CliRunner().invoke(app, ["storage", "policy", "ls"])
    assert f"mask {first[:12]} (not the newest)" in " ".join(listed.output.split())
    moved = CliRunner().invoke(app, ["storage", "policy", "move", str(rule.id), "mask"])
    assert (moved.exit_code, f"mask {second[:12]}" in moved.output) == (0, True), moved.output

    def moves() -> list[AuditEntry]:
        return [
            entry
            for entry in api.store.accounts.audit(None, 10)
            if entry.action == "move_storage_rule" and entry.changes
        ]

    wrong = CliRunner().invoke(app, ["storage", "policy", "move", str(rule.id), "mask", "--to", "XY"])
    assert (wrong.exit_code, "6 to 64 of its digits" in " ".join(wrong.output.split())) == (2, True), wrong.output
    red.upload_storage_filter("mask", wanted(module(*READING)))
    gone = CliRunner().invoke(app, ["storage", "policy", "rm", str(rule.id)])
    assert f"version {second[:12]} of mask is removed" in " ".join(gone.output.split()), gone.output
    again = CliRunner().invoke(app, ["storage", "policy", "restore", str(rule.id)])
    assert f"ran version {second[:12]} of mask of red, which was removed" in str(again.exception)
    entries = until(moves)
    assert (entries[0].target, entries[0].changes) == (path, {"mask": [first, second]})


def test_admins_remove_versions_that_are_kept_for_objects(
    api: Api, red: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    red.upload_storage_filter("mask", wanted(module(*READING)))
    [kept] = red.storage_filters().versions
    assert (kept.name, kept.newest, kept.rules, kept.objects) == ("mask", True, [], False)
    path = f"/api/v1/storage/filters/mask/versions/{kept.sha256[:12]}"
    assert api.http().delete(path).status_code == 403
    monkeypatch.setenv("ZOE_URL", api.url)
    monkeypatch.setenv("ZOE_TOKEN", api.admin)
    listed = CliRunner().invoke(app, ["storage", "filter", "ls", "--everyone", "--versions"])
    assert (kept.sha256[:12] in listed.output, "newest" in listed.output) == (True, True)
    refused = CliRunner().invoke(app, ["storage", "filter", "rm", "mask", "--tenant", "red", "--version", kept.sha256])
    assert "is the newest version of mask" in str(refused.exception)
