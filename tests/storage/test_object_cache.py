"""Two proxies with caches over one store, against a store without: no client ever gets an older object."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.test_filter_host import BODIES, KEYS, NAMES, RANGES, get, put, rules
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.environment import ensure_swift

Request = dict[str, Any]
Ask = Callable[[list[Request]], list[Any]]
CACHED = "FOR TENANT acme DO SET CACHING"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """The answers of the plain store and of the proxies to a list of requests."""
    apart = tmp_path_factory.mktemp("cached")
    (apart / "keyring.json").write_text(json.dumps(KEYS))
    python = ensure_swift(Home.find(CLONE).create()) / "bin" / "python"
    # Among Swift's packages is another one of the name `tests`.
    path = f"import tests; tests.__path__[:] = [{str(CLONE / 'tests')!r}]"
    start = f"{path}; from tests.support.cached_store import main; main()"
    command = [str(python), "-P", "-c", start, str(apart / "keyring.json"), str(apart / "site")]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=CLONE, env={"PYTHONPATH": str(CLONE)}, stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def asked(requests: list[Request]) -> list[Any]:
            stdin.write(json.dumps(requests) + "\n")
            stdin.flush()
            found: list[Any] = json.loads(stdout.readline())
            return found

        yield asked
        stdin.close()


def at(proxy: int, request: Request, **more: Any) -> Request:
    return {**request, "proxy": proxy, **more}


def what(method: str, proxy: int = 0, **more: Any) -> Request:
    return {"method": method, "proxy": proxy, **more}


def body(answer: Any) -> bytes:
    return base64.b64decode(answer[1]["body"])


PROXIES = st.integers(0, 1)
READS = st.builds(
    lambda name, proxy, headers, method: at(proxy, get(name, headers, method)),
    NAMES,
    PROXIES,
    st.just({}) | st.just({}) | st.fixed_dictionaries({"Range": RANGES}),
    st.sampled_from(["GET", "GET", "GET", "HEAD"]),
)
WRITES = st.one_of(
    st.builds(lambda proxy, name, content: at(proxy, put(name, content)), PROXIES, NAMES, BODIES),
    st.builds(
        lambda proxy, name, tag: at(proxy, get(name, {"X-Object-Meta-A": tag}, "POST")), PROXIES, NAMES, st.text("abc")
    ),
    st.builds(lambda proxy, name: at(proxy, get(name, method="DELETE")), PROXIES, NAMES),
)
FAILURES = st.one_of(
    st.builds(what, st.sampled_from(["FORGET", "CUT", "MEND", "RESTART", "LOSE"]), PROXIES),
    st.builds(lambda seconds: what("WAIT", seconds=seconds), st.sampled_from([0.4, 1.1])),
    st.builds(lambda proxy, place: what("DAMAGE", proxy, at=place), PROXIES, st.integers(0, 70_000)),
    st.lists(
        st.sampled_from([CACHED, "FOR CONTAINER acme/c WHEN OBJECT_SIZE<100K DO SET CACHING, SET NOOP"])
        | st.sampled_from(["FOR TENANT acme DO SET ENCRYPTION", "FOR OBJECT acme/c/b DO SET COMPRESSION"]),
        max_size=3,
    ).map(lambda texts: rules(*texts)),
)
MEANWHILE = st.lists(READS | WRITES, max_size=2)


@st.composite
def steps(draw: st.DrawFn) -> list[Request]:
    found = [rules(CACHED), *(at(draw(PROXIES), put(name, draw(BODIES))) for name in ("a.txt", "b"))]
    kinds = ["read", "read", "read", "write", "failure", "crossed", "killed"]
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=4, max_size=25)):
        if kind == "failure":
            found.append(draw(FAILURES))
        elif kind == "killed":  # without another failure at the same time
            one = draw(WRITES)
            found += [what("MEND", one["proxy"]), {**one, "killed": True, "before": draw(MEANWHILE)}]
            found[-1]["after"] = draw(st.lists(READS, max_size=2))
        else:
            one = draw(WRITES if kind == "write" else READS if kind == "read" else READS | WRITES)
            if kind == "crossed":
                one = {**one, "before": draw(MEANWHILE), "after": draw(MEANWHILE)}
            found.append(one)
        if kind in ("write", "crossed", "killed"):  # what reads after it, soon
            found += [at(proxy, get(name)) for proxy in (0, 1) for name in ("a.txt", "b")]
    return found


def judged(request: Request, answer: Any) -> None:
    """Compare an answer, and the answers meanwhile, with the plain store's."""
    if answer is None:
        return
    possible, got, told = answer
    requests = [*request.get("before", ()), *request.get("after", ())]
    for entry, of_it in zip(requests, told, strict=False):
        judged(entry, of_it)
    if got is None:
        return  # the proxy was killed
    replaced = bool(requests) and (got["status"].startswith("422") or got["broken"])
    assert got in possible or replaced, (request, possible, got)


@given(wanted=steps())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_caches_never_return_an_older_object(ask: Ask, wanted: list[Request]) -> None:
    """With any writes through any proxy while the other reads, and any failures meanwhile."""
    for request, answer in zip(wanted, ask(wanted), strict=True):
        judged(request, answer)


