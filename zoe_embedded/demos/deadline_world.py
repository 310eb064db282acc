"""Other users in `make demo-deadline`: readers of the same store, and executions on the free cores."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from zoe_client import Client
from zoe_client.vocabulary import TERMINAL_STATES, ServiceState
from zoe_embedded.demos.deadline_job import JOB_CORES, WORKER_CORES
from zoe_embedded.home import Home
from zoe_embedded.swift.configuration import StoreUser
from zoe_embedded.swift.site import Site
from zoe_embedded.swift.store import StoreError
from zoe_master.backends.local.machine.cgroups import find_parent
from zoe_master.backends.local.machine.hints import hint_name

NODE_CORES, NODE_MEMORY = 3.0, 8 << 30
"""Cores and memory for reservations: more than the job, since promises use at most four fifths of them."""
_OWN_CONTAINER, _OWN_OBJECT, _OWN_BYTES = "backups", "backup", 8 << 20
"""Large objects: readers should use bandwidth, not the processor, as requests for many small objects would."""
_PIECE = 64 << 10
_PAUSE_S = 0.5
_PRICES_IN_S = 3.0  # a list must not begin in the past
_FIRST = 1000  # priority
_TRIES = 240
_WEIGHT = {1: ("cpu.shares", 8 * 1024), 2: ("cpu.weight", 8 * 100)}
"""Weight of the control group of all services, by version: otherwise each busy program of the machine gets as much as
all services together. This is the weight of eight programs.
"""
_IDLE, _BUSY = "import time\nwhile True: time.sleep(3600)", "while True: pass"


def node() -> dict[str, Any]:
    """Return the node of all services."""
    return {"name": "local", "cores": NODE_CORES, "memory_bytes": NODE_MEMORY}


def weigh(home: Home) -> None:
    """Give all services of this home together the weight of eight programs, if they have a control group, so that
    reservations hold on a busy machine.
    """
    parent = find_parent(hint_name((home.state / "local").absolute()))
    if parent is not None and parent.cpu is not None:
        name, weight = _WEIGHT[parent.version]
        (parent.cpu / name).write_text(str(weight))


def other_users(home: Home, number: int) -> list[StoreUser]:
    """Return users of other tenants of the store."""
    names = (f"other{place}" for place in range(1, number + 1))
    return [StoreUser(name, name, home.secret(f"swift-{name}")) for name in names]


def set_prices(client: Client) -> None:
    """Set a price list if there is none, and wait until it is valid: bandwidth of a slow store is expensive."""
    if client.admin.price_lists().price_lists:
        return
    begins = datetime.now(UTC) + timedelta(seconds=_PRICES_IN_S)
    rates = {"core_hours": "4", "bandwidth_mb_s_hours": "2", "memory_gib_hours": "0", "view_hours": "0"}
    document = {"currency": "EUR", "from": begins.isoformat(timespec="seconds"), "digits": 4}
    client.admin.set_price_list({**document, "rates": [{"meter": name, "rate": text} for name, text in rates.items()]})
    threading.Event().wait(_PRICES_IN_S)


@contextmanager
def readers(site: Site, users: Sequence[StoreUser], ours: bool) -> Iterator[None]:
    """Let users of other tenants read from the store all the time, and with `ours` a program of the job's tenant."""
    with ExitStack() as undo:
        for user in (*users, site.user) if ours else users:
            _put_own_object(site, user)
            undo.enter_context(_reading(site, user, f"{_OWN_CONTAINER}/{_OWN_OBJECT}"))
        yield


@contextmanager
def held_cores(client: Client, busy: bool = False) -> Iterator[None]:
    """Let an execution hold all free cores, by elastic services with a higher priority than the job's.

    They sleep; with `busy`, they compute.
    """
    execution = client.submit(_holder(busy), priority=_FIRST)
    try:
        _until_ready(client, execution.id)
        yield
    finally:
        client.cancel(execution.id)
        for _ in range(_TRIES):
            if client.execution(execution.id).state in TERMINAL_STATES:
                break
            threading.Event().wait(_PAUSE_S)


def _holder(busy: bool) -> dict[str, Any]:
    program = ["python3", "-c", _BUSY if busy else _IDLE]
    essential, each = NODE_CORES - JOB_CORES - WORKER_CORES, WORKER_CORES
    resources = {"memory": "64MiB", "limits": {"cores": 1}}
    return {
        "version": 4,
        "name": "busy-neighbour" if busy else "neighbour",
        "components": [
            {"name": "essential", "image": "zoe/python", "command": program, "ends_application": True}
            | {"resources": {**resources, "cores": round(essential, 3)}},
            {"name": "elastic", "image": "zoe/python", "command": program, "essential_count": 0}
            | {"total_count": int((JOB_CORES + WORKER_CORES) / each), "resources": {**resources, "cores": each}},
        ],
    }


def _until_ready(client: Client, execution_id: str) -> None:
    for _ in range(_TRIES):
        services = client.execution(execution_id).services
        if services and all(service.state is ServiceState.READY for service in services):
            return
        threading.Event().wait(_PAUSE_S)
    raise StoreError(f"the neighbour {execution_id} did not get all of its services; see `zoe explain {execution_id}`")


def _put_own_object(site: Site, user: StoreUser) -> None:
    with _signed_in(site, user) as (http, root):
        http.put(f"{root}/{_OWN_CONTAINER}").raise_for_status()
        http.put(f"{root}/{_OWN_CONTAINER}/{_OWN_OBJECT}", content=bytes(_OWN_BYTES)).raise_for_status()


@contextmanager
def _signed_in(site: Site, user: StoreUser) -> Iterator[tuple[httpx.Client, str]]:
    with httpx.Client(timeout=120, trust_env=False) as http:
        login = {"X-Auth-User": user.login, "X-Auth-Key": user.key}
        answer = http.get(site.store.auth_url, headers=login).raise_for_status()
        http.headers["X-Auth-Token"] = answer.headers["X-Auth-Token"]
        yield http, answer.headers["X-Storage-Url"]


@contextmanager
def _reading(site: Site, user: StoreUser, path: str) -> Iterator[None]:
    closing = threading.Event()
    thread = threading.Thread(
        target=_read, args=(site, user, path, closing), name=f"reads as {user.login}", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        closing.set()
        thread.join()


def _read(site: Site, user: StoreUser, path: str, closing: threading.Event) -> None:
    """Read an object repeatedly; after a failure, sign in again."""
    while not closing.is_set():
        try:
            with _signed_in(site, user) as (http, root):
                while not closing.is_set():
                    with http.stream("GET", f"{root}/{path}") as answer:
                        answer.raise_for_status()
                        for _ in answer.iter_bytes(_PIECE):
                            if closing.is_set():
                                return
        except httpx.HTTPError:
            closing.wait(_PAUSE_S)
