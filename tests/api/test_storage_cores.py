"""`zoe storage cores`: the CPU time of a tenant's filters, bounded by an admin, from command line to controller."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.api.test_storage_filters import red
from tests.support.api import Api
from zoe_cli.main import app
from zoe_client import Client, NotAllowed
from zoe_client.wire import StorageCoresRequest

__all__ = ["red"]


@pytest.fixture
def admin(api: Api, red: Client) -> CliRunner:
    return CliRunner(env={"ZOE_URL": api.url, "ZOE_TOKEN": api.admin})


def test_an_admin_sets_lists_and_removes_it(api: Api, admin: CliRunner) -> None:
    done = admin.invoke(app, ["storage", "cores", "set", "red", "0.5", "-o", "json"])
    assert done.exit_code == 0, done.output
    made = json.loads(done.output)
    assert (made["tenant"], made["cores"], made["standing"], made["author"]) == ("red", 0.5, True, "root")
    said = admin.invoke(app, ["storage", "cores", "set", "elsewhere", "2"]).output
    assert "Zoe has no tenant elsewhere" in said
    assert "Zoe has no tenant" not in admin.invoke(app, ["storage", "cores", "set", "*", "4"]).output
    rows = json.loads(admin.invoke(app, ["storage", "cores", "ls", "-o", "json"]).output)["cores"]
    assert {row["tenant"]: row["cores"] for row in rows} == {"red": 0.5, "elsewhere": 2.0, "*": 4.0}
    for tenant in ("red", "elsewhere", "*"):
        assert admin.invoke(app, ["storage", "cores", "rm", tenant]).exit_code == 0
    assert admin.invoke(app, ["storage", "cores", "rm", "red"]).exit_code != 0
    assert "There is no limit" in admin.invoke(app, ["storage", "cores", "ls"]).output
    assert [entry.status for entry in api.store.accounts.audit(None, 100) if entry.action == "set_storage_cores"] == [
        201
    ] * 3


@pytest.mark.parametrize("wrong", ["0", "many", "nan", "2000"])
def test_invalid_number_of_cores_is_refused(admin: CliRunner, wrong: str) -> None:
    assert admin.invoke(app, ["storage", "cores", "set", "red", wrong]).exit_code == 2
    assert "red" not in admin.invoke(app, ["storage", "cores", "ls"]).output


def test_it_is_for_admins(red: Client) -> None:
    for call in (
        red.storage_cores,
        lambda: red.set_storage_cores("red", StorageCoresRequest(cores=1.0)),
        lambda: red.remove_storage_cores("red"),
    ):
        with pytest.raises(NotAllowed):
            call()
