"""Any input gives an Application or a list of findings, in bounded time."""

from __future__ import annotations

import copy
import cProfile
import json
import random
import time
from collections.abc import Callable
from typing import Any, Self

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.checks import of_checks
from tests.unit.zoe_lib.descriptions.convert.old_documents import v0, v1, v2, v3
from tests.unit.zoe_lib.descriptions.documents import full, small, spark
from zoe_lib.descriptions import (
    DescriptionError,
    catalogue,
    catalogue_document,
    convert,
    convert_manifest,
    load_json,
    parse,
    set_values,
    to_document,
)

# Both many times what the worst document seen takes; work that grows with the square of a document goes far beyond.
STEPS_MAX = 400_000
STEPS_PER_SIGN_MAX = 20
# No machine makes STEPS_MAX calls in so much CPU time (12 ns each): what takes less need not be read again to count.
SURELY_QUICK_S = 0.005

HOSTILE: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3.5, 10**9, 2**63, -(2**63), 10**400, float("nan"), float("inf"), -float("inf"),
    1e308, "", " ", "\x00", "\ud800", "a" * 70_000, "{" * 500, "}" * 500, "{host:self}", "{host:" + "a" * 5000 + "}",
    "{port:a.b}", "{{", "$(rm -rf)", "../../etc/passwd", "/proc/self/environ", "/a/../../b", "//", "\u202e", "é" * 300,
    "1e999", "99999999999999TiB", "1GiB", "-1GiB", "9" * 4000, "s3a://k:s@b/c", "file:///etc/passwd", "self", "a.b",
    "<script>alert(1)</script>", "'; DROP TABLE executions; --", [], {}, [[]], [{}], {"": {}}, [None] * 50,
    {"a": {"b": {"c": {}}}}, [["deep", [["er"]]]], {"$ref": "#"}, {"__proto__": {}}, {str(i): i for i in range(200)},
    object(), b"bytes", {1, 2}, (1, 2), {1: 2}, {None: {}},
]  # fmt: skip
KEYS = [
    "²",
    "[key]",
    "1",
    "name",
    "version",
    "components",
    "frameworks",
    "storage",
    "resources",
    "total_count",
    "x",
    "",
    "/",
    "~",
    "é",
]

Mutation = Callable[[random.Random, Any], None]


def containers(document: Any) -> list[Any]:
    found: list[Any] = []
    todo = [document]
    while todo and len(found) < 500:
        one = todo.pop()
        if isinstance(one, dict | list):
            found.append(one)
            todo.extend(one.values() if isinstance(one, dict) else one)
    return found


def mutate(rng: random.Random, document: Any) -> None:
    """One random change somewhere in the document."""
    target = rng.choice(containers(document))
    value = copy.deepcopy(rng.choice(HOSTILE)) if rng.random() < 0.97 else deep(rng.randrange(10, 60))
    if isinstance(target, list):
        index = rng.randrange(len(target) + 1)
        match rng.randrange(3):
            case 0:
                target.insert(index, value)
            case 1 if target:
                target.append(copy.deepcopy(rng.choice(target)))
            case _:
                target[index : index + 1] = [value]
        return
    key = rng.choice(list(target) or KEYS)
    match rng.randrange(4):
        case 0:
            target.pop(key, None)
        case 1:
            target[rng.choice(KEYS)] = value
        case 2 if key in target:
            target[str(key)[:-1] + "x"] = target.pop(key)
        case _:
            target[key] = value


def deep(depth: int) -> Any:
    value: Any = "bottom"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


class Steps:
    """Counts the calls of functions, in Python and of C, within a `with`: as many on any machine, however busy it is.

    What goes on inside one call of C is not seen.
    """

    def __enter__(self) -> Self:
        self._profile = cProfile.Profile()
        self._profile.enable()
        return self

    def __exit__(self, *_: object) -> None:
        self._profile.disable()
        self.count = sum(function.callcount for function in self._profile.getstats())


def signs(document: Any) -> int:
    """How large a document is: characters and values."""
    if isinstance(document, dict):
        return 1 + sum(signs(key) + signs(value) for key, value in document.items())
    if isinstance(document, list | tuple | set):
        return 1 + sum(map(signs, document))
    return len(document) if isinstance(document, str | bytes) else 1


def refusal(read: Callable[[Any], object], document: Any) -> DescriptionError | None:
    try:
        read(document)
    except DescriptionError as error:
        return error
    return None


def check(read: Callable[[Any], object], document: Any) -> bool:
    """True when it was taken; anything but a result or findings fails the test."""
    began_s = time.thread_time()
    refused = refusal(read, document)
    if time.thread_time() - began_s > SURELY_QUICK_S:
        with Steps() as steps:
            refusal(read, document)
        assert steps.count < STEPS_MAX + STEPS_PER_SIGN_MAX * signs(document)
    if refused is None:
        return True
    assert refused.diagnostics
    assert len(str(refused)) < 350_000
    assert all(diagnostic.message and diagnostic.code for diagnostic in refused.diagnostics)
    assert all(diagnostic.pointer == "" or diagnostic.pointer.startswith("/") for diagnostic in refused.diagnostics)
    return False


def parse_and_back(document: Any) -> None:
    application = parse(document)
    canonical = json.loads(json.dumps(to_document(application), sort_keys=True))
    assert parse(canonical) == application


def convert_and_parse(document: Any) -> None:
    """What converts must parse, however odd; only version 4 itself passes through unseen."""
    converted = convert(document)
    if converted.document is not document:
        try:
            parse(converted.document)
        except DescriptionError as error:
            raise AssertionError(document) from error


