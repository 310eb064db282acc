"""Contract of every store on reading its journal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tests.support.applications import execution
from tests.support.store_events import OpenStore, queued, refused
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.store.base import ExecutionStore


def test_the_journal_is_read_on_from_an_id(any_store: ExecutionStore) -> None:
    assert any_store.last_journal_id() == 0
    for number in range(1, 6):
        any_store.submit(execution(number), "request")
    ids = [entry.id for entry in any_store.journal(0, 100)]
    assert ids == sorted(set(ids))
    assert [entry.id for entry in any_store.journal(ids[1], 2)] == ids[2:4]
    assert any_store.journal(ids[-1], 10) == []


def test_the_journal_of_a_tenant_has_what_is_nobodys(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request")
    any_store.set_policy(any_store.policy(), 0, 1.0, "admin")
    any_store.submit(execution(2, tenant="other"), "request")
    any_store.submit(execution(3), "request")
    assert [e.tenant for e in any_store.journal(0, 10, Visibility("iostack"))] == ["iostack", None, "iostack"]
    assert [e.tenant for e in any_store.journal(0, 2, Visibility("iostack"))] == ["iostack", None]
    assert [e.tenant for e in any_store.journal(0, 10, Visibility("other"))] == [None, "other"]
    assert [e.tenant for e in any_store.journal(0, 10)] == ["iostack", None, "other", "iostack"]


def test_the_journal_without_data_says_who_changed_when(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request")
    any_store.append(execution(1).id, [refused()], 1, None)
    any_store.set_policy(any_store.policy(), 0, 1.0, "admin")
    full = any_store.journal(0, 10)
    assert any(entry.data for entry in full)
    assert any_store.journal(0, 10, with_data=False) == [replace(entry, data={}) for entry in full]


def test_the_journal_of_one_execution(any_store: ExecutionStore) -> None:
    any_store.submit(execution(1), "request")
    any_store.submit(execution(2), "request")
    any_store.append(execution(1).id, [queued()], 1, None)
    assert [e.kind for e in any_store.journal(0, 10, execution_id=execution(1).id)] == ["submitted", "queued"]
    assert len(any_store.journal(0, 10, Visibility("iostack"), execution_id=execution(1).id)) == 2
    assert not any_store.journal(0, 10, Visibility("other"), execution_id=execution(1).id)


def test_a_reader_by_id_misses_nothing(open_store: OpenStore) -> None:
    writers, each = 4, 12
    stores = [open_store() for _ in range(writers)]
    reader = open_store()

    def write(writer: int) -> None:
        for number in range(each):
            stores[writer].submit(execution(100 * (writer + 1) + number), "request")

    seen: list[int] = []
    with ThreadPoolExecutor(writers) as pool:
        done = [pool.submit(write, writer) for writer in range(writers)]
        finished = False
        while not finished:
            all_written = all(future.done() for future in done)
            entries = reader.journal(seen[-1] if seen else 0, 5)
            seen += [entry.id for entry in entries]
            finished = all_written and not entries
        for future in done:
            future.result()
    assert seen == [entry.id for entry in reader.journal(0, 1000)]
    assert len(seen) == writers * each


def test_many_submissions_at_once_are_all_kept(open_store: OpenStore) -> None:
    stores = [open_store(), open_store()]

    def submit(number: int) -> Execution:
        return stores[number % 2].submit(execution(number), f"request-{number}", f"key {number // 3}", "same")

    with ThreadPoolExecutor(12) as pool:
        given = list(pool.map(submit, range(90)))
    stored = {e.id: e for e in open_store().active()}
    assert len(stored) == 30
    assert all(stored[e.id] == e for e in given)
    assert {len({e.id for e in given[third : third + 3]}) for third in range(0, 90, 3)} == {1}
    entries = stores[0].journal(0, 100)
    assert sorted(str(entry.execution_id) for entry in entries) == sorted(stored)
    assert all(entry.cause_id == f"request-{int(str(entry.execution_id)[-4:])}" for entry in entries)
