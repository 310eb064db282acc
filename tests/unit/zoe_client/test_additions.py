"""Variables, secrets and results that are added to a description."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_client.documents.additions import with_additions
from zoe_lib.descriptions import parse

MAIN = {
    "name": "main",
    "image": "zoe/tiny",
    "command": ["true"],
    "resources": {"memory": "64MiB"},
    "ends_application": True,
}
SIDE = {"name": "side", "image": "zoe/tiny", "resources": {"memory": "64MiB"}}


def document(*components: dict[str, Any]) -> dict[str, Any]:
    return {"version": 4, "name": "sums", "components": list(components)}


def test_they_go_to_the_component_that_ends_the_application() -> None:
    given = document(SIDE, {**MAIN, "environment": {"A": "old", "B": "kept"}})
    changed = with_additions(given, {"A": "new {x}"}, {"wandb": "KEY", "db": None}, [":out/", "./a.csv", "out"])
    parse(changed)
    side, main = changed["components"]
    assert side == SIDE
    assert main["environment"] == {"A": "new {{x}}", "B": "kept", "ZOE_SECRETS": "{secrets}"}
    assert main["secrets"] == [{"name": "wandb", "variable": "KEY"}, {"name": "db"}]
    assert changed["results"] == ["out", "a.csv"]
    assert given["components"][1]["environment"] == {"A": "old", "B": "kept"}, "the caller's description is unchanged"


def test_without_one_such_component_they_are_refused() -> None:
    with pytest.raises(ValueError, match="none, or several"):
        with_additions(document(SIDE, {**SIDE, "name": "other"}), {"A": "1"})
    everywhere = with_additions(document(SIDE, {**SIDE, "name": "other"}), {"A": "1"}, everywhere=True)
    assert [one["environment"] for one in everywhere["components"]] == [{"A": "1"}, {"A": "1"}]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"environment": {"1A": ""}}, "not a name of a variable"),
        ({"environment": {"A": 3}}, "variable A is 3, and must be a string: '3'"),
        ({"secrets": "wandb"}, r"such as \['wandb'\]"),
        ({"secrets": [""]}, "a secret has no name"),
        ({"secrets": ["a=b=c"]}, "'b=c' is not a name of a variable"),
        ({"results": [":"]}, "whole workspace"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        with_additions(document(MAIN), **wrong)


def test_an_array_keeps_its_index_in_values() -> None:
    changed = with_additions(document(MAIN), {"SEED": "{index} of {n}"}, template="{index}")
    assert changed["components"][0]["environment"]["SEED"] == "{index} of {{n}}"
