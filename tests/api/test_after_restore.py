"""A restored database, and then everything an admin relies on: sums, retention, statements, hand-over, promises."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.after_event import AdminsDay
from tests.support.api import Api
from tests.support.documents import document, part
from tests.support.master import NODES
from tests.support.postgres import PostgresServer
from tests.support.statements import statements_of
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.executions.use import DAY_S
from zoe_lib.store.backup.backup import back_up
from zoe_lib.store.backup.restore import restore
from zoe_lib.store.postgres.store import PostgresStore
from zoe_master.backends.simulated import ServiceBehaviour


class Before:
    """What the lost installation had: an ended execution of ada's, and a queued one."""

    def __init__(self, api: Api) -> None:
        master = api.start_master()
        master.behaviours["short"] = ServiceBehaviour(run_s=0.2)
        client, admin = api.client(), api.client(api.admin)
        self.day = AdminsDay(api.store, admin, api.url)
        self.ended = client.submit(document(part("short", ends_application=True))).id
        until(lambda: client.execution(self.ended).state is ExecutionState.SUCCEEDED)
        api.stop_master()
        self.queued = client.submit(document(part("short", ends_application=True))).id
        self.use = use_of(api)
        self.position = api.store.last_journal_id()


def use_of(api: Api) -> Any:
    today = int(time.time() // DAY_S)
    return api.store.daily_use(today - 1, today, None)


@pytest.fixture
def before(api: Api) -> Before:
    return Before(api)


@pytest.fixture
def backup(before: Before, postgres_url: str, tmp_path: Path) -> Path:
    assert before.position
    back_up(postgres_url, tmp_path / "backup", tmp_path / "no.key", "test", time.time())
    return tmp_path / "backup"


@pytest.fixture
def restored(backup: Path, postgres_server: PostgresServer, tmp_path: Path) -> Iterator[Api]:
    """An API over the restored database."""
    url = postgres_server.create_empty_database()
    restore(url, backup, tmp_path / "keys", time.time())
    again = Api(url)
    yield again
    again.close()
    postgres_server.drop_database(url)


def test_sums_go_on_at_once_and_what_is_old_is_removed(restored: Api, before: Before) -> None:
    """The ids that a restore skips cost nothing."""
    assert restored.store.last_journal_id() > before.position + 10**6
    assert not restored.store.sum_up(), "one transaction sums up all entries"
    assert use_of(restored) == before.use
    with statements_of(restored.store) as asked:
        assert restored.store.prune(time.time() + 365 * DAY_S) == 2
    assert len(asked) < 40
    assert [e.id for e in restored.client().executions().executions] == [before.queued]
    assert use_of(restored) == before.use


def test_a_second_restore_of_the_same_backup_uses_no_id_and_no_epoch_of_the_first(
    restored: Api, backup: Path, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    """Also after an hour of writing, as when the first backup tried was the wrong one."""
    url = postgres_server.create_empty_database()
    restore(url, backup, tmp_path / "keys", time.time() + 3600)
    with closing(PostgresStore(url)) as again:
        assert again.last_journal_id() > restored.store.last_journal_id() + 10**6
        later, earlier = again.try_lead("test"), restored.store.try_lead("test")
        assert later is not None
        assert earlier is not None
        assert later > earlier + 1000
    postgres_server.drop_database(url)


@pytest.mark.parametrize(("times", "nodes"), [(1, 2), (2, 2), (1, 1)], ids=["once", "twice", "a node lost, too"])
def test_an_admin_goes_on_with_everything(
    restored: Api, before: Before, backup: Path, postgres_server: PostgresServer, tmp_path: Path, times: int, nodes: int
) -> None:
    """After a restore, after a second one of the same backup an hour later, and after one with a node fewer."""
    again, url = restored, None
    if times == 2:
        url = postgres_server.create_empty_database()
        restore(url, backup, tmp_path / "keys", time.time() + 3600)
        again = Api(url)
    again.start_master(nodes=NODES[:nodes]).behaviours["short"] = ServiceBehaviour(run_s=0.2)
    before.day.check(again.store, again.client(again.admin), again.url)
    if url is not None:
        again.close()
        postgres_server.drop_database(url)


def test_what_waited_runs_and_promises_are_made_and_told_in_new_entries(restored: Api, before: Before) -> None:
    master = restored.start_master()
    master.behaviours["short"] = ServiceBehaviour(run_s=0.2)
    client = restored.client()
    assert client.wait(before.queued, timeout_s=30).state is ExecutionState.SUCCEEDED
    asked = document(part("short", ends_application=True), size={"run_time_s": 5})
    promised = client.submit(asked, finish_by="+60s", confidence=0.8, budget=10)
    done = client.wait(promised.id, timeout_s=30)
    assert done.deadline is not None
    assert done.deadline.status == "met"
    assert min(event.id for event in client.events(promised.id).events) > before.position + 10**6
    assert not restored.store.sum_up()
