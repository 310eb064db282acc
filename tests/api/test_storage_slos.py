"""`zoe storage slo`: bandwidth that an admin guarantees to a tenant for good, from command line to controller."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.api.test_storage_filters import red
from tests.support.api import Api
from tests.support.storage_controller import MB
from zoe_cli.main import app
from zoe_client import Client, NotAllowed, Refused
from zoe_client.wire import StorageSloRequest

__all__ = ["red"]


@pytest.fixture
def admin(api: Api, red: Client) -> CliRunner:
    return CliRunner(env={"ZOE_URL": api.url, "ZOE_TOKEN": api.admin})


def test_an_admin_sets_lists_and_removes_it(admin: CliRunner) -> None:
    done = admin.invoke(app, ["storage", "slo", "set", "red", "--read", "40MB/s", "--write", "20MB/s", "-o", "json"])
    assert done.exit_code == 0, done.output
    made = json.loads(done.output)
    assert (made["read_bytes_per_s"], made["write_bytes_per_s"], made["standing"]) == (40 * MB, 20 * MB, True)
    listed = admin.invoke(app, ["storage", "slo", "ls"]).output
    assert "red" in listed
    assert "40 MB/s" in listed
    assert admin.invoke(app, ["storage", "slo", "rm", "red"]).exit_code == 0
    assert "MB/s" not in admin.invoke(app, ["storage", "slo", "ls"]).output
    assert admin.invoke(app, ["storage", "slo", "rm", "red"]).exit_code != 0


@pytest.mark.parametrize("wrong", [[], ["--read", "fast"], ["--read", "40"], ["--read", "0MB/s"], ["--read", "99kB/s"]])
def test_invalid_slo_is_refused(admin: CliRunner, wrong: list[str]) -> None:
    assert admin.invoke(app, ["storage", "slo", "set", "red", *wrong]).exit_code == 2
    assert "red" not in admin.invoke(app, ["storage", "slo", "ls"]).output


def test_more_than_the_store_can_move_is_refused_with_what_it_can(api: Api, red: Client) -> None:
    with pytest.raises(Refused, match="is more than the 100 MB/s that the store can move"):
        api.client(api.admin).set_storage_slo("red", StorageSloRequest(read_bytes_per_s=101 * MB))
    assert api.client(api.admin).storage_slos().slos == []


def test_it_is_for_admins(red: Client) -> None:
    for call in (
        red.storage_slos,
        lambda: red.set_storage_slo("red", StorageSloRequest(read_bytes_per_s=MB)),
        lambda: red.remove_storage_slo("red"),
    ):
        with pytest.raises(NotAllowed):
            call()


def test_a_rate_that_is_not_named_stays_and_none_removes_one(admin: CliRunner) -> None:
    def set_to(*arguments: str) -> tuple[int | None, int | None]:
        done = admin.invoke(app, ["storage", "slo", "set", "red", *arguments, "-o", "json"])
        assert done.exit_code == 0, done.output
        made = json.loads(done.stdout)
        return made["read_bytes_per_s"], made["write_bytes_per_s"]

    assert set_to("--read", "40MB/s", "--write", "20MB/s") == (40 * MB, 20 * MB)
    assert set_to("--read", "30MB/s") == (30 * MB, 20 * MB)
    assert set_to("--read", "none") == (None, 20 * MB)
    assert admin.invoke(app, ["storage", "slo", "set", "red", "--write", "none"]).exit_code != 0, "rm removes the last"


def test_a_tenant_that_zoe_does_not_know_gets_a_note(api: Api, red: Client) -> None:
    wanted = StorageSloRequest(read_bytes_per_s=MB)
    admin = api.client(api.admin)
    assert admin.set_storage_slo("red", wanted).notes == []
    [note] = admin.set_storage_slo("ghost", wanted).notes
    assert note.startswith("Zoe has no tenant ghost")
