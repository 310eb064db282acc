"""Hostile requests to Swift's proxy with all of Zoe's filters: nothing of another tenant's is shown or changed."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import ExitStack
from urllib.parse import unquote, urlsplit

import httpx

from tests.hostile.exchange import Line
from tests.hostile.marks import Marks
from tests.hostile.store import StoreDrawing
from tests.storage.test_rules import applied
from tests.support.long import LONG
from tests.support.object_store import Person, logged_in
from tests.support.s3 import s3_client
from tests.support.whole_storage import TOKEN, Whole

SEED = 20261129
REQUESTS = 5000 if LONG else 400
LAWFUL = (501, 503)
WRONG = re.compile(r"Traceback|\bERROR\b|\bError: ")


def planted(ann: Person, marks: Marks) -> list[str]:
    """Give Ann containers and objects with marks; return their names."""
    container = marks.secret("container")
    ann.put(container, **{"X-Container-Meta-Note": marks.secret("metadata of a container")})
    names = [f"{container}/{marks.secret('object')}", f"{container}/{marks.secret('sealed object')}"]
    for name in names:
        contents = (marks.secret(f"contents of {name}") * 5000).encode()
        ann.put(name, contents, **{"X-Object-Meta-Note": marks.secret("metadata of an object")})
    return names


def state(ann: Person, names: list[str]) -> list[object]:
    """Return everything of Ann's that other users could have changed."""
    containers = [(entry["name"], entry["count"]) for entry in ann.call("GET", params={"format": "json"}).json()]
    heads = [ann.call("HEAD", text).headers for text in ("", *{name.partition("/")[0] for name in names}, *names)]
    kept = [
        {k: v for k, v in head.items() if k.lower().startswith(("x-container", "x-object", "etag"))} for head in heads
    ]
    return [containers, kept, [ann.call("GET", name).content for name in names]]


def test_no_hostile_request_finds_a_fault(shared: Whole) -> None:
    print(f"seed {SEED}")
    marks, wrong, statuses = Marks("another tenant"), list[str](), Counter[int]()
    with ExitStack() as opened:
        enter = opened.enter_context
        ann, bob = (enter(logged_in(shared.store, login)) for login in ("acme:ann", "beta:bob"))
        http = enter(httpx.Client(base_url=shared.url, headers={"X-Auth-Token": TOKEN}, timeout=60))
        enter(applied(http, shared, "FOR TENANT acme DO SET COMPRESSION, SET ENCRYPTION"))
        names = planted(ann, marks)
        before, log = state(ann, names), len(shared.store.log_of("proxy"))
        at = urlsplit(ann.account_url)
        clients = {"bob by S3": enter(s3_client(shared.store, "beta:bob"))}
        tokens = {"nobody": "", "bob": bob.token, "forged": "AUTH_tk" + "0" * 32}
        drawing = StoreDrawing(SEED, at.netloc, tokens, clients, at.path.rpartition("/")[2], names)
        line = Line(at.hostname or "", at.port or 0)
        known: set[str] = set()
        for _ in range(REQUESTS):
            one = drawing.request()
            sent = one.sent()
            known |= marks.among(sent)
            answer = line.ask(one.method, sent)
            statuses[answer.status] += 1
            story = f"{one.asker}: {sent[:400]!r} -> {answer.status} {answer.body[:300]!r}"
            wrong += [f"shows {leak}: {story}" for leak in marks.leaked(answer.text, known)]
            if answer.status == 0 or (answer.status >= 500 and answer.status not in LAWFUL):
                wrong.append(f"status {answer.status}: {story}")
        line.close()
        assert state(ann, names) == before
        logged = shared.store.log_of("proxy")[log:].splitlines()
    wrong += [unquote(text)[:300] for text in logged if WRONG.search(text)]
    assert wrong == [], (statuses, wrong[:20])
