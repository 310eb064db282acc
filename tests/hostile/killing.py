"""Kill a gateway, the proxy behind it or an object server in the middle of uploads and downloads, under filters.

    python -m tests.hostile.killing --kills 1000 --seed 1

All objects are compressed and encrypted. After each kill the program is started again, and the object must be the old
or the new one, whole, byte for byte; the new one if its upload was answered. A broken download must be a beginning of
the object, and go on where it ended.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import urlsplit

from storage_bridge.model import WHY_HEADER
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.file import RuleFile
from tests.support.gateway import Pair, gateway_before_swift
from tests.support.object_store import Person, logged_in
from tests.support.whole_storage import keyring
from zoe_embedded.swift.store import ObjectStore

LOGIN, CONTAINER = "acme:ann", "killed"
RULE = f"FOR CONTAINER acme/{CONTAINER} DO SET COMPRESSION, SET ENCRYPTION"
OBJECTS, BYTES_MAX, PIECE_BYTES = 5, 6 << 20, 64 << 10
RECEIVED_BYTES = 64 << 10
"""Bytes that the kernel receives ahead: a download is under way when the client has read half of it."""
_AT_THE_END, _ANSWERED_WITHIN_S = 0.5, 0.5
_BACK_WITHIN_S, _LOOK_S, _ANSWER_S = 90.0, 0.1, 30.0


@dataclass
class Outcome:
    """What came of the kills. counts: by victim, direction and outcome; wrong: violations."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def table(self) -> Iterator[str]:
        """Yield the lines of a table."""
        for (victim, direction, outcome), number in sorted(self.counts.items()):
            yield f"{victim:<16}{direction:<10}{outcome:<24}{number:>6}"
        yield f"{self.counts.total()} kills, {len(self.wrong)} violations"


