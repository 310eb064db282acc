"""Views of executions: with the version, and without details that shares exclude."""

from __future__ import annotations

from fastapi import Response

from tests.support.applications import application, component, execution
from zoe_api.access.representation import view_of_execution, without_contents
from zoe_client.vocabulary import DependencyKind
from zoe_lib.domain.values.conditions import Conditions, Dependency

FULL = application(component("main", environment=(("KEY", "secret"),), files=(("a.ini", "password"),)))


def test_names_of_variables_and_files_stay_and_contents_go() -> None:
    (main,) = without_contents(FULL).components
    assert (main.environment, main.files) == ((("KEY", ""),), (("a.ini", ""),))
    assert main.command == FULL.components[0].command


def test_a_view_has_its_version_as_entity_tag() -> None:
    one = execution(1, application=FULL, version=7, conditions=Conditions(after=(Dependency(DependencyKind.OK, "x"),)))
    answer = Response()
    whole = view_of_execution(one, answer)
    assert answer.headers["ETag"] == '"7"'
    assert whole.description["components"][0]["environment"] == {"KEY": "secret"}
    assert whole.conditions is not None
    assert [on.on for on in whole.conditions.after] == ["x"]
    part = view_of_execution(one, answer, with_secrets=False)
    assert part.description["components"][0]["environment"] == {"KEY": ""}
    assert part.conditions is None
    held = execution(1, conditions=Conditions(begin_at_s=9.0, after=one.conditions.after))
    kept = view_of_execution(held, answer, with_secrets=False).conditions
    assert kept is not None
    assert (kept.begin_at_s, list(kept.after)) == (9.0, [])
