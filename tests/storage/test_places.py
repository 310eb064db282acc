"""Places of objects: the controller, as a process, reports them for a real Swift of three hosts, and the disks
confirm.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from storage_bridge.crystal_controller import CrystalController
from storage_bridge.crystal_dialects import AppendixDialect, LaterDialect
from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.model import UNREADABLE, StorageRefusedError, View
from storage_bridge.zoe_controller import ZoeController
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import SwiftAdmin, SwiftHttp
from storage_controller.swift.places import LOOKED_AT_MAX, SwiftPlaces
from tests.support.long import of_storage
from tests.support.object_store import ADMIN, Person, logged_in, object_store
from tests.support.postgres import PostgresServer
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole, client_of, installation_with, whole_storage
from zoe_cli.commands.words.places import places_words
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.locality import InputObjects, Places

ROOM = {"cores": 4, "memory_bytes": 2**30}
HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
SIZES = {f"meters/2015/day{i}.csv": 1000 + i for i in range(9)}
"""Each object has a different size, which identifies it on disks."""
LISTING = "meters?format=json&prefix=2015/day"


@pytest.fixture(scope="module")
def whole(postgres_server: PostgresServer) -> Iterator[Whole]:
    url = postgres_server.create_database()
    with whole_storage(url, nodes=3, replicas=2, hosts=HOSTS) as made:
        with logged_in(made.store, "acme:ann") as ann:
            ann.put("meters")
            for name, size in SIZES.items():
                ann.put(name, b"meter,kwh\n" + b"1" * (size - 10))
            ann.put("meters/2015/_SUCCESS")
            ann.put("meters/2015/_temporary/part", b"hidden from readers of directories")
            ann.put("meters/2015-copy/day.csv", b"beside it")
            # Each container server may be behind with new objects; the proxy asks any of them.
            until(lambda: all(len(ann.call("GET", LISTING).json()) == len(SIZES) for _ in range(10)))
        yield made
    postgres_server.drop_database(url)


@pytest.fixture
def ann(whole: Whole) -> Iterator[Person]:
    with logged_in(whole.store, "acme:ann") as person:
        yield person


def on_disks(store: ObjectStore, sizes: dict[str, int]) -> dict[str, InputObjects]:
    """Return the part of these objects on the disks of each host."""
    found = {}
    for node, host in enumerate(HOSTS, 1):
        files = (store.directory / "devices" / f"node{node}").rglob("objects/**/*.data")
        here = sorted(size for path in files if (size := path.stat().st_size) in sizes.values())
        if here:
            found[host] = InputObjects(len(here), sum(here))
    return found


def test_the_places_are_those_of_the_disks(whole: Whole, ann: Person) -> None:
    everything = InputObjects(len(SIZES), sum(SIZES.values()))
    told = whole.controller.locality("acme", "swift2d://meters.zoe/2015", ann.token)
    assert told == Places(everything, everything, on_disks(whole.store, SIZES))
    assert sum(held.objects for held in told.hosts.values()) == 2 * len(SIZES)


def test_of_one_object_and_of_a_whole_container(whole: Whole, ann: Person) -> None:
    one = {"meters/2015/day4.csv": SIZES["meters/2015/day4.csv"]}
    told = whole.controller.locality("acme", "swift2d://meters.zoe/2015/day4.csv", ann.token)
    assert told == Places(InputObjects(1, 1004), InputObjects(1, 1004), on_disks(whole.store, one))
    container = whole.controller.locality("acme", "swift2d://meters.zoe", ann.token)
    assert container is not None
    assert container.listed == InputObjects()  # Spark reads no directories below the given one


def test_of_directories_below_only_partitions_count(whole: Whole, ann: Person) -> None:
    ann.put("parted")
    for name in ("day.csv", "sub/day.csv", "city=Nice/day.csv", "city=Nice/sub/day.csv", "sub/city=Nice/day.csv"):
        ann.put(f"parted/2015/{name}", b"1" * 100)
    told = whole.controller.locality("acme", "swift2d://parted.zoe/2015", ann.token)
    assert told is not None
    assert told.listed == InputObjects(2, 200)


def test_of_a_bucket_whose_name_has_dots(whole: Whole, ann: Person) -> None:
    """As `s3a://` inputs name them; views of these, too."""
    sizes = {"meters.of.acme/2015/day.csv": 3333}
    ann.put("meters.of.acme")
    ann.put("meters.of.acme/2015/day.csv", b"meter,kwh\n" + b"1" * 3323)
    view = View("dots", "acme", "s3a://meters.of.acme/2015", ("kwh",))
    whole.controller.create_view(replace(view, token=ann.token))
    try:
        for uri in (view.source, view.uri):
            told = whole.controller.locality("acme", uri, ann.token)
            assert told == Places(InputObjects(1, 3333), InputObjects(1, 3333), on_disks(whole.store, sizes))
    finally:
        whole.controller.drop_view("dots")


def test_a_view_is_where_its_source_is(whole: Whole, ann: Person) -> None:
    view = View("places", "acme", "swift2d://meters.zoe/2015", ("kwh",))
    whole.controller.create_view(replace(view, token=ann.token))
    try:
        told = whole.controller.locality("acme", view.uri, ann.token)
        assert told == whole.controller.locality("acme", view.source, ann.token)
        assert told is not None
        assert told.hosts == on_disks(whole.store, SIZES)
    finally:
        whole.controller.drop_view("places")


def test_only_who_may_list_them_is_told_of_objects(whole: Whole, ann: Person) -> None:
    """No client without a token or of another tenant; and neither learns whether such a container exists."""
    with logged_in(whole.store, "beta:bob") as bob:
        for token in ("", bob.token, "nonsense"):
            for source in ("swift2d://meters.zoe/2015", "swift2d://nothing.zoe/2015"):
                with pytest.raises(StorageRefusedError, match=UNREADABLE):
                    whole.controller.locality("acme", source, token)
    assert whole.controller.locality("acme", "swift2d://nothing.zoe", ann.token) is None
    assert whole.controller.locality("acme", "swift2d://meters.zoe/2014", ann.token) == Places()


def test_swifts_own_answer_in_both_dialects_is_passed_on(whole: Whole) -> None:
    """As Crystal does it, with a slash at the end or without."""
    path = "AUTH_acme/meters/2015/day4.csv"
    site = whole.store.auth_url.partition("/auth/")[0]
    swifts = httpx.get(f"{site}/endpoints/v2/{path}").json()
    assert len(swifts["endpoints"]) == 2
    for end in ("", "/"):
        answer = httpx.get(f"{whole.url}/swift/locality/{path}{end}", headers={"X-Auth-Token": TOKEN})
        assert answer.json() == swifts
    assert httpx.get(f"{whole.url}/swift/locality/{path}/").status_code == 401


def test_controller_without_locality_returns_none(whole: Whole, ann: Person) -> None:
    """Crystal's dialects report where a name would be, not which objects are below it; an older controller has no such
    route.
    """
    settings = ControllerSettings(whole.url, TOKEN, "zoe", timeout_s=30)
    line = ControllerHttp(settings)
    older = replace(settings, url=f"{whole.url}/older")
    for controller in (
        CrystalController(line, settings, AppendixDialect(line, "zoe")),
        CrystalController(line, settings, LaterDialect(line, "zoe")),
        ZoeController(ControllerHttp(older), older),
    ):
        assert controller.locality("acme", "swift2d://meters.zoe/2015", ann.token) is None


def test_of_many_objects_a_sample_is_looked_at_and_the_answer_says_so(whole: Whole, ann: Person) -> None:
    many = LOOKED_AT_MAX + 30
    ann.put("many")
    for i in range(many):
        ann.put(f"many/{i}", b"x" * 10)
    told = whole.controller.locality("acme", "swift2d://many.zoe", ann.token)
    assert told is not None
    assert told.listed == InputObjects(many, 10 * many)
    # On a slow machine fewer are looked at within the time.
    assert 1 <= told.looked_at.objects <= LOOKED_AT_MAX
    assert sum(held.objects for held in told.hosts.values()) == 2 * told.looked_at.objects


def is_located(client: Client, document: dict[str, Any]) -> bool:
    """Whether the master knows by now where the input lies: by an execution that it places and that is cancelled."""
    execution = client.submit(document)
    until(lambda: client.execution(execution.id).services[0].node)
    client.cancel(execution.id)
    return any(place.known for place in client.wait(execution.id, 60).places)


def test_an_execution_goes_where_most_of_its_input_lies_and_says_so(
    whole: Whole, ann: Person, postgres_url: str, tmp_path: Path
) -> None:
    """All of it real: Swift, controller, master, API, database; nodes are hosts of the store by their labels."""
    sizes = one_host_holds_most(whole, ann)
    disks = on_disks(whole.store, sizes)
    best = max(disks, key=lambda host: disks[host].bytes)
    nodes = [{"name": f"node{host[-1]}", **ROOM, "labels": {"storage_host": host}} for host in HOSTS]
    sleeps = {
        "name": "c",
        "image": "zoe/tiny",
        "command": ["sleep", "600"],
        "resources": {"cores": 3, "memory": "1MiB"},
    }
    inputs = [{"name": "meters", "uri": "swift2d://placed.zoe/2015"}]
    document = {"version": 4, "name": "reads", "components": [sleeps], "storage": {"inputs": inputs}}
    given = {"storage_services": whole.services, "local_nodes": nodes}
    with (
        installation_with(whole, postgres_url, tmp_path, **given) as installation,
        client_of(installation, postgres_url, whole) as client,
    ):
        key = whole.store.user("acme:ann").key
        client.set_storage_credential("zoe", CredentialRequest(user="acme:ann", key=key))
        installation.start_master()
        until(lambda: is_located(client, document))  # nothing waits for it to be located
        # The first finds room where most lies, and so does no other; the last finds none at all.
        executions = [client.submit(document).id for _ in range(4)]
        until(lambda: all(client.execution(execution).services[0].node for execution in executions[:3]))
        assert client.execution(executions[0]).services[0].node == f"node{best[-1]}"
        [told] = client.execution(executions[0]).places
        assert told.known
        assert {(n.node, n.objects, n.bytes) for n in told.nodes} == {
            (f"node{host[-1]}", held.objects, held.bytes) for host, held in disks.items()
        }
        said = f"{disks[best].objects} of {len(sizes)} objects"
        assert places_words(told.model_dump()).startswith(said)
        assert places_words(told.model_dump()).endswith(f"on node node{best[-1]} with 1 of its services")
        # It was submitted last, so its input may not have been located yet.
        [waiting] = until(lambda: client.explain(executions[3]).places)
        assert places_words(waiting.model_dump()).startswith(said)
        for execution in executions:
            client.cancel(execution)
        assert all(client.wait(execution, 60).state is ExecutionState.CANCELLED for execution in executions)


def one_host_holds_most(whole: Whole, ann: Person) -> dict[str, int]:
    """Write objects until one host holds more bytes of them than any other; their sizes."""
    sizes: dict[str, int] = {}
    ann.put("placed")
    for number in range(20):
        name = f"placed/2015/{number}.csv"
        sizes[name] = 2000 + 100 * number
        ann.put(name, b"x" * sizes[name])
        held = sorted(disk.bytes for disk in on_disks(whole.store, sizes).values())
        if len(sizes) > 2 and held[-1] > held[-2]:
            return sizes
    raise AssertionError("all hosts hold the same")


@of_storage
def test_of_erasure_coded_objects_no_host_has_a_copy() -> None:
    with object_store(nodes=3, erasure_coded=True) as store, logged_in(store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/day.csv", secrets.token_bytes(1000))
        line = SwiftHttp(SwiftAdmin(store.auth_url, ADMIN.login, ADMIN.key))
        counted, known = (SwiftPlaces(line, lambda _: None, fragmented=policies) for policies in ((), (0,)))
        one = InputObjects(1, 1000)
        assert counted.places("acme", "swift2d://meters.zoe/2015", ann.token).hosts == {"127.0.0.1": one}
        assert known.places("acme", "swift2d://meters.zoe/2015", ann.token) == Places(one, one, {})


def test_a_path_that_leads_elsewhere_is_not_sent() -> None:
    line = SwiftHttp(SwiftAdmin("http://127.0.0.1:9/auth/v1.0", ADMIN.login, ADMIN.key))
    for path in ("data/../precious/x", "data/./x", ".."):
        with pytest.raises(RequestRefusedError, match="cannot be sent") as refused:
            line.ask("GET", "AUTH_acme", path, {})
        assert refused.value.status == 422


def test_a_swift_that_does_not_tell_is_said_so() -> None:
    pipeline = "catch_errors healthcheck proxy-logging cache tempauth proxy-server"
    with object_store(nodes=1, replicas=1, pipeline=pipeline) as store, logged_in(store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/day.csv", secrets.token_bytes(10))
        places = SwiftPlaces(SwiftHttp(SwiftAdmin(store.auth_url, ADMIN.login, ADMIN.key)), lambda _: None)
        with pytest.raises(RequestRefusedError, match="list_endpoints"):
            places.places("acme", "swift2d://meters.zoe/2015", ann.token)


def test_storage_policies_are_those_that_swift_tells(whole: Whole) -> None:
    with httpx.Client(base_url=whole.url, headers={"X-Auth-Token": TOKEN}) as http:
        told = http.get("/swift/storage_policies").json()
        assert told == [{"name": "standard", "aliases": "standard", "default": True}]
        device = {"r1z1-127.0.0.1:6200/d1": "100"}
        fields = {"policy_id": "1", "name": "fast", "partitions": "64", "replicas": "1", "time": "1"}
        assert http.post("/swift/spolicies", json=fields).status_code == 400
        refused = http.post("/swift/spolicies", json=fields | {"storage_node": device})
        assert (refused.status_code, "swift_policy_command" in refused.text) == (409, True)
