"""Events of the engines themselves, for both sides of a comparison alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import docker

from tests.swarm.engine_host import EngineHost

DEADLINE_S = 180.0
_LOOK_S = 0.02


@dataclass(frozen=True)
class ContainerEvent:
    """A container's event: its time by its engine's clock, and when it was received, in seconds since the epoch."""

    action: str
    at_s: float
    heard_at_s: float
    container_id: str


class Watch:
    """Receives every engine's events of containers."""

    def __init__(self, hosts: Sequence[EngineHost]) -> None:
        self._hosts = hosts
        self._events: list[ContainerEvent] = []
        self._news = threading.Condition()
        self._streams: list[Any] = []
        self._clients = [docker.APIClient(f"unix://{host.socket}", version="1.41", timeout=300) for host in hosts]
        self._threads = [threading.Thread(target=self._hear, args=(api,), daemon=True) for api in self._clients]
        for thread in self._threads:
            thread.start()

    def begin(self) -> float:
        """Forget earlier events; return the present time."""
        with self._news:
            self._events.clear()
        return time.time()

    def last_of(self, action: str, count: int) -> ContainerEvent:
        """Return the event that completes this many of that action since the beginning."""
        with self._news:
            there = self._news.wait_for(lambda: len(self._events_of(action)) >= count, DEADLINE_S)
            assert there, f"only {len(self._events_of(action))} of {count} containers did {action}"
            return sorted(self._events_of(action), key=lambda happened: happened.at_s)[count - 1]

    def _events_of(self, action: str) -> list[ContainerEvent]:
        return [event for event in self._events if event.action == action]

    def close(self) -> None:
        """Stop; engines that are gone end their streams."""
        for api in self._clients:
            api.close()

    def _hear(self, api: docker.APIClient) -> None:
        stream = api.events(decode=True, filters={"type": ["container"]})
        with suppress(Exception):  # the engine is gone at the end
            for event in stream:
                found = ContainerEvent(event["Action"], event["timeNano"] / 1e9, time.time(), event["Actor"]["ID"])
                with self._news:
                    self._events.append(found)
                    self._news.notify_all()


def things(hosts: Sequence[EngineHost]) -> list[str]:
    """Return all containers, services, networks, secrets and volumes that may be left behind."""
    api: Any = hosts[0].api
    found = [service["Spec"]["Name"] for service in api.services()]
    found += [
        network["Name"] for network in api.networks(filters={"driver": "overlay"}) if network["Name"] != "ingress"
    ]
    found += [secret["Spec"]["Name"] for secret in api.secrets()]
    for host in hosts:
        engine: Any = host.api
        found += [name for entry in engine.containers(all=True) for name in entry["Names"]]
        found += [volume["Name"] for volume in engine.volumes()["Volumes"] or []]
    return found


def wait_until(done: Callable[[], object], story: Callable[[], object]) -> float:
    """Poll until it is true; return the time."""
    give_up_s = time.time() + DEADLINE_S
    while not done():
        assert time.time() < give_up_s, f"not within {DEADLINE_S:g} s: {story()}"
        time.sleep(_LOOK_S)
    return time.time()
