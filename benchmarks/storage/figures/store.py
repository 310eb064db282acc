"""A Swift with rules that the benchmark pushes, and timed requests of a client on loopback."""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from benchmarks.storage.caching import cpu
from benchmarks.support import temporary_home
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.rules import ModuleVersion
from storage_filters.transforms.modules.engine import compile_module
from tests.support.object_store import Person, logged_in
from tests.support.pusher import Pusher, pushed_store
from tests.support.whole_storage import TOKEN, whole_storage
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.store.postgres.migrate import upgrade

TENANT = "acme"
_KEYS = '{"acme": {"current": "bench", "keys": {"bench": "' + "5a" * 32 + '"}}}'
_WORDS = 4_000
_RULES_ARRIVE_S = 3.0


@dataclass
class RuledStore:
    """A store, a user of the tenant, and the rules in force."""

    store: ObjectStore
    pusher: Pusher | None
    person: Person
    modules: Mapping[str, ModuleVersion]

    def rule(self, *texts: str) -> None:
        """Put these rules in force, replacing the former ones."""
        assert self.pusher is not None
        rules = tuple(replace(parse_rule(text), id=number) for number, text in enumerate(texts, 1))
        self.pusher.rules = book_document(RuleBook(rules, modules={"": self.modules}))
        self.pusher.push()
        self.pusher.push(AUTH_nobody={"get": 1.0})  # the earlier push is in force

    def timed_ms(self, method: str, path: str, content: bytes | None = None) -> float:
        """Return the duration of a request; the body of a GET is compared with `content`."""
        began_s = time.perf_counter()
        answer = self.person.call(method, path, content=content if method == "PUT" else None)
        taken_ms = (time.perf_counter() - began_s) * 1e3
        assert answer.is_success, f"{method} {path}: {answer.status_code}"
        assert method == "PUT" or content is None or answer.content == content
        return taken_ms

    def proxy_cpu_s(self) -> float:
        """Return the CPU seconds of the proxy so far."""
        return cpu(self.store)[0]

    def stored_bytes(self) -> int:
        """Return the bytes of all objects on the disks of the nodes."""
        return sum(path.stat().st_size for path in Path(self.store.directory).rglob("*.data"))


@contextmanager
def ruled_store(
    containers: Sequence[str], modules: Mapping[str, bytes] | None = None, **changes: Any
) -> Iterator[RuledStore]:
    """Yield a store of one node with these containers, keys for encryption, and these modules."""

    def keyring(apart: Path, account: object) -> str:
        path = apart / "keyring.json"
        path.write_text(_KEYS)
        if account is not None:
            os.chown(path, account.uid, account.gid)  # type: ignore[attr-defined]
        return str(path)

    versions = {
        name.upper(): ModuleVersion(name, hashlib.sha256(content).hexdigest(), compile_module(content).reads)
        for name, content in (modules or {}).items()
    }
    with (
        pushed_store(nodes=1, replicas=1, keyring=keyring, **changes) as (store, pusher),
        logged_in(store, f"{TENANT}:ann") as person,
    ):
        for content in (modules or {}).values():
            pusher.send_module(content)
        for container in containers:
            person.put(container)
        yield RuledStore(store, pusher, person, versions)


@contextmanager
def controlled_store(containers: Sequence[str], rule: str) -> Iterator[RuledStore]:
    """Yield the same with a cache and a storage controller, which sends the proxy the metrics of this rule."""
    with ExitStack() as undo:
        postgres = EmbeddedPostgres(undo.enter_context(temporary_home()))
        undo.callback(postgres.stop)
        url = postgres.start()
        upgrade(url)
        whole = undo.enter_context(whole_storage(url, 10**9, cache=True, nodes=1, replicas=1))
        person = undo.enter_context(logged_in(whole.store, f"{TENANT}:ann"))
        for container in containers:
            person.put(container)
        headers = {"X-Auth-Token": TOKEN}
        httpx.post(f"{whole.url}/v1/rules", json={"text": rule}, headers=headers, timeout=60).raise_for_status()
        time.sleep(_RULES_ARRIVE_S)
        yield RuledStore(whole.store, None, person, {})


def text(length: int, drawn: random.Random) -> bytes:
    """Return text that a compressor shrinks to about a quarter: words by Zipf's law."""
    words = [bytes(drawn.choices(b"abcdefghijklmnopqrstuvwxyz", k=drawn.randint(2, 11))) for _ in range(_WORDS)]
    weights = [1 / (rank + 1) for rank in range(_WORDS)]
    found = b" ".join(drawn.choices(words, weights, k=length // 4 + 1))
    return (found * (length // max(len(found), 1) + 1))[:length]
