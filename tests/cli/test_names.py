"""Odd names of everything that users name: the command line and the API say what a name may be, whatever it has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.cli.conftest import APP, Zoe
from tests.cli.server import ADMIN, Server
from zoe_client.wire.people.people import NAME_PATTERN
from zoe_client.words import names
from zoe_client.words.pattern_words import WORDS

ODD = (
    *("a/b", "/", "..", "a b", " a", "a.b", "x" * 300, "n\u00e4me", "a\u202eb", "a\u200bb", "a\u0085b", "a\tb"),
    *("a\n", "%2F", "a%2Fb", "a%00b", "a?b", "a#b", "a\\b", 'a"b', "a:b", "-a", ""),
)
URL = "https://hooks.example.org/7"
REFUSED, WRONG_USE = 422, 2
TOO_LONG = re.compile("must have at (most|least) [0-9]+ characters?")


@dataclass(frozen=True)
class Kind:
    """Something that users name. words: call `zoe`, `NAME` is the name. path: of the API's route, or the place of the
    name in the body. body: of its request.
    """

    words: Sequence[str]
    path: str
    body: Mapping[str, Any]
    pattern: str
    most: int = 300

    def may_be(self, name: str) -> bool:
        return re.fullmatch(self.pattern, name) is not None and 0 < len(name) <= self.most


KINDS = {
    "secret": Kind(("secret", "set", "NAME"), "PUT secrets/NAME", {"value": "v"}, names.NAME),
    "target": Kind(("notify", "set", "NAME", URL), "PUT notifications/NAME", {"url": URL}, names.NAME),
    "application": Kind(("app", "put", "NAME", "app.json"), "PUT applications/NAME", {"document": APP}, names.NAME),
    "schedule": Kind(
        ("schedule", "add", "NAME", "@daily", "app.json"),
        "PUT schedules/NAME",
        {"expression": "@daily", "document": APP},
        names.NAME,
    ),
    "filter": Kind(
        ("storage", "filter", "add", "app.json", "--name=NAME"),
        "PUT storage/filters/NAME",
        {"module": "AA=="},
        names.FILTER_NAME,
        100,
    ),
    "metric": Kind(
        ("storage", "metric", "add", "NAME", "--promql", "up"),
        "POST storage/metrics/NAME",
        {"expression": "up"},
        names.METRIC_NAME,
        64,
    ),
    "user": Kind(("admin", "user", "add", "NAME"), "POST admin/users name", {}, NAME_PATTERN, 64),
    "tenant": Kind(("admin", "tenant", "add", "NAME"), "POST admin/tenants name", {}, NAME_PATTERN, 64),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_invalid_name_is_refused_with_the_rule_for_names(server: Server, zoe: Zoe, kind: Kind, tmp_path: Path) -> None:
    """`zoe storage filter add --name a/b` said that it does not exist."""
    (tmp_path / "app.json").write_text(json.dumps(APP))
    rule = WORDS[kind.pattern]
    odd = [name for name in ODD if not kind.may_be(name)]
    assert len(odd) > len(ODD) // 2
    for name in odd:
        words = [str(tmp_path / word) if word == "app.json" else word.replace("NAME", name) for word in kind.words]
        if not name.startswith("-"):  # that is an option
            result = zoe(*words, stdin=b"v")
            assert result.code == WRONG_USE, (name, result)
            assert rule in result.err or TOO_LONG.search(result.err), (name, result.err)
        if name not in ("..", ""):  # a URL cannot have them
            answer = asked(server, kind, name)
            assert (answer.status_code, answer.json()["code"]) == (REFUSED, "invalid_request"), (name, answer.text)
            said = " ".join(entry["message"] for entry in answer.json()["errors"])
            assert rule in said or TOO_LONG.search(said) or "must have no `/`" in said, (name, said)


def asked(server: Server, kind: Kind, name: str) -> httpx.Response:
    method, path, *field = kind.path.split()
    body = {**kind.body, **dict.fromkeys(field, name)}
    url = f"{server.url}/api/v1/{path.replace('NAME', quote(name, safe=''))}"
    return httpx.request(method, url, json=body, headers={"Authorization": f"Bearer {ADMIN}"})