def mutants(count: int, seed: int, bases: list[Any]) -> Any:
    rng = random.Random(seed)
    for _ in range(count):
        document = copy.deepcopy(rng.choice(bases))
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 8, 30])):
            mutate(rng, document)
        yield document


def test_10_000_random_and_hostile_descriptions() -> None:
    bases = [full(), small(), spark(parameters={"core_workers": 2}, overrides={"worker": {"environment": {"A": "b"}}})]
    bases += [catalogue_document(entry) for entry in catalogue()]
    taken = sum(check(parse_and_back, document) for document in mutants(10_000, 4, bases))
    assert 1_000 < taken < 9_000


def flood(**component: Any) -> dict[str, Any]:
    one = small(**component)["components"][0]
    return {**small(), "components": [{**one, "name": f"component-{index}"} for index in range(1000)]}


@pytest.mark.parametrize(
    "document",
    [
        flood(command=["{host:componnet-7777}"] * 30),
        flood(**{f"commnad{index}": 1 for index in range(30)}),
        flood(name="same", ports=[{"name": "a", "number": 1}] * 5, volumes=[{}] * 5),
        flood(environment={f"A{index}": index for index in range(30)}),
        spark(parameters={f"core_worker{index}": 1 for index in range(99)}),
    ],
)
def test_floods_of_findings(document: dict[str, Any]) -> None:
    assert not check(parse, document)


@pytest.mark.parametrize("base", [v0, v1, v2, v3])
def test_random_and_hostile_old_descriptions(base: Callable[[], dict[str, Any]]) -> None:
    document = base()
    document["plugins"] = {"storage": [{"policy": "gold"}]}
    taken = sum(check(convert_and_parse, document) for document in mutants(1_000, 5, [document]))
    assert taken > 100


def test_random_and_hostile_manifests() -> None:
    parameter = {"kind": "environment", "name": "A", "type": "int", "min": 1, "max": 2, "step": 1, "default": 1}
    manifest = {"version": 1, "zapps": [{"name": "a", "description": "a.json", "parameters": [parameter]}]}
    taken = sum(check(convert_manifest, document) for document in mutants(1_000, 6, [manifest]))
    assert taken > 100


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200)
@example({"²": None, "[key]": 1, "": 2, "01": 3})
@given(json_values)
def test_any_json(value: Any) -> None:
    assert not check(parse, value)
    assert not check(parse, {"version": 4, "name": "a", "components": value, "frameworks": value, "storage": value})


@settings(max_examples=200)
@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text(text: str | bytes) -> None:
    check(load_json, text)


@settings(max_examples=200)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_any_setting(texts: list[str]) -> None:
    check(lambda wanted: set_values(spark(), wanted), texts)
    check(lambda wanted: set_values(full(), [f"server.{text}" for text in wanted]), texts)


names = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True).filter(lambda name: name != "self")
literals = st.text(st.characters(codec="utf-8", exclude_characters="\x00{}"), max_size=20)


@st.composite
def components(draw: st.DrawFn, name: str) -> dict[str, Any]:
    total = draw(st.integers(1, 20))
    ports = draw(st.lists(names, unique=True, max_size=3))
    own = [f"{{port:{port}}}" for port in ports]
    texts = literals | st.sampled_from(["{host:self}", "{scratch}/x", "{workspace}", "{{}}", *own])
    return {
        "name": name,
        "image": draw(names),
        "command": draw(st.lists(texts, max_size=4).filter(lambda words: words[:1] != [""])),
        "environment": draw(st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), texts, max_size=4)),
        "resources": {
            "memory": draw(st.integers(2**20, 2**40)),
            "cores": draw(st.integers(0, 64_000)) / 1000,
            "devices": draw(st.dictionaries(names, st.integers(1, 8), max_size=2)),
        },
        "essential_count": draw(st.integers(1, total)),
        "total_count": total,
        "preferred_count": draw(st.none() | st.just(total)),
        "startup_order": draw(st.integers(-5, 5)),
        "ports": [{"name": port, "number": number} for number, port in enumerate(ports, start=1)],
        "scaling": {"maximum": 10_000, "cpu": 0.5, "calm_s": 0} if draw(st.booleans()) else None,
        "readiness": {"tcp": ports[0], "interval_s": 0.1} if ports else None,
        "labels": draw(st.dictionaries(names, names, max_size=2)),
        "stop_grace_s": draw(st.floats(0, 3600)),
    }


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    parts = [draw(components(name)) for name in draw(st.lists(names, unique=True, min_size=1, max_size=3))]
    parts[0]["progress"] = draw(st.none() | st.just({"file": "out/progress"}))
    return {
        "version": 4,
        "name": draw(names),
        "description": draw(literals),
        "retries": draw(st.integers(0, 100)),
        "retry": draw(
            st.none()
            | st.fixed_dictionaries(
                {},
                optional={
                    "pause_s": st.floats(0.1, 1e6),
                    "pause_max_s": st.floats(0.1, 1e6),
                    "exit_codes": st.lists(st.integers(1, 255), max_size=5),
                    "memory_factor": st.floats(1.001, 8.0),
                },
            )
        ),
        **draw(
            st.fixed_dictionaries({"deadline_s": st.none() | st.floats(1, 10**6)})
            | st.fixed_dictionaries({"deadline": st.sampled_from(["+3h", "1d2h", "08:00 Europe/Paris"])})
        ),
        "components": parts,
        "storage": draw(st.none() | st.just({}) | st.just({"bandwidth": {"read": "1MB/s"}})),
    }


@settings(max_examples=of_checks(0.2, 300))
@given(documents())
def test_valid_descriptions_survive_the_round_trip(document: dict[str, Any]) -> None:
    parse_and_back(document)
