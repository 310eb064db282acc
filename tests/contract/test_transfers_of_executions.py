"""Transfers of executions, as the storage controller adds them up in a real database from the reports of its
proxies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from storage_bridge.connect import connect
from storage_bridge.model import BandwidthSlo, EndedTransfers, StoreExecution, TransferTotals
from storage_bridge.zoe_controller import ZoeController
from storage_controller.regulation.transfers import KEPT_S, TransferBook
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_filters.execution_auth.names import user_of
from tests.support.manual_clock import ManualClock
from tests.support.storage_controller import Served, served_controller

SECRET = b"s" * 32
PROXIES = ("p1", "p2")


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url, ExecutionKeys(SECRET, "AUTH_")) as controller:
        yield controller


@pytest.fixture
def zoe(served: Served) -> ZoeController:
    found = connect(served.settings("zoe"))
    assert isinstance(found, ZoeController)
    return found


class Book(TransferBook):
    """A controller's book, with a clock by hand."""

    def __init__(self, served: Served) -> None:
        self.clock = ManualClock(0.0)
        super().__init__(served.ledger, PROXIES, self.clock)

    def later(self, seconds: float = 1.0) -> None:
        self.clock.advance(seconds)
        self.flush()


@pytest.fixture
def book(served: Served) -> Book:
    return Book(served)


def begun(zoe: ZoeController, name: str = "x1") -> tuple[str, int]:
    """A new credential; returns its counter's name and its generation."""
    user = user_of(zoe.set_execution(StoreExecution(name, "acme", BandwidthSlo())).user)
    assert user is not None
    return f"{name}/{user.generation}", user.generation


def so_far(zoe: ZoeController, name: str = "x1") -> TransferTotals | None:
    executions = zoe.executions()
    assert executions is not None
    return executions[name].totals


def ended(book: Book, zoe: ZoeController, name: str, counter: str) -> list[EndedTransfers]:
    """End a credential, and let both proxies answer that they have nothing more."""
    zoe.drop_execution(name)
    book.later()
    assert counter in book.requested_counters
    for proxy in PROXIES:
        book.hear(proxy, {}, [counter])
    book.later()
    return list(zoe.ended_transfers())


def test_counters_of_proxies_are_added_up_and_repetitions_change_nothing(zoe: ZoeController, book: Book) -> None:
    name, _ = begun(zoe)
    book.hear("p1", {name: [1, 100, 10, 1_000_000, 2_000_000]}, [])
    book.hear("p2", {name: [1, 50, 0, 500_000, 500_000]}, [])
    book.later()
    assert so_far(zoe) == TransferTotals(150, 10, 1.5, 2.5)
    book.hear("p1", {name: [1, 100, 10, 1_000_000, 2_000_000]}, [])
    book.later()
    assert so_far(zoe) == TransferTotals(150, 10, 1.5, 2.5)


def test_a_proxy_whose_counters_begin_anew_adds_to_what_it_had(zoe: ZoeController, book: Book) -> None:
    name, _ = begun(zoe)
    for born, read in ((1, 100), (2, 7), (2, 9), (1, 90)):
        book.hear("p1", {name: [born, read, 0, 0, 0]}, [])
        book.later()
    assert so_far(zoe) == TransferTotals(109, 0), "a late report of before takes nothing away"


def test_another_controller_goes_on_where_the_last_one_stopped(served: Served, zoe: ZoeController, book: Book) -> None:
    name, _ = begun(zoe)
    book.hear("p1", {name: [1, 100, 0, 1_000_000, 1_000_000]}, [])
    book.later()
    book.hear("p1", {name: [1, 180, 0, 1_800_000, 1_800_000]}, [])  # lost with the controller
    after = Book(served)
    after.later()
    assert so_far(zoe) == TransferTotals(100, 0, 1.0, 1.0)
    after.hear("p1", {name: [1, 250, 0, 2_500_000, 2_500_000]}, [])
    after.later()
    assert so_far(zoe) == TransferTotals(250, 0, 2.5, 2.5)


def test_proxies_that_transfer_at_the_same_time_take_that_time_once(zoe: ZoeController, book: Book) -> None:
    name, _ = begun(zoe)
    book.later()
    for proxy in PROXIES:
        book.hear(proxy, {name: [1, 10, 0, 1_000_000, 1_000_000]}, [])
    book.later()
    assert so_far(zoe) == TransferTotals(20, 0, 1.0, 2.0)
    for proxy in PROXIES:
        book.hear(proxy, {name: [1, 20, 0, 1_400_000, 1_400_000]}, [])
    book.later()
    assert so_far(zoe) == TransferTotals(40, 0, 1.8, 2.8), "less than the window: one after the other"


