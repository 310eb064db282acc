"""CPU time of filters and views at a real Swift: counted as the proxy's own clock says, and bounded by tenant."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.storage.test_rules import applied
from tests.support.long import of_storage
from tests.support.object_store import ADMIN, Person, definition, logged_in
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole, whole_storage

CORES = 0.05
RULE = "FOR TENANT {} DO SET COMPRESSION WITH TYPE=ZSTD, LEVEL=19"
MIB = 2**20
HEAVY, AT_ONCE, FOR_S = "heavy", 4, 8.0
PIECE_S = 0.3
"""Longest time for one piece: a frame at the highest level, on a busy machine."""


def text(length: int, seed: int = 0) -> bytes:
    """Words, which take a compressor long."""
    draw = random.Random(seed)
    words = [bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz", k=draw.randrange(2, 9))) for _ in range(5000)]
    return b" ".join(draw.choices(words, k=length // 4))[:length]


@pytest.fixture(scope="module")
def whole(postgres_url_of_module: str) -> Iterator[Whole]:
    with whole_storage(postgres_url_of_module, further={"filter_cores_of": {"acme": CORES}}) as made:
        yield made


@pytest.fixture(scope="module")
def postgres_url_of_module(postgres_server: object) -> Iterator[str]:
    url = postgres_server.create_database()  # type: ignore[attr-defined]
    yield url
    postgres_server.drop_database(url)  # type: ignore[attr-defined]


@pytest.fixture
def controller(whole: Whole) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=whole.url, headers={"X-Auth-Token": TOKEN}, timeout=60) as http:
        yield http


def counted_s(controller: httpx.Client, name: str = "cpu_seconds", **labels: str) -> float:
    """Return the controller's metric for Prometheus, after all reports."""

    def now() -> float:
        families = text_string_to_metric_families(controller.get("/metrics").text)
        wanted = f"zoe_object_store_{name}_total"
        samples = [sample for family in families for sample in family.samples if sample.name == wanted]
        return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())

    time.sleep(1.5)  # a proxy reports once a second
    before = now()
    for _ in range(30):
        time.sleep(1.2)
        if (after := now()) == before:
            return after
        before = after
    pytest.fail("it goes on to compute")


def used_s(whole: Whole, server: str = "proxy") -> float:
    """CPU seconds of a server and of its workers, by the kernel's own account."""
    parent = whole.store.processes[server]
    found = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if parent in (int(path.parent.name), int(fields[1])):
            found += int(fields[11]) + int(fields[12])
    return found / 100


