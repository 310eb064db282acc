"""Steps with `for_each`: the document is checked as far as possible before the list is known."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.zoe_lib.workflows.test_compiling import STEP, compiled, findings, workflow
from zoe_client.vocabulary import DependencyKind
from zoe_lib.descriptions import DescriptionError, parse
from zoe_lib.workflows import RunPlace, compile_workflow

PREPARE = {"name": "prepare", **STEP, "results": {"parts": "parts.json"}}
COUNT: dict[str, Any] = {
    "name": "count",
    "for_each": {"part": "prepare.parts"},
    "image": "zoe/tiny",
    "command": ["wc", "{each:part}", "{index}"],
    "results": {"total": "total.txt"},
}
SUM = {"name": "sum", **STEP, "inputs": {"totals": "count.total"}}


def test_a_mapped_step_is_one_step_with_its_list() -> None:
    prepare, count, total = compiled(PREPARE, {**COUNT, "at_once": 50}, SUM).steps
    assert prepare.each is None
    assert count.each is not None
    assert (count.name, count.each.name, count.each.source, count.each.at_once) == (
        "count",
        "part",
        "prepare.parts",
        50,
    )
    assert count.each.path == ".zoe-workflows/w1/1/prepare/parts.json"
    assert count.paths == {"total": ".zoe-workflows/w1/1/count.{index}/total.txt"}
    assert [(need.kind, need.position) for need in count.after] == [(DependencyKind.OK, 0)]
    assert [(need.kind, need.position) for need in total.after] == [(DependencyKind.OK, 1)]
    parse(count.application, each="part")
    with pytest.raises(DescriptionError):
        parse(count.application)


def test_entries_stay_for_the_array_and_values_cannot_bring_them() -> None:
    step = {**COUNT, "command": ["{param:x}", "{{each:part}}", "{each:part.name}"], "environment": {"P": "{each:part}"}}
    _, count = compiled(PREPARE, step, params={"x": {}}, given={"x": "{each:part}"}).steps
    [component] = count.application["components"]
    assert component["command"][-3:] == ["{{each:part}}", "{{each:part}}", "{each:part.name}"]
    assert component["environment"]["P"] == "{each:part}"


def test_collected_results_are_a_file_with_their_paths() -> None:
    *_, total = compiled(PREPARE, COUNT, {**SUM, "command": ["cat", "{input:totals}"]}).steps
    [component] = total.application["components"]
    assert component["command"][-2:] == ["cat", "{scratch}/zoe-input-totals"]
    assert component["environment"]["ZOE_INPUT_TOTALS"] == "{scratch}/zoe-input-totals"
    base = "{workspace}/.zoe-workflows/w1/1"
    assert [f"{base}/count", "total.txt", f"{base}/prepare/parts.json"] == component["command"][10:13]


def test_results_kept_of_an_earlier_run_are_read_from_there() -> None:
    place = RunPlace("w1", 3, kept={"count": 1, "prepare": 2})
    *_, count, total = compile_workflow(workflow(PREPARE, COUNT, SUM), {}, place).steps
    assert count.each is not None
    assert count.each.path == ".zoe-workflows/w1/2/prepare/parts.json"
    assert count.paths == {"total": ".zoe-workflows/w1/1/count.{index}/total.txt"}
    [component] = total.application["components"]
    assert "{workspace}/.zoe-workflows/w1/1/count" in component["command"]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (
            [{**COUNT, "for_each": {"part": "prepare.part"}}],
            "/steps/1/for_each/part: step 'prepare' has no result 'part'",
        ),
        ([{**COUNT, "for_each": {"part": "prepar.parts"}}], "/steps/1/for_each/part: no step has the name 'prepar'"),
        ([{**COUNT, "for_each": {"part": "count.total"}}], "a cycle"),
        ([{**COUNT, "for_each": {"a": "prepare.parts", "b": "prepare.parts"}}], "/steps/1/for_each"),
        ([{**COUNT, "for_each": ["prepare.parts"]}], "/steps/1/for_each"),
        ([{**COUNT, "matrix": {"n": [1]}}], "/steps/1/for_each: a step has either `for_each` or `matrix`"),
        ([{**COUNT, "on_failure": ["prepare"]}], "/steps/1/on_failure: a step with `on_failure` has no"),
        ([COUNT, {**COUNT, "name": "again", "for_each": {"part": "count.total"}}], "which has `for_each`"),
        (
            [
                {"name": "m", **STEP, "matrix": {"n": [1]}, "results": {"r": "r"}},
                {**COUNT, "for_each": {"part": "m.r"}},
            ],
            "which has `matrix`",
        ),
        ([{"name": "b", **STEP, "at_once": 3}], "/steps/1/at_once: `at_once` says"),
        ([{**COUNT, "at_once": 0}], "/steps/1/at_once"),
        (
            [{**COUNT, "command": ["{each:other}"]}],
            "/steps/1/command/0: '{each:other}': an entry of this step is 'part'",
        ),
        ([{**COUNT, "memory": "{each:part}"}], "/steps/1/memory: '{each:part}': an entry fills commands"),
        ([{"name": "b", "image": "zoe/tiny", "command": ["{each:part}"]}], "'{each:part}': the step has no `for_each`"),
        ([{**COUNT, "command": ["{each:part.}"]}], "unknown template '{each:part.}'"),
    ],
)
def test_impossible_step_is_refused_with_its_place(steps: list[dict[str, Any]], words: str) -> None:
    found = findings(PREPARE, *steps)
    assert any(words in text for text in found), found


def test_only_steps_have_entries() -> None:
    plain = {"version": 4, "name": "a", "components": [{"name": "main", "image": "i", "command": ["{each:part}"]}]}
    with pytest.raises(DescriptionError) as refused:
        parse(plain)
    assert "only a step of a workflow with `for_each`" in str(refused.value.diagnostics[0])