def test_it_is_not_known_until_all_proxies_count(served: Served, zoe: ZoeController, book: Book) -> None:
    begun(zoe)
    assert so_far(zoe) is None, "unknown is never 0"
    served.counting = lambda: all(book.counting.values())
    book.hear("p1", {}, [])
    book.hear("p2", None, [])  # an older proxy
    assert so_far(zoe) is None
    book.hear("p2", {}, [])
    assert so_far(zoe) == TransferTotals()


def test_the_count_is_settled_when_all_proxies_have_answered_after_the_end(zoe: ZoeController, book: Book) -> None:
    name, generation = begun(zoe)
    book.hear("p1", {name: [1, 100, 0, 0, 0]}, [name])  # there was no question
    book.later()
    zoe.drop_execution("x1")
    book.hear("p1", {name: [1, 120, 0, 0, 0]}, [name])
    book.later()
    assert book.requested_counters == [name]
    book.hear("p1", {name: [1, 130, 0, 0, 0]}, [name])
    book.later()
    assert zoe.ended_transfers() == [], "the other proxy has not answered"
    book.hear("p2", {name: [1, 5, 6, 0, 0]}, [name])
    book.later()
    whole = EndedTransfers("x1", generation, TransferTotals(135, 6), whole=True)
    assert zoe.ended_transfers() == [whole]
    assert book.requested_counters == []
    book.hear("p1", {name: [1, 999, 0, 0, 0]}, [])
    book.later()
    assert zoe.ended_transfers() == [whole], "settled is settled"
    zoe.forget_transfers(generation)
    zoe.forget_transfers(generation)
    assert zoe.ended_transfers() == []


def test_a_proxy_that_is_away_is_waited_for_a_minute(served: Served, zoe: ZoeController, book: Book) -> None:
    name, generation = begun(zoe)
    silent, of_silent = begun(zoe, "x2")
    book.hear("p1", {name: [1, 100, 0, 0, 0]}, [])
    book.later()
    for entry in ("x1", "x2"):
        zoe.drop_execution(entry)
    served.clock.advance(59)
    book.later()
    assert zoe.ended_transfers() == []
    assert book.requested_counters == [name, silent]
    served.clock.advance(2)
    book.later()
    assert zoe.ended_transfers() == [
        EndedTransfers("x1", generation, TransferTotals(100, 0), whole=False),
        EndedTransfers("x2", of_silent, None, whole=False),
    ]


def test_a_new_credential_of_an_execution_is_counted_apart(zoe: ZoeController, book: Book) -> None:
    first, of_first = begun(zoe)
    book.hear("p1", {first: [1, 100, 0, 0, 0]}, [])
    book.later()
    assert ended(book, zoe, "x1", first) == [EndedTransfers("x1", of_first, TransferTotals(100, 0))]
    second, of_second = begun(zoe)
    book.hear("p1", {second: [1, 7, 0, 0, 0], first: [1, 100, 0, 0, 0]}, [])
    book.later()
    assert so_far(zoe) == TransferTotals(7, 0)
    found = ended(book, zoe, "x1", second)
    assert [(transfers.generation, transfers.totals) for transfers in found] == [
        (of_first, TransferTotals(100, 0)),
        (of_second, TransferTotals(7, 0)),
    ]


def test_counters_of_strangers_and_nonsense_are_left_out(zoe: ZoeController, book: Book) -> None:
    name, generation = begun(zoe)
    book.hear("p1", {f"other/{generation}": [1, 9, 0, 0, 0], f"x1/{generation + 1}": [1, 9, 0, 0, 0]}, [])
    for nonsense in ({name: [1, -5, 0, 0, 0]}, {name: [1, 2]}, {"x1": [1, 5, 0, 0, 0]}):
        with pytest.raises(ValueError, match=r"counter|invalid literal"):
            book.hear("p1", nonsense, [])
    book.later()
    assert so_far(zoe) is None


