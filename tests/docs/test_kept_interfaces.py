"""Interfaces for clients and scripts stay: no part is removed or renamed; only texts and additions are new.

`kept_interfaces.json` has the interfaces; `python -m tests.docs.test_kept_interfaces` writes it again, with later
additions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from scripts.reference.cli import commands
from zoe_api.http.problems.codes import PROBLEMS
from zoe_cli.exits import Exit
from zoe_cli.main import app
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import EVENT_TYPES
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark, ServiceState
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.settings.config import Settings

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("kept_interfaces.json")
_REFERENCE = ROOT / "docs" / "reference"
# Parts of a schema that are for people.
_TEXTS = frozenset({"title", "description", "summary", "example", "examples", "info", "tags", "externalDocs"})


def interfaces() -> dict[str, Any]:
    """All of it, as JSON."""
    store = "".join(path.read_text() for path in sorted((ROOT / "zoe_lib" / "store").rglob("*.py")))
    found = {
        "API": _without_texts(_read("openapi.json")),
        "descriptions": _without_texts(_read("description.schema.json")),
        "refusals": {code.value: status for code, (status, _) in PROBLEMS.items()},
        "exit codes": {code.name: int(code) for code in Exit},
        "commands": {words: sorted(_options(command)) for words, command in commands(typer.main.get_command(app))},
        "events": sorted([*EVENT_TYPES, *re.findall(r'Fact\(\s*"(\w+)"', store)]),
        "states": sorted(state.value for kind in (ExecutionState, ServiceState) for state in kind),
        "reasons": sorted(code.value for code in ReasonCode),
        "causes": sorted(cause.value for cause in Cause),
        "marks": sorted(mark.value for mark in Mark),
        "metrics": re.findall(r"^\| `(zoe_\w+)` \| (\w+) \|", (_REFERENCE / "metrics.md").read_text(), re.MULTILINE),
        "policy": sorted(field.name for field in fields(Policy)),
        "settings": sorted({*Settings.model_fields, *Settings.former_names}),
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def _read(name: str) -> Any:
    return json.loads((_REFERENCE / name).read_text())


def _without_texts(value: Any, names: bool = False) -> Any:
    """`names`: the keys are property names, whatever their text."""
    if isinstance(value, Mapping):
        kept = {key: item for key, item in value.items() if names or key not in _TEXTS}
        return {key: _without_texts(item, key == "properties" and not names) for key, item in kept.items()}
    return [_without_texts(item) for item in value] if isinstance(value, list) else value


def _options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from parameter.opts if parameter.param_type_name == "option" else [f"<{parameter.name}>"]


def lost(kept: Any, now: Any, sent: Set[str] = frozenset(), at: str = "") -> list[str]:
    """Return the places where a kept part is missing or has changed; `sent` names the schemas of clients' requests."""
    if isinstance(kept, Mapping) and isinstance(now, Mapping):
        gone = [f"{at}/{key}" for key in kept if key not in now]
        return gone + [
            place for key in kept.keys() & now.keys() for place in lost(kept[key], now[key], sent, f"{at}/{key}")
        ]
    if not isinstance(kept, list) or not isinstance(now, list):
        return [] if kept == now else [f"{at}: {kept} is {now}"]
    if at.endswith("/required") and at.split("/")[-2] in sent:
        kept, now = now, kept  # clients would have to send more
    if all(isinstance(entry, Mapping) and "name" in entry for entry in (*kept, *now)):
        by_name = [{entry["name"]: entry for entry in some} for some in (kept, now)]
        return lost(by_name[0], by_name[1], sent, at)
    # One of several schemas may gain a bound, as a schema on its own may.
    return [f"{at}: {entry}" for entry in kept if all(lost(entry, other, sent, at) for other in now)]


def sent_by_clients(document: Mapping[str, Any]) -> Set[str]:
    """Return the schemas of request bodies, and the schemas that they refer to."""
    found: set[str] = set()
    new = {
        name
        for path in document["paths"].values()
        for entry in path.values()
        for name in _named(entry.get("requestBody"))
    }
    while new:
        found |= new
        new = {name for text in new for name in _named(document["components"]["schemas"][text])} - found
    return found


def _named(schema: Any) -> set[str]:
    return set(re.findall(r"#/components/schemas/(\w+)", json.dumps(schema)))


def test_all_that_is_kept_is_there() -> None:
    now = interfaces()
    assert lost(json.loads(KEPT.read_text()), now, sent_by_clients(now["API"])) == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda now: now["API"]["paths"].popitem(), "/API/paths//"),
        (
            lambda now: now["API"]["components"]["schemas"]["SignIn"]["properties"].pop("tenant"),
            "/SignIn/properties/tenant",
        ),
        (
            lambda now: now["API"]["components"]["schemas"]["SignIn"]["required"].append("tenant"),
            "/SignIn/required: tenant",
        ),
        (
            lambda now: now["API"]["components"]["schemas"]["TokenView"]["required"].remove("id"),
            "/TokenView/required: id",
        ),
        (lambda now: now["commands"].pop("zoe plan"), "/commands/zoe plan"),
        (lambda now: now["commands"]["zoe logs"].remove("--follow"), "/commands/zoe logs: --follow"),
        (lambda now: now["exit codes"].update(USAGE=64), "/exit codes/USAGE: 2 is 64"),
        (lambda now: now["events"].remove("policy_set"), "/events: policy_set"),
        (lambda now: now["settings"].remove("database_url"), "/settings: database_url"),
    ],
)
def test_removed_or_changed_interface_is_found(change: Callable[[Any], object], where: str) -> None:
    kept, now = interfaces(), interfaces()
    change(now)
    [place] = lost(kept, now, sent_by_clients(now["API"]))
    assert where in place


def test_additions_and_texts_are_allowed() -> None:
    kept, now = ({"info": 1, "paths": {"a": 1}, "enum": ["x"]}, {"paths": {"a": 1, "b": 2}, "enum": ["x", "y"]})
    assert lost(_without_texts(kept), now) == []
    assert _without_texts({"description": "x", "properties": {"description": {"title": "y", "type": "string"}}}) == {
        "properties": {"description": {"type": "string"}}
    }


if __name__ == "__main__":
    KEPT.write_text(json.dumps(interfaces(), indent=0, sort_keys=True) + "\n")
