"""The filter host against a store without filters: clients read the original bytes, whatever filters apply."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage_bridge.model import WHY_HEADER
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.rules import ModuleVersion
from storage_filters.transforms.seek_table import FRAME_BYTES
from tests.support.modules import EMPTY, FLIPPING, GROWING, LYING, READING, TRAPPING, module
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.environment import ensure_swift

Ask = Callable[[list[dict[str, Any]]], list[Any]]
KEYS = {"acme": {"current": "a1", "keys": {"a1": "11" * 32}}}
PATH = "/v1/AUTH_acme/c/"
MODULES = {
    "EMPTY": EMPTY,
    "FLIPPING": FLIPPING,
    "LYING": LYING,
    "READING": READING,
    "GROWING": GROWING,
    "TRAPPING": TRAPPING,
}
VERSIONS = {
    "": {
        name: ModuleVersion(name.lower(), hashlib.sha256(module(*item)).hexdigest(), "transform" in item[0])
        for name, item in MODULES.items()
    }
}


@pytest.fixture(scope="module")
def keyring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keyring.json"
    path.write_text(json.dumps(KEYS))
    return path


@pytest.fixture(scope="module")
def ask(keyring: Path) -> Iterator[Ask]:
    """Both stores' answers to a list of requests."""
    python = ensure_swift(Home.find(CLONE).create()) / "bin" / "python"
    command = [str(python), "-P", str(CLONE / "tests/support/memory_store.py"), str(keyring)]
    environment = {"PYTHONPATH": str(CLONE)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def asked(requests: list[dict[str, Any]]) -> list[Any]:
            stdin.write(json.dumps(requests) + "\n")
            stdin.flush()
            found: list[Any] = json.loads(stdout.readline())
            return found

        asked([{"method": "MODULE", "body": base64.b64encode(module(*item)).decode()} for item in MODULES.values()])
        yield asked
        stdin.close()


def rules(*texts: str) -> dict[str, Any]:
    book = RuleBook(tuple(parse_rule(text) for text in texts), {}, {"DOCS": frozenset({"txt"})}, modules=VERSIONS)
    return {"method": "RULES", "book": book_document(book)}


def put(name: str, body: bytes, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "method": "PUT",
        "path": PATH + name,
        "body": base64.b64encode(body).decode(),
        "headers": headers or {},
        **more,
    }


def get(name: str, headers: dict[str, str] | None = None, method: str = "GET") -> dict[str, Any]:
    return {"method": method, "path": PATH + name, "headers": headers or {}}


ACTIONS = [
    "SET NOOP",
    "SET ENCRYPTION",
    "SET COMPRESSION WITH TYPE=LZ4",
    "SET COMPRESSION WITH TYPE=ZSTD, LEVEL=3",
    "SET COMPRESSION WITH TYPE=GZIP",
    "SET FLIPPING",
    "SET EMPTY WITH level=3",
    "SET NOSUCH",
    "DELETE FLIPPING",
    "DELETE ENCRYPTION",
]
RULES = st.builds(
    "FOR {} {}DO {}".format,
    st.sampled_from(["TENANT acme", "CONTAINER acme/c", "OBJECT acme/c/a.txt"]),
    st.sampled_from(["", "WHEN OBJECT_TYPE=DOCS ", "WHEN OBJECT_SIZE>100 "]),
    st.lists(
        st.builds(
            lambda action, place: action if action.startswith("DELETE") else action + place,
            st.sampled_from(ACTIONS),
            st.sampled_from(["", " ON PROXY", " ON OBJECT", " ON OBJECT"]),
        ),
        min_size=1,
        max_size=2,  # with four rules, no more filters than may run
    ).map(", ".join),
)
NAMES = st.sampled_from(["a.txt", "b"])
FRAMED = (FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES + 5)
BODIES = st.builds(
    lambda seed, length: (seed * (length // len(seed) + 1))[:length],
    st.binary(min_size=1, max_size=200),
    st.integers(0, 300) | st.sampled_from([65535, 65536, 65537, 131072, 131073, 200_000, *FRAMED]),
)
OFFSETS = (
    st.integers(0, 400)
    | st.integers(65530, 65550)
    | st.sampled_from([65536, 131071, 131072, 199_999, *FRAMED, 600_000, 10**6])
)
ONE_RANGE = st.one_of(
    st.builds("{}-{}".format, OFFSETS, OFFSETS),
    st.builds("{}-".format, OFFSETS),
    st.builds("-{}".format, OFFSETS),
)
RANGES = st.lists(ONE_RANGE, min_size=1, max_size=3).map(lambda parts: "bytes=" + ",".join(parts))
TAGS = st.sampled_from(["*", '"d41d8cd98f00b204e9800998ecf8427e"', "PRESENT", '"nonsense", PRESENT'])
HEADERS = st.fixed_dictionaries(
    {}, optional={"Range": RANGES | st.just("bytes=x"), "If-Match": TAGS, "If-None-Match": TAGS}
)


@st.composite
def requests(draw: st.DrawFn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        rules(*draw(st.lists(RULES, min_size=1, max_size=4))),
        *(put(name, draw(BODIES)) for name in ("a.txt", "b")),
        get("a.txt", {"Range": draw(RANGES)}),
    ]
    for kind in draw(st.lists(st.sampled_from(["rules", "put", "put", "get", "get", "get", "post"]), max_size=12)):
        if kind == "rules":
            found.append(rules(*draw(st.lists(RULES, max_size=4))))
        elif kind == "put":
            headers = draw(
                st.fixed_dictionaries({"X-Object-Meta-A": st.just("1")}, optional={"If-None-Match": st.just("*")})
            )
            body = draw(BODIES)
            more: dict[str, Any] = {"chunked": draw(st.booleans())}
            if draw(st.integers(0, 5)) == 0:
                headers["Etag"] = "0" * 32
            if not more["chunked"] and body and draw(st.integers(0, 5)) == 0:
                more["cut"] = draw(st.integers(0, len(body) - 1))
            found.append(put(draw(NAMES), body, headers, **more))
        elif kind == "post":
            found.append({**get(draw(NAMES), {"X-Object-Meta-A": "2"}), "method": "POST"})
        else:
            one = get(draw(NAMES), draw(HEADERS), draw(st.sampled_from(["GET", "GET", "HEAD"])))
            found.append({**one, "bare": draw(st.booleans())})  # moved to an object server without filters
    return [*found, get("a.txt"), get("b"), get("a.txt", method="HEAD"), {"method": "LIST"}]


def _with_tags(wanted: list[dict[str, Any]], ask: Ask) -> list[dict[str, Any]]:
    """Put the ETag that an object has at that moment where a condition names the present one."""
    answers = ask(wanted)
    present: dict[str, str] = {}
    found = []
    for entry, (plain, _) in zip(wanted, answers, strict=True):
        headers = {
            name: value.replace("PRESENT", f'"{present.get(entry["path"], "none")}"')
            for name, value in entry.get("headers", {}).items()
        }
        if entry["method"] == "PUT" and plain["status"].startswith("2"):
            present[entry["path"]] = plain["headers"]["etag"].strip('"')
        found.append({**entry, "headers": headers} if "headers" in entry else entry)
    return found


@given(wanted=requests())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_clients_see_no_difference(ask: Ask, wanted: list[dict[str, Any]]) -> None:
    """Any bodies, chains, places, order of rules, ranges and conditions; also clients that disconnect or send a wrong
    ETag, and objects on object servers without filters.
    """
    exact = _with_tags(wanted, ask)
    for request, (plain, behind) in zip(exact, ask(exact), strict=True):
        assert plain == behind, request


def test_stored_form_follows_the_rules(ask: Ask) -> None:
    text = b"all work and no play " * 5000
    answers = ask(
        [
            rules("FOR TENANT acme WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION WITH TYPE=LZ4, SET ENCRYPTION"),
            put("a.txt", text),
            put("b", text),
            rules(),
            {**get("a.txt", {"X-Zoe-Why": "yes"}), "method": "HEAD"},
            get("a.txt"),
            {"method": "STORED"},
        ]
    )
    plain, behind = answers[-1]
    assert plain[PATH + "a.txt"] == plain[PATH + "b"] == behind[PATH + "b"] == len(text)
    assert behind[PATH + "a.txt"] < len(text) / 10
    assert base64.b64decode(answers[-2][1]["body"]) == text


def test_rules_whose_filters_no_proxy_has_store_what_is_put_and_ranges_are_read(ask: Ask) -> None:
    text = b"all work and no play " * 500
    ranges = [{"Range": f"bytes={entry}"} for entry in ("5-20", "-7", "0-", "1-2,5-6", "99999-")]
    stores = [rules("FOR TENANT acme DO SET NOSUCH"), put("a.txt", text), rules()]
    for plain, behind in ask([*stores, *(get("a.txt", range_) for range_ in ranges)])[3:]:
        assert behind == plain


def test_without_the_key_nothing_is_read_and_its_name_is_said(ask: Ask, keyring: Path) -> None:
    before = [rules("FOR TENANT acme DO SET ENCRYPTION"), put("a.txt", b"secret")]
    wanted = [*before, get("a.txt"), put("x", b"other")]
    try:
        keyring.write_text(json.dumps({"beta": KEYS["acme"]}))
        answers = ask(wanted)
    finally:
        keyring.write_text(json.dumps(KEYS))
    assert [answers[number][1]["status"] for number in (1, 2, 3)] == ["409 Conflict", "404 Not Found", "409 Conflict"]
    assert "no key for objects of acme" in base64.b64decode(answers[3][1]["body"]).decode()


def test_head_says_what_get_says_of_an_object_that_cannot_be_read(ask: Ask) -> None:
    """HEAD was 200, with the size; GET 409. A request for the record of filters shows that too, without the filters."""
    sha256 = VERSIONS[""]["FLIPPING"].sha256
    again = {"method": "MODULE", "body": base64.b64encode(module(*FLIPPING)).decode()}
    try:
        answers = ask(
            [
                rules("FOR TENANT acme DO SET FLIPPING"),
                put("a", b"content"),
                {"method": "FORGET", "sha256": sha256},
                get("a"),
                get("a", method="HEAD"),
                get("a", {WHY_HEADER: "yes"}, method="HEAD"),
            ]
        )
    finally:
        ask([again])
    assert [answer[1]["status"][:3] for answer in answers[3:]] == ["409", "409", "200"]


def test_a_damaged_object_is_refused_or_ends_early(ask: Ask) -> None:
    for action in ACTIONS[1:4]:
        answers = ask(
            [
                rules(f"FOR TENANT acme DO {action}"),
                put("small", b"abc" * 1000),
                put("large", bytes(range(256)) * 1000),
                {"method": "DAMAGE"},
                get("small"),
                get("large"),
                get("large", {"Range": "bytes=200000-"}),
            ]
        )
        for plain, behind in answers[4:]:
            got, whole = base64.b64decode(behind["body"]), base64.b64decode(plain["body"])
            assert behind["status"].startswith("422") or (behind["broken"] and len(got) < len(whole)), action
            assert behind["status"].startswith("422") or whole.startswith(got)


@pytest.mark.parametrize("place", ["ON PROXY", "ON OBJECT"])
@pytest.mark.parametrize("named", ["sysmeta-zoe", "sysmeta-zoe-filters", "sysmeta-zoe-size"])
def test_encrypted_data_is_never_returned_as_contents(ask: Ask, place: str, named: str) -> None:
    """Whole, in ranges, and in several ranges; also after a job that rewrites objects."""
    secret = b"attack at dawn " * 20_000
    answers = ask(
        [
            rules(f"FOR TENANT acme DO SET ENCRYPTION {place}"),
            put("a", secret),
            {"method": "LOSE", "named": named},
            *(
                get("a", entry)
                for entry in ({}, *({"Range": f"bytes={some}"} for some in ("0-3", "100000-", "5-6,9-9")))
            ),
        ]
    )
    for _, behind in answers[3:]:
        assert behind["status"].startswith("422"), behind
        assert b"is damaged" in base64.b64decode(behind["body"])


@pytest.mark.parametrize("place", ["ON PROXY", "ON OBJECT"])
def test_an_encrypted_object_in_place_of_another_one_is_not_read(ask: Ask, place: str) -> None:
    answers = ask(
        [
            rules(f"FOR TENANT acme DO SET ENCRYPTION {place}"),
            put("a", b"the salary of Ann"),
            put("b", b"the salary of Bob"),
            {"method": "SWAP"},
            get("a"),
            get("b"),
            get("a", method="HEAD"),
            get("b", method="HEAD"),
        ]
    )
    assert [answer[1]["status"][:3] for answer in answers[4:]] == ["422", "200", "422", "200"]
    assert base64.b64decode(answers[5][1]["body"]) == b"the salary of Bob"


def test_a_store_that_is_away_for_a_moment_is_asked_again(ask: Ask) -> None:
    """As an object server is that opens a file while it is replaced."""
    content = bytes(range(256)) * 1000
    begin = [rules("FOR TENANT acme DO SET ENCRYPTION"), put("a", content)]
    ranged = {"Range": "bytes=1000-1999"}

    def answers(away: list[bool], wanted: dict[str, Any]) -> tuple[str, bytes]:
        _, behind = ask([*begin, {"method": "AWAY", "away": away}, wanted])[-1]
        assert not behind["broken"]
        return behind["status"][:3], base64.b64decode(behind["body"])

    for away in ([True], [False, True], [False, True, True]):
        assert answers(away, get("a", ranged)) == ("206", content[1000:2000]), away
    status, told = answers([False, *[True] * 50], get("a", ranged))
    assert (status, b"the store answers 503 Service Unavailable while the object is read: try again" in told) == (
        "503",
        True,
    )
    assert answers([True], get("a", method="POST"))[0] == "202"
    assert answers([True], get("a", method="DELETE"))[0] == "204"
    assert answers([True, True, True], get("a", method="POST"))[0] == "503"


def test_too_large_an_object_is_refused_while_it_is_sent(ask: Ask) -> None:
    big = bytes(10**6 + 1)
    answers = ask([rules("FOR TENANT acme DO SET COMPRESSION"), put("a", big, chunked=True), get("a")])
    assert [answers[number][1]["status"][:3] for number in (1, 2)] == ["413", "404"]


def test_a_module_that_does_not_give_back_what_was_put_stores_nothing(ask: Ask) -> None:
    answers = ask([rules("FOR TENANT acme DO SET LYING"), put("a", b"content" * 20_000), get("a")])
    assert [answers[number][1]["status"][:3] for number in (1, 2)] == ["409", "404"]
    assert "the filter lying cannot store this object" in base64.b64decode(answers[1][1]["body"]).decode()


def test_a_stored_object_whose_module_is_away_is_refused_by_name_and_asked_for(ask: Ask) -> None:
    sha256 = VERSIONS[""]["FLIPPING"].sha256
    again = {"method": "MODULE", "body": base64.b64encode(module(*FLIPPING)).decode()}
    before = [rules("FOR TENANT acme DO SET FLIPPING"), put("a", b"content")]
    try:
        answers = ask(
            [
                *before,
                {"method": "FORGET", "sha256": sha256},
                get("a"),
                put("b", b"x"),
                {"method": "FORGET", "sha256": "no"},
            ]
        )
    finally:
        ask([again])
    assert answers[3][1]["status"] == "409 Conflict"
    assert f"lacks its module {sha256}" in base64.b64decode(answers[3][1]["body"]).decode()
    assert answers[4][1]["status"] == "503 Service Unavailable"
    assert "has not reached this proxy yet" in base64.b64decode(answers[4][1]["body"]).decode()
    assert answers[5][1] == [sha256]
    assert ask([*before, again, rules(), get("a")])[-1][1]["status"] == "200 OK"


TEXT = bytes(range(65, 91)) * 10_000


@given(header=st.just({}) | st.builds(lambda entry: {"Range": entry}, RANGES), chain=st.sampled_from(ACTIONS[:6]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_module_that_keeps_the_size_is_seen_in_every_range(ask: Ask, header: dict[str, str], chain: str) -> None:
    """Of a plain object, the lower half of ASCII; behind it, readers get its capital letters in lower case."""
    wanted = [
        rules(f"FOR TENANT acme DO {chain}, SET READING"),
        put("a", TEXT),
        get("a", header),
        get("a", method="HEAD"),
        rules(f"FOR TENANT acme DO {chain}"),
        get("a", header),
    ]
    _, _, (plain, behind), (_, head), _, (_, later) = ask(wanted)
    assert later == plain
    assert plain["status"] == behind["status"]
    for name in ("content-length", "content-range", "content-type"):
        assert plain["headers"].get(name) == behind["headers"].get(name)
    if plain["status"].startswith("2"):
        expected, got = base64.b64decode(plain["body"]), base64.b64decode(behind["body"])
        if "multipart" not in plain["headers"]["content-type"]:
            assert got == bytes(byte ^ 0x20 for byte in expected)
        assert head["headers"]["etag"] == behind["headers"]["etag"] != plain["headers"]["etag"]
        assert head["headers"]["content-length"] == str(len(TEXT))


def test_one_that_changes_the_size_has_none_and_no_ranges(ask: Ask) -> None:
    wanted = [
        rules("FOR TENANT acme DO SET GROWING"),
        put("a", b"abc"),
        get("a"),
        get("a", method="HEAD"),
        get("a", {"Range": "bytes=1-2"}),
        get("a", {"If-None-Match": '"900150983cd24fb0d6963f7d28e17f72"'}),
    ]
    answers = [behind for _, behind in ask(wanted)]
    assert base64.b64decode(answers[2]["body"]) == b"abcabc"
    assert "content-length" not in answers[2]["headers"]
    assert answers[3]["headers"]["content-length"] == "6"
    assert answers[4]["status"] == "409 Conflict"
    assert "no range of this object can be read" in base64.b64decode(answers[4]["body"]).decode()
    assert answers[5]["status"] == "200 OK"  # the original has this ETag, the transformed object does not
    seen = answers[2]["headers"]["etag"].strip('"')
    [*_, (_, known)] = ask([*wanted[:2], get("a", {"If-None-Match": f'"{seen}"'})])
    assert known["status"] == "304 Not Modified"


def test_a_large_object_of_segments_is_not_read_around_a_module(ask: Ask) -> None:
    manifest = {"X-Object-Manifest": "c/a"}
    answers = ask([rules("FOR TENANT acme DO SET READING"), put("m", b"", manifest), get("m")])
    assert answers[2][1]["status"] == "409 Conflict"
    assert "set it for the segments" in base64.b64decode(answers[2][1]["body"]).decode()


def test_while_rules_are_damaged_nothing_is_read_that_a_module_may_hide(ask: Ask) -> None:
    answers = ask([rules("FOR TENANT acme DO SET READING"), put("a", b"ABC"), {"method": "DAMAGE RULES"}, get("a")])
    assert answers[3][1]["status"] == "503 Service Unavailable"
    assert b"ABC" not in base64.b64decode(answers[3][1]["body"])


@pytest.mark.parametrize("asked", ["bytes=100000-100009", "bytes=100000-100009,5-9"])
def test_a_range_beyond_where_a_filter_failed_is_refused(ask: Ask, asked: str) -> None:
    """It was 500, with a traceback: the first byte of a range was computed when the answer had begun."""
    answers = ask(
        [
            rules("FOR TENANT acme DO SET TRAPPING"),
            put("t", b"content" * 20_000),
            get("t", {"Range": asked}),
            get("t", {"Range": "bytes=5-9"}),
        ]
    )
    assert [answer[1]["status"][:3] for answer in answers[2:]] == ["409", "206"]
    assert "the filter trapping cannot read this object" in base64.b64decode(answers[2][1]["body"]).decode()