class Killer:
    """Kills programs of a pair in the middle of Ann's transfers, at random."""

    def __init__(self, pair: Pair, person: Person, chance: random.Random) -> None:
        self._victims: Mapping[str, tuple[ObjectStore, str]] = {
            "gateway": (pair.gateway, "proxy"),
            "proxy": (pair.behind, "proxy"),
            "object server": (pair.behind, "object-1"),
        }
        self._person, self._chance = person, chance
        self._stored: dict[str, bytes | None] = dict.fromkeys(f"object-{number}" for number in range(OBJECTS))
        self.outcome = Outcome()
        person.put(CONTAINER)
        for name in sorted(self._stored)[1:]:  # one does not exist
            content = self._content()
            person.put(f"{CONTAINER}/{name}", content)
            self._stored[name] = content
            filters = person.call("HEAD", f"{CONTAINER}/{name}", headers={WHY_HEADER: "yes"}).headers[WHY_HEADER]
            assert [load["filter"] for load in json.loads(filters)] == ["COMPRESSION", "ENCRYPTION"]

    def kill_once(self) -> None:
        """Kill a program during a transfer, start it again, and compare the object."""
        victim, name = self._chance.choice(sorted(self._victims)), self._chance.choice(sorted(self._stored))
        store, program = self._victims[victim]
        old = self._stored[name]
        reads = old is not None and self._chance.random() < 0.5
        new = old if reads else self._content()
        assert new is not None
        # Often when all bytes are sent, and the answer is not there.
        at = len(new) if not reads and self._chance.random() < _AT_THE_END else self._chance.randrange(len(new) + 1)

        def kill() -> None:
            store.signal(program, signal.SIGKILL)

        if reads:
            received = self._read(name, at, kill)
        else:
            answered = self._write(name, new, at, kill)
        store.restart(program)
        found = self._whole(name)
        if reads:
            told = self._judge_read(name, new, received, found)
        else:
            told = self._judge_write(old, new, answered, found)
            self._stored[name] = found
        self.outcome.counts[victim, "download" if reads else "upload", told] += 1
        if told.startswith("wrong"):
            self.outcome.wrong.append(f"{victim} killed at {at} of {len(new)} bytes of {name}: {told}")

    def _judge_read(self, name: str, content: bytes, received: bytes, found: bytes | None) -> str:
        if found != content:
            return "wrong: another object"
        if not content.startswith(received):
            return "wrong: other bytes"
        if received == content:
            return "whole"
        etag = hashlib.md5(content, usedforsecurity=False).hexdigest()
        rest = self._person.call(
            "GET", f"{CONTAINER}/{name}", headers={"Range": f"bytes={len(received)}-", "If-Range": f'"{etag}"'}
        )
        whole = rest.status_code == 206 and received + rest.content == content
        return "resumed" if whole else f"wrong: not resumed ({rest.status_code})"

    @staticmethod
    def _judge_write(old: bytes | None, new: bytes, answered: bool, found: bytes | None) -> str:
        if found == new:
            return "new, answered" if answered else "new, not answered"
        if found == old:
            return "wrong: answered, and lost" if answered else "old"
        return "wrong: neither old nor new"

    def _content(self) -> bytes:
        size = self._chance.randrange(BYTES_MAX)
        line = self._chance.randbytes(1000)
        return self._chance.randbytes(size) if self._chance.random() < 0.5 else (line * (size // 1000 + 1))[:size]

    def _connection(self) -> HTTPConnection:
        place = urlsplit(self._person.account_url)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=_ANSWER_S)
        connection.connect()
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
        return connection

    def _path(self, name: str) -> str:
        return f"{urlsplit(self._person.account_url).path}/{CONTAINER}/{name}"

    def _write(self, name: str, content: bytes, at: int, kill: Callable[[], None]) -> bool:
        """Send an upload, kill when so many bytes are sent, and return whether it was answered as stored."""
        with closing(self._connection()) as connection:
            connection.putrequest("PUT", self._path(name))
            connection.putheader("X-Auth-Token", self._person.token)
            connection.putheader("Content-Length", str(len(content)))
            connection.endheaders()
            killed = False
            try:
                for start in range(0, len(content), PIECE_BYTES):
                    if not killed and start + PIECE_BYTES > at and at < len(content):
                        kill()
                        killed = True
                    connection.send(content[start : start + PIECE_BYTES])
                if not killed:
                    time.sleep(self._chance.random() * _ANSWERED_WITHIN_S)  # between the last byte and the answer
                    kill()
                    killed = True
                return connection.getresponse().status == 201
            except (OSError, HTTPException):
                return False
            finally:
                if not killed:
                    kill()

    def _read(self, name: str, at: int, kill: Callable[[], None]) -> bytes:
        """Return what a client receives that reads an object while a program is killed after so many bytes."""
        received = bytearray()
        killed = False
        with closing(self._connection()) as connection:
            try:
                connection.request("GET", self._path(name), headers={"X-Auth-Token": self._person.token})
                answer: HTTPResponse = connection.getresponse()
                while True:
                    if not killed and len(received) >= at:
                        kill()
                        killed = True
                    if answer.status != 200 or not (piece := answer.read1(PIECE_BYTES)):
                        break
                    received += piece
            except (OSError, HTTPException):
                pass
            finally:
                if not killed:
                    kill()
        return bytes(received)

    def _whole(self, name: str) -> bytes | None:
        """Return the object now; None if there is none. Proxies avoid an object server that failed for some time."""
        give_up_s = time.monotonic() + _BACK_WITHIN_S
        while True:
            answer = self._person.call("GET", f"{CONTAINER}/{name}")
            if answer.status_code == 404:
                return None
            if answer.status_code == 200:
                return answer.content
            if time.monotonic() > give_up_s:
                raise AssertionError((name, answer.status_code, answer.text))
            time.sleep(_LOOK_S)


def kill_often(pair: Pair, kills: int, seed: int, tell_each: int = 0) -> Outcome:
    """Return the outcome of so many kills at a gateway with a keyring, whose rules then compress and encrypt all
    objects of a container. tell_each: print the number of kills at these intervals; 0: never.
    """
    rule = replace(parse_rule(RULE), id=1)
    RuleFile(pair.gateway.directory / "rates.rules").write(book_document(RuleBook((rule,))))
    with logged_in(pair.gateway, LOGIN) as person:
        killer = Killer(pair, person, random.Random(seed))
        for number in range(1, kills + 1):
            killer.kill_once()
            if tell_each and number % tell_each == 0:
                print(f"{number} kills, {len(killer.outcome.wrong)} violations", flush=True)
    return killer.outcome


def main() -> int:
    """Print what came of the kills; return 1 for a violation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with gateway_before_swift(keyring=keyring) as pair:
        outcome = kill_often(pair, given.kills, given.seed, tell_each=50)
    print(*outcome.table(), *outcome.wrong, sep="\n")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