OLD, NEW = at(0, put("b", b"old")), at(0, put("b", b"new"))
HOT = [at(1, get("b"))] * 2  # kept, and found to be the newest
CROSSINGS: dict[str, list[Request]] = {
    "a write after a reader was told the number": [what("WAIT", seconds=2), at(1, get("b"), before=[NEW])],
    "a write after a reader was told the version": [what("WAIT", seconds=2), at(1, get("b"), after=[NEW])],
    "a writer without memcached": [what("CUT", 0), NEW],
    "a writer that loses memcached": [{**NEW, "before": [what("CUT", 0)]}],
    "a writer that is killed after the store has it": [{**NEW, "killed": True}],
    "a reader in the midst of a write whose proxy is killed": [{**NEW, "before": HOT, "killed": True}],
    "memcached forgets amid a write": [{**NEW, "before": [what("FORGET"), *HOT], "after": [what("FORGET")]}],
    "memcached forgets, and a reader begins": [{**NEW, "before": [what("FORGET")], "after": HOT}],
    "two writes at once": [{**NEW, "before": [*HOT, at(1, put("b", b"other")), *HOT]}],
    "a reader without memcached": [what("CUT", 1), NEW, *HOT, what("MEND", 1)],
    "both without memcached": [what("CUT", 0), what("CUT", 1), NEW, *HOT],
    "metadata": [at(0, get("b", {"X-Object-Meta-A": "2"}, "POST"))],
    "a proxy that begins again": [what("RESTART", 1), *HOT, NEW, what("RESTART", 0)],
    "the same content again": [at(0, get("b", method="DELETE")), *HOT, OLD],
}


@pytest.mark.parametrize("crossing", CROSSINGS)
def test_a_version_that_was_the_newest_is_not_told_after_a_write(ask: Ask, crossing: str) -> None:
    wanted = [
        rules(CACHED),
        OLD,
        *HOT,
        *CROSSINGS[crossing],
        *HOT,
        at(0, get("b")),
        *HOT,
        at(1, get("b", method="HEAD")),
    ]
    for request, answer in zip(wanted, ask(wanted), strict=True):
        judged(request, answer)


def test_a_hit_reads_nothing_of_the_store(ask: Ask) -> None:
    content = bytes(range(256)) * 1000
    read = at(0, get("b"))
    part = at(0, get("b", {"Range": "bytes=70000-70009"}))
    warm = [rules(CACHED), at(1, put("b", content)), read, what("COUNTS")]
    answers = ask([*warm, read, read, part, what("COUNTS"), what("WAIT", seconds=2), read, what("COUNTS")])
    assert [body(answers[number]) for number in (2, 4, 5, 9)] == [content] * 4
    assert answers[3] == {"miss": 1, "miss bytes": 0}
    looked_at = 16  # the beginning, before a part: encrypted bytes are not given out
    assert answers[7] == {"hit": 4, "hit bytes": 2 * len(content) + 10 + looked_at, "unasked": 3, "unasked bytes": 0}
    assert answers[10] == {"hit": 1, "hit bytes": len(content)}


def test_encrypted_object_is_encrypted_in_the_cache(ask: Ask) -> None:
    secret = b"a very secret sentence" * 50
    asked = [at(0, put("b", secret)), at(0, get("b")), what("KEPT")]
    for also, there in ((", SET ENCRYPTION", False), ("", True)):
        answers = ask([rules(CACHED + also), *asked])
        [kept] = answers[3]
        assert (secret[:20] in bytes.fromhex(kept)) is there
        assert body(answers[2]) == secret


def test_of_a_damaged_entry_the_rest_comes_from_the_store(ask: Ask) -> None:
    content = bytes(range(256)) * 1000
    read = at(0, get("b"))
    for place in (0, 30, 150, 1000, 70_000, 200_000, 256_100):
        warm = [rules(CACHED), at(0, put("b", content)), read, what("COUNTS")]
        answers = ask([*warm, what("DAMAGE", at=place), read, what("COUNTS"), read])
        assert [body(answers[number]) for number in (2, 5, 7)] == [content] * 3, place
        counts = answers[6]
        assert counts.get("hit bytes", 0) < len(content), place


def test_a_rule_says_what_is_kept(ask: Ask) -> None:
    asked = [at(0, put("b", b"x" * 100)), at(0, get("b")), what("KEPT")]
    for text, kept in (
        ("FOR TENANT acme WHEN OBJECT_SIZE>100 DO SET CACHING", 0),
        ("FOR TENANT acme WHEN OBJECT_SIZE=100 DO SET CACHING, SET COMPRESSION", 1),
        ("FOR TENANT acme WHEN OBJECT_TYPE=DOCS DO SET CACHING", 0),
        ("FOR TENANT beta DO SET CACHING", 0),
    ):
        assert len(ask([rules(text), *asked])[3]) == kept, text
    both = rules(CACHED, "FOR CONTAINER acme/c DO DELETE CACHING")
    assert ask([both, *asked])[3] == []