def test_transfers_are_stored_later_after_a_failed_write(
    served: Served, zoe: ZoeController, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _ = begun(zoe)
    book.hear("p1", {name: [1, 100, 0, 0, 0]}, [])

    def away(*_: object) -> None:
        raise sa.exc.OperationalError("", {}, Exception("away"))

    with monkeypatch.context() as gone:
        gone.setattr(served.ledger, "add_transfers", away)
        with pytest.raises(sa.exc.OperationalError):
            book.later()
    book.later()
    assert so_far(zoe) == TransferTotals(100, 0)


def test_counts_that_nobody_fetches_and_those_of_others_are_kept_apart_and_not_for_ever(
    served: Served, zoe: ZoeController, book: Book
) -> None:
    name, generation = begun(zoe)
    book.hear("p1", {name: [1, 100, 0, 0, 0]}, [])
    book.later()
    other = connect(served.settings("other"))
    assert len(ended(book, zoe, "x1", name)) == 1
    assert other.ended_transfers() == []
    other.forget_transfers(generation)
    assert len(zoe.ended_transfers()) == 1
    served.clock.advance(KEPT_S - 1)
    book.later()
    assert len(zoe.ended_transfers()) == 1
    served.clock.advance(2)
    book.later()
    assert zoe.ended_transfers() == []


@pytest.mark.parametrize("generation", ["-1", "x", str(2**63)])
def test_numbers_that_no_credential_has_are_refused(served: Served, generation: str) -> None:
    with served.http() as http:
        assert http.delete(f"/v1/owners/zoe/transfers/{generation}").status_code == httpx.codes.BAD_REQUEST


def history(served: Served, from_s: float, to_s: float, **more: object) -> dict[str, Any]:
    query = {"from_s": from_s, "to_s": to_s, "stretch_s": 60, **more}
    with served.http() as http:
        answer = http.get("/v1/owners/zoe/history", params=query)
        assert answer.status_code == 200, answer.text
        return dict(answer.json()["executions"])


def test_the_history_of_an_execution_stays_after_its_bytes_were_fetched(
    served: Served, zoe: ZoeController, book: Book
) -> None:
    name, _ = begun(zoe)
    begin_s = 6_000_000.0
    served.clock.set(begin_s)
    uses = {
        f"{name}/request/GET/meters": [1, 4, 1, 90, 0],
        f"{name}/request/PUT/out": [1, 2, 0, 0, 10],
        f"{name}/rule/7/COMPRESSION/put": [1, 2, 0, 0, 0],
    }
    book.hear("p1", {name: [1, 60, 10, 0, 0]}, [], uses)
    book.hear("p2", {}, [], {f"{name}/request/GET/meters": [1, 1, 0, 10, 0], "x9/99/request/GET/a": [1, 1, 0, 1, 1]})
    book.later()
    served.clock.advance(120)
    book.hear("p1", {name: [1, 90, 10, 0, 0]}, [], {f"{name}/request/GET/meters": [1, 3, 1, 80, 0]})  # an older one
    book.hear("p1", {}, [], {f"{name}/request/GET/meters": [2, 1, 0, 30, 0]})  # it began anew
    book.later()
    [done] = ended(book, zoe, "x1", name)
    zoe.forget_transfers(done.generation)
    assert zoe.ended_transfers() == []
    told = history(served, begin_s - 60, begin_s + 600, execution="x1")["x1"]
    assert told["points"] == [
        {"at_s": begin_s, "read_bytes": 60, "written_bytes": 10},
        {"at_s": begin_s + 120, "read_bytes": 30, "written_bytes": 0},
    ]
    amounts = {
        entry["subject"]: (entry["done"], entry["refused"], entry["read_bytes"], entry["written_bytes"])
        for entry in told["uses"]
    }
    assert amounts == {
        "request/GET/meters": (6, 1, 130, 0),
        "request/PUT/out": (2, 0, 0, 10),
        "rule/7/COMPRESSION/put": (2, 0, 0, 0),
    }
    assert history(served, begin_s, begin_s + 60, tenant="acme")["x1"]["points"][0]["read_bytes"] == 60
    assert history(served, begin_s, begin_s + 60, tenant="beta") == {}
    assert history(served, begin_s + 240, begin_s + 600, tenant="acme") == {}
    served.clock.advance(KEPT_S + 1)
    book.later(600)
    assert history(served, begin_s - 60, begin_s + 600, execution="x1") == {"x1": {"points": [], "uses": []}}


def test_another_owner_sees_nothing_of_it(served: Served, zoe: ZoeController, book: Book) -> None:
    name, _ = begun(zoe)
    book.hear("p1", {name: [1, 60, 10, 0, 0]}, [], {f"{name}/request/GET/meters": [1, 4, 1, 90, 0]})
    book.later()
    with served.http() as http:
        span = {"from_s": 0, "to_s": served.clock.now_s() + 60, "stretch_s": 10**8}
        mine = http.get("/v1/owners/zoe/history", params=span | {"tenant": "acme"}).json()["executions"]
        assert [entry["subject"] for entry in mine["x1"]["uses"]] == ["request/GET/meters"]
        assert http.get("/v1/owners/other/history", params=span | {"tenant": "acme"}).json()["executions"] == {}
        others = http.get("/v1/owners/other/history", params=span | {"execution": "x1"}).json()["executions"]
        assert others == {"x1": {"points": [], "uses": []}}
        assert http.get("/v1/owners/zoe/history", params=span | {"to_s": 10**6, "stretch_s": 30}).status_code == 400
