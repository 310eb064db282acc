"""Documents of workflows become executions; invalid ones are refused in bounded work."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from zoe_client.vocabulary import DependencyKind
from zoe_lib.descriptions import DescriptionError, parse
from zoe_lib.workflows import CompiledWorkflow, RunPlace, compile_workflow

STEP = {"image": "zoe/tiny", "command": ["true"]}
PLACE = RunPlace("w1")


def workflow(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "name": "w", "steps": list(steps), **more}


def compiled(*steps: dict[str, Any], given: dict[str, Any] | None = None, **more: Any) -> CompiledWorkflow:
    return compile_workflow(workflow(*steps, **more), given or {}, PLACE)


def findings(*steps: dict[str, Any], given: dict[str, Any] | None = None, **more: Any) -> list[str]:
    with pytest.raises(DescriptionError) as refused:
        compiled(*steps, given=given, **more)
    return [str(diagnostic) for diagnostic in refused.value.diagnostics]


def test_each_step_stands_behind_those_that_it_runs_after() -> None:
    found = compiled(
        {"name": "c", "needs": ["any:b", "a"], **STEP}, {"name": "b", "needs": ["a"], **STEP}, {"name": "a", **STEP}
    )
    assert [step.name for step in found.steps] == ["a", "b", "c"]
    assert [(need.kind, need.position) for need in found.steps[2].after] == [
        (DependencyKind.ANY, 1),
        (DependencyKind.OK, 0),
    ]


def test_values_are_data_wherever_they_stand() -> None:
    """A value cannot bring templates, and stays a number where one is wanted."""
    params = {"text": {}, "count": {"type": "integer", "default": 3}, "yes": {"type": "boolean", "default": True}}
    step = {
        "name": "a",
        "image": "zoe/tiny",
        "command": ["echo", "{param:text} {{param:text}}", "{param:yes}", "{execution}"],
        "environment": {"COUNT": "{param:count}"},
        "cores": "{param:count}",
        "files": {"x": "{param:text}"},
    }
    [made] = compiled(step, params=params, given={"text": "{workspace} }{", "count": "4"}).steps
    [component] = made.application["components"]
    assert component["command"] == ["echo", "{{workspace}} }}{{ {{param:text}}", "true", "{execution}"]
    assert component["environment"] == {"COUNT": "4"}
    assert component["resources"]["cores"] == 4
    assert component["files"] == {"x": "{param:text}"}
    parse(made.application)


def test_paths_of_a_matrix_are_arguments_of_their_own() -> None:
    train = {"name": "train", **STEP, "matrix": {"n": [1, 2]}, "results": {"model": "m"}}
    report = {"name": "report", "inputs": {"models": "train.model"}, "image": "zoe/tiny"}
    *_, last = compiled(train, {**report, "command": ["cat", "{input:models}", "x={input:models}"]}).steps
    paths = [f"{{workspace}}/.zoe-workflows/w1/1/train.{n}/m" for n in range(2)]
    [component] = last.application["components"]
    assert component["command"][-4:] == ["cat", *paths, "x=" + ",".join(paths)]
    assert component["environment"]["ZOE_INPUT_MODELS"] == ",".join(paths)


def test_steps_that_are_not_run_again_keep_their_results() -> None:
    first = {"name": "a", **STEP, "results": {"r": "r"}}
    second = {"name": "b", **STEP, "inputs": {"r": "a.r"}}
    place = RunPlace("w1", 3, kept={"a": 1})
    *_, last = compile_workflow(workflow(first, second), {}, place).steps
    [component] = last.application["components"]
    assert component["environment"]["ZOE_INPUT_R"] == "{workspace}/.zoe-workflows/w1/1/a/r"


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("integer", "7", True),
        ("integer", "7.5", False),
        ("integer", 2**63, False),
        ("integer", True, False),
        ("integer", "9" * 5000, False),
        ("number", "1e3", True),
        ("number", "nan", False),
        ("number", "inf", False),
        ("boolean", "true", True),
        ("boolean", "1", False),
        ("text", "7", True),
        ("text", 7, False),
        ("text", "x" * 5000, False),
        ("text", "a\x00b", False),
    ],
)
def test_values_have_the_type_that_is_declared(kind: str, value: object, fits: bool) -> None:
    step = {"name": "a", **STEP}
    params = {"p": {"type": kind}}
    if fits:
        assert compiled(step, params=params, given={"p": value}).parameters.keys() == {"p"}
    else:
        [message] = findings(step, params=params, given={"p": value})
        assert message.startswith("/params/p: ")


@pytest.mark.parametrize("name", ["..", "a/b", "../x", "A", "a.b", "-a", "a" * 64, "", "a\x00"])
def test_hostile_names_are_refused(name: str) -> None:
    assert any(finding.startswith("/steps/0/name") for finding in findings({"name": name, **STEP}))


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "a/../b", ".x", "a b", "$(id)", "-rf", "*"])
def test_hostile_paths_of_results_are_refused(path: str) -> None:
    assert findings({"name": "a", **STEP, "results": {"r": path}})


def test_cycles_that_share_steps_are_told_together() -> None:
    """Each is closed by another reference: without these, the document is valid."""

    def step(name: str, *needs: str) -> dict[str, object]:
        return {"name": name, **STEP, "needs": list(needs)}

    steps = [step("a", "b", "c"), step("b", "a"), step("c", "b", "a", "d"), step("d", "c")]
    closing = {
        "/steps/1/needs/0": "a cycle: b after a after b",
        "/steps/2/needs/1": "a cycle: c after a after c",
        "/steps/3/needs/0": "a cycle: d after c after d",
    }
    assert findings(*steps) == [f"{place}: {message}" for place, message in closing.items()]
    assert [entry.name for entry in compiled(step("a", "b", "c"), step("b"), step("c", "b", "d"), step("d")).steps]


def test_of_a_long_cycle_the_steps_that_are_not_named_are_counted() -> None:
    long = [{"name": f"s{n}", "needs": [f"s{(n + 1) % 20}"], **STEP} for n in range(20)]
    [message] = findings(*long)
    assert message.endswith(
        "s0 after s1 after s2 after s3 after s4 after s5 after s6 after s7 after s8 after s9 after 9 more after s19"
    )


def test_sizes_are_counted_before_anything_is_made() -> None:
    huge = {"name": "a", **STEP, "matrix": {key: list(range(1000)) for key in "abcdefgh"}}
    began_s = time.monotonic()
    [message] = findings(huge)
    assert "more than 10^12" in message
    cross = [{"name": name, **STEP, "matrix": {"n": list(range(400))}} for name in ("a", "b")]
    cross[1]["needs"] = ["a"]
    [message] = findings(*cross)
    assert "160000 dependencies" in message
    deep = [{"name": f"s{n}", "needs": [f"s{n + 1}"] if n < 999 else ["s0"], **STEP} for n in range(1000)]
    [message] = findings(*deep)
    assert "a cycle: " in message

    del deep[999]["needs"]
    assert [step.name for step in compiled(*deep).steps][:2] == ["s999", "s998"]
    assert time.monotonic() - began_s < 20


def test_compiling_does_not_change_the_document() -> None:
    document = workflow({"name": "a", **STEP, "results": {"r": "r"}})
    before = copy.deepcopy(document)
    compile_workflow(document, {}, PLACE)
    assert document == before


@pytest.mark.parametrize(
    "document", [None, [], "x", {}, {"version": 1, "name": "w", "steps": {}}, {"steps": [None, 3]}]
)
def test_documents_of_another_shape_are_refused(document: object) -> None:
    with pytest.raises(DescriptionError):
        compile_workflow(document, {}, PLACE)


@pytest.mark.parametrize("value", [[1], {"a": 1}, None, "x" * 5000])
def test_a_value_of_a_matrix_that_is_none_is_one_finding(value: object) -> None:
    [message] = findings({"name": "a", **STEP, "matrix": {"x": [value]}})
    assert message.startswith("/steps/0/matrix/x/0: ")


def test_deadlines_of_the_whole_and_of_steps_are_kept_as_they_are_written() -> None:
    steps = ({"name": "a", **STEP}, {"name": "b", "deadline": "+1h", "on_failure": ["a"], **STEP})
    found = compiled({**steps[0], "deadline": "+2h"}, steps[1], deadline="08:00 Europe/Paris")
    assert [step.deadlines for step in found.steps] == [("08:00 Europe/Paris", "+2h"), ("+1h",)]
    assert "/deadline: " in findings(steps[0], deadline="08:00")[0]
    both = findings({**steps[0], "deadline": "+2h", "deadline_s": 5}, deadline="+2h", deadline_s=5)
    assert [text.partition(":")[0] for text in both] == ["/steps/0/deadline", "/deadline"]


def test_all_cycles_are_told_beside_what_else_is_wrong() -> None:
    def step(name: str, *needs: str) -> dict[str, object]:
        return {"name": name, "image": "zoe/tiny", "command": ["true"], "needs": list(needs)}

    steps = [step("a", "b"), step("b", "a"), step("c", "absent"), step("d"), step("d"), step("e", "e", "d")]
    with pytest.raises(DescriptionError) as told:
        compile_workflow({"version": 1, "name": "n", "steps": steps}, {}, RunPlace("w"))
    assert [(diagnostic.pointer, diagnostic.message) for diagnostic in told.value.diagnostics] == [
        ("/steps/1/needs/0", "a cycle: b after a after b"),
        ("/steps/2/needs/0", "no step has the name 'absent'"),
        ("/steps/4/name", "another step already has 'd'"),
        ("/steps/5/needs/0", "a cycle: e after e"),
    ]
