"""`zoe storage policy apply, applying, cancel` from command line and SDK to a storage controller."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from storage_controller.answers import RequestRefusedError as ControllerRefused
from storage_controller.swift.objects import SwiftObjects
from tests.api.test_storage_filters import red
from tests.support.api import Api
from zoe_cli.main import app
from zoe_client import Client, NotAllowed, Refused
from zoe_client.wire import StorageRewriteRequest

__all__ = ["red"]


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store with one container; nothing walks it, so that a job stays as it was begun."""

    def count(_: object, tenant: str, container: str) -> int:
        if container != "docs":
            raise ControllerRefused(404, f"{tenant} has no container {container}")
        return 3

    monkeypatch.setattr(SwiftObjects, "count", count)


@pytest.fixture
def admin(api: Api, red: Client) -> CliRunner:
    return CliRunner(env={"ZOE_URL": api.url, "ZOE_TOKEN": api.admin, "COLUMNS": "200"})


def zoe(runner: CliRunner, *arguments: str) -> tuple[int, str]:
    done = runner.invoke(app, ["storage", "policy", *arguments])
    return done.exit_code, done.stdout if done.exit_code == 0 else f"{done.output} {done.exception}"


def test_an_admin_begins_sees_and_cancels_a_job(admin: CliRunner) -> None:
    code, printed = zoe(admin, "apply", "red/docs", "--undo", "--rate", "5MB/s", "-o", "json")
    assert code == 0, printed
    made: dict[str, Any] = json.loads(printed)
    assert (made["tenant"], made["container"], made["plain"], made["dry_run"]) == ("red", "docs", True, False)
    assert (made["state"], made["bytes_per_s"], made["author"]) == ("running", 5_000_000, "root")
    code, printed = zoe(admin, "apply", "red", "--dry-run")
    assert (code != 0, f"job {made['id']} is running, and only one runs at a time" in printed) == (True, True), printed
    assert "red/docs" in zoe(admin, "applying")[1]
    assert zoe(admin, "cancel", str(made["id"]))[0] == 0
    assert "cancelled" in zoe(admin, "applying")[1]
    assert zoe(admin, "cancel", str(made["id"]))[0] != 0
    code, printed = zoe(admin, "resume", str(made["id"]), "-o", "json")
    assert (code, json.loads(printed)["state"]) == (0, "running")
    assert zoe(admin, "resume", str(made["id"]))[0] != 0, "it runs"
    assert zoe(admin, "cancel", str(made["id"]))[0] == 0
    code, printed = zoe(admin, "apply", "red", "--dry-run", "-o", "json")
    assert (code, json.loads(printed)["bytes_per_s"], json.loads(printed)["container"]) == (0, 20_000_000, "")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["/docs"], "neither TENANT nor"),
        (["red/"], "neither TENANT nor"),
        (["red/docs/a"], "neither TENANT nor"),
        ([""], "neither TENANT nor"),
        (["red", "--rate", "1"], "is not a rate"),
        (["red", "--rate", "1kB/s"], "at least 100 kB/s"),
        (["red/nosuch"], "red has no container nosuch"),
    ],
)
def test_invalid_apply_is_refused(admin: CliRunner, wrong: list[str], sentence: str) -> None:
    code, printed = zoe(admin, "apply", *wrong)
    assert (code in (1, 2), sentence in " ".join(printed.split())) == (True, True), printed
    assert "red" not in zoe(admin, "applying")[1]


def test_it_is_for_admins(red: Client) -> None:
    for call in (
        red.storage_rewrites,
        lambda: red.begin_storage_rewrite(StorageRewriteRequest(tenant="red")),
        lambda: red.cancel_storage_rewrite(1),
        lambda: red.resume_storage_rewrite(1),
    ):
        with pytest.raises(NotAllowed):
            call()


@pytest.mark.usefixtures("red")
def test_a_job_that_does_not_run_cannot_be_cancelled(api: Api) -> None:
    with pytest.raises(Refused, match="job 999 is not running"):
        api.client(api.admin).cancel_storage_rewrite(999)
