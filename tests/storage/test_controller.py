"""The storage controller as a process, with a real Swift and a real database: SLOs held, views made and removed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from storage_bridge.crystal import ControllerSettings, OwnController, connect
from storage_bridge.model import BandwidthSlo, StorageUnavailableError, View
from tests.storage.test_bandwidth import rate_of_gets
from tests.storage.test_views import HEADER, WANTED, meters
from tests.support.object_store import ADMIN, Person, logged_in, object_store
from zoe_embedded.home import Account
from zoe_embedded.swift.configuration import ControllerLine
from zoe_embedded.swift.controller import ControllerSite
from zoe_embedded.swift.store import ObjectStore

MB = 10**6
CAPACITY = 12 * MB
TOKEN = "a-token"


@dataclass
class Whole:
    """Store and controller, connected."""

    store: ObjectStore
    url: str
    controller: OwnController


@pytest.fixture
def whole(postgres_url: str) -> Iterator[Whole]:
    sites: list[ControllerSite] = []

    def line(apart: Path, account: Account | None) -> ControllerLine:
        sites.append(ControllerSite(apart, TOKEN, account))
        return sites[0].line

    plain = postgres_url.replace("postgresql+psycopg2:", "postgresql:")  # as the documentation names it
    with object_store(nodes=1, replicas=1, proxy_workers=2, controller=line) as store:
        with sites[0].serve(store, ADMIN, plain, BandwidthSlo(CAPACITY, CAPACITY)) as url:
            controller = connect(ControllerSettings(url, TOKEN, "zoe", timeout_s=30))
            assert isinstance(controller, OwnController)
            yield Whole(store, url, controller)
        assert "Traceback" not in sites[0].log.read_text()


def test_slos_are_held_and_the_spare_is_shared(whole: Whole) -> None:
    """Two tenants with three streams each: 8 of 12 MB/s are promised to one, which gets 10 with half of the spare."""
    with ExitStack() as stack:
        people: list[Person] = []
        for login in ("acme:ann", "beta:bob"):
            person = stack.enter_context(logged_in(whole.store, login))
            person.put("data")
            person.put("data/object", os.urandom(20 * MB))
            people.append(person)
        whole.controller.set_slo("acme", BandwidthSlo(8 * MB))
        rates = [0.0, 0.0]

        def read(number: int) -> None:
            rate_of_gets(people[number], 3, 4.0)  # until limits are there
            rates[number] = rate_of_gets(people[number], 3, 8.0)

        threads = [threading.Thread(target=read, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(8.0)
        achieved = whole.controller.achieved()
        for thread in threads:
            thread.join()
    assert rates[0] > 8 * MB
    assert 1 * MB < rates[1] < 4 * MB
    assert sum(rates) < 1.15 * CAPACITY
    assert achieved["acme"].read_bytes_per_s > 7 * MB


def test_a_view_is_made_in_swift_and_goes_again(whole: Whole) -> None:
    content, wanted = meters(1, 5000)
    view = View("e1", "acme", "swift2d://meters.zoe/2015", tuple(WANTED["columns"]), str(WANTED["where"]))
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", content)
        for _ in range(2):
            whole.controller.create_view(view)
        assert ann.view("zoe-view-e1") == wanted
        sample = whole.controller.sample("e1")
        assert (sample.source_bytes, sample.sampled_bytes, sample.selected_bytes) == (
            len(content),
            len(content),
            len(wanted),
        )
        assert 0 < sample.delivered_bytes < len(wanted)
        assert sample.columns == tuple(WANTED["columns"])
        assert sample.rate_bytes_per_s == CAPACITY
        everything = View("e4", "acme", "swift2d://meters.zoe/2015", where="kwh < 0")
        whole.controller.create_view(everything)
        assert whole.controller.sample("e4").columns == tuple(HEADER.decode().strip().split(","))
        whole.controller.drop_view("e4")
        with pytest.raises(StorageUnavailableError, match="there is no column price"):
            whole.controller.create_view(View("e2", "acme", "swift2d://meters.zoe/2015", ("price",)))
        with pytest.raises(StorageUnavailableError, match="404"):
            whole.controller.create_view(View("e3", "acme", "swift2d://nothing.zoe/2015"))
        assert list(whole.controller.views()) == [view]
        for _ in range(2):
            whole.controller.drop_view("e1")
        assert ann.call("GET", "zoe-view-e1").status_code == 404