@contextmanager
def working(whole: Whole, login: str) -> Iterator[None]:
    """Several concurrent uploads that cost much CPU time."""
    ending = threading.Event()
    content = text(256 * 1024)  # one piece

    def store(number: int) -> None:
        with logged_in(whole.store, login) as person:
            while not ending.is_set():
                person.put(f"{HEAVY}/{number}", content)

    threads = [threading.Thread(target=store, args=(number,)) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ending.set()
        for entry in threads:
            entry.join()


def read_small(person: Person, seconds: float) -> None:
    """Send small requests, one after another, for so long."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        assert len(person.call("GET", "small/a").content) == 1000
        time.sleep(0.02)


@of_storage
def test_one_tenant_takes_its_cores_and_others_are_not_held_up(whole: Whole, controller: httpx.Client) -> None:
    with ExitStack() as undo:
        ann = undo.enter_context(logged_in(whole.store, "acme:ann"))
        bob = undo.enter_context(logged_in(whole.store, "beta:bob"))
        for person in (ann, bob):
            person.put(HEAVY)
            person.put("small")
            person.put("small/a", b"x" * 1000)
        undo.enter_context(applied(controller, whole, RULE.format("acme"), RULE.format("beta")))
        took = {}
        for heavy, other in ((ann, bob), (bob, ann)):
            login = "acme:ann" if heavy is ann else "beta:bob"
            tenant = login.partition(":")[0]
            before_s, began_s = counted_s(controller, tenant=tenant), time.monotonic()
            with working(whole, login):
                read_small(other, FOR_S)
            lasted_s = time.monotonic() - began_s
            took[tenant] = (counted_s(controller, tenant=tenant) - before_s) / lasted_s
            if heavy is ann:
                most = CORES * (lasted_s + 0.5) + 2 * PIECE_S  # a piece of each worker
                assert 0.5 * CORES * lasted_s <= took[tenant] * lasted_s <= most
        print(f"cores {took}")
        assert took["beta"] > 1.5 * CORES  # as much as there is
        assert counted_s(controller, "cpu_wait_seconds", tenant="acme") > 1
        assert counted_s(controller, "cpu_wait_seconds", tenant="beta") == 0


def test_counted_cpu_time_is_the_proxys_use(whole: Whole, controller: httpx.Client) -> None:
    with logged_in(whole.store, "beta:bob") as bob, applied(controller, whole, RULE.format("beta")):
        bob.put("counted")
        until(lambda: used_s(whole) > 0)
        before_s, used_before_s = counted_s(controller, container="counted"), used_s(whole)
        for number in range(8):
            bob.put(f"counted/{number}", text(MIB, number))
        used = used_s(whole) - used_before_s
        counted = counted_s(controller, container="counted", method="PUT") - before_s
        print(f"counted {counted:.3f} s, used {used:.3f} s")
        assert 0.8 * used <= counted <= 1.02 * used


@pytest.mark.parametrize("server", ["object-1", "proxy"])
def test_a_view_is_counted_where_it_is_computed(whole: Whole, controller: httpx.Client, server: str) -> None:
    """At the object server, or at the proxy if a rule has changed the stored bytes."""
    rules = [] if server == "object-1" else ["FOR TENANT beta DO SET COMPRESSION WITH TYPE=LZ4"]
    view = f"zoe-view-of-{server}"
    with ExitStack() as undo:
        bob = undo.enter_context(logged_in(whole.store, "beta:bob"))
        admin = undo.enter_context(logged_in(whole.store, ADMIN.login, bob.account_url))
        if rules:
            undo.enter_context(applied(controller, whole, *rules))
        bob.put(server)
        bob.put(f"{server}/m.csv", b"vid,city,amount\n" + b"17,Paris,3.25\n18,Rome,4.5\n" * 100_000)
        fields = {"columns": ["city"], "where": "amount > 4", "split_bytes": 2**26}
        admin.put(view, **definition(server, **fields))
        bob.view(view)
        before_s, used_before_s = counted_s(controller, container=view, method="GET"), used_s(whole, server)
        for _ in range(3):
            assert bob.view(view).count(b"Rome") == 100_000
        used, counted = used_s(whole, server) - used_before_s, counted_s(controller, container=view) - before_s
        print(f"{server}: counted {counted:.3f} s, used {used:.3f} s")
        assert 0.7 * used <= counted <= 1.05 * used


def test_a_query_of_a_bounded_tenant_is_told_to_read_plainly_instead_of_waiting(whole: Whole) -> None:
    content = b"vid,city,amount\n" + b"17,Paris,3.25\n18,Rome,4.5\n" * 250_000

    def told(person: Person, end: int) -> tuple[int, str]:
        selection = f'{{"width": 3, "columns": [1], "end": {end}, "csv": {{"header": true}}}}'
        answer = person.call("GET", "asked/m.csv", headers={"X-Zoe-Pushdown": selection})
        return answer.status_code, answer.headers.get("X-Zoe-Pushdown", "")

    for login, expected in (("acme:ann", (503, "busy")), ("beta:bob", (200, "yes"))):
        with logged_in(whole.store, login) as person:
            person.put("asked")
            person.put("asked/m.csv", content)
            assert told(person, len(content)) == expected
            until(lambda person=person: told(person, 100_000)[0] == 200)  # type: ignore[misc]
