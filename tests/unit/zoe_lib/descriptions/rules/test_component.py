"""Components in descriptions: counts; names, files and variables of secrets; the document that gives them back."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_lib.descriptions import DescriptionError, parse, to_document
from zoe_lib.domain.applications.application import ComponentSecret


def asking(*secrets: Any, **changes: Any) -> dict[str, Any]:
    component = {"name": "c", "image": "i", "resources": {"memory": "1MiB"}, "ends_application": True, **changes}
    return {"version": 4, "name": "a", "components": [{**component, "secrets": list(secrets)}]}


def test_a_secret_is_a_file_of_its_name_another_one_or_a_variable() -> None:
    document = asking(
        {"name": "a"}, {"name": "b", "file": "b.txt"}, {"name": "b", "variable": "B"}, command=["{secrets}"]
    )
    application = parse(document)
    assert application.components[0].secrets == (
        ComponentSecret("a", "a"),
        ComponentSecret("b", "b.txt"),
        ComponentSecret("b", variable="B"),
    )
    [component] = to_document(application)["components"]
    assert component["secrets"] == document["components"][0]["secrets"]
    assert parse(to_document(application)) == application


@pytest.mark.parametrize(
    ("document", "place", "code"),
    [
        (asking({"name": "a"}, {"name": "b", "file": "a"}), "secrets/1", "duplicate"),
        (asking({"name": "a", "variable": "V"}, {"name": "b", "variable": "V"}), "secrets/1/variable", "duplicate"),
        (asking({"name": "a", "variable": "V", "file": "f"}), "secrets/0", "conflict"),
        (asking({"name": "a", "variable": "PATH"}), "secrets/0/variable", "conflict"),
        (asking({"name": "a", "variable": "LD_PRELOAD"}), "secrets/0/variable", "conflict"),
        (asking({"name": "a", "variable": "ZOE_SERVICE_ID"}), "secrets/0/variable", "conflict"),
        (asking({"name": "a", "variable": "V"}, environment={"V": "x"}), "secrets/0/variable", "conflict"),
        (asking({"name": "../a"}), "secrets/0/name", "bad_format"),
        (asking({"name": "a", "file": "../a"}), "secrets/0/file", "bad_format"),
        (asking({"name": "a", "file": ".hidden"}), "secrets/0/file", "bad_format"),
        (asking(command=["{secrets}/a"]), "command/0", "conflict"),
    ],
)
def test_colliding_or_badly_named_secret_is_refused(document: dict[str, Any], place: str, code: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        parse(document)
    assert (f"/components/0/{place}", code) in [
        (diagnostic.pointer, str(diagnostic.code)) for diagnostic in refused.value.diagnostics
    ]


def test_the_preferred_count_is_between_the_others() -> None:
    counts = {"essential_count": 2, "preferred_count": 3, "total_count": 8, "ends_application": False}
    application = parse(asking(**counts))
    [component] = application.components
    assert [component.is_preferred(index) for index in (0, 2, 3, 7)] == [True, True, False, False]
    assert application.has_extra_instances
    assert parse(to_document(application)) == application
    for count in (1, 9):
        with pytest.raises(DescriptionError) as refused:
            parse(asking(**counts | {"preferred_count": count}))
        assert [d.pointer for d in refused.value.diagnostics] == ["/components/0/preferred_count"]


def test_a_preferred_count_with_scaling_needs_the_total() -> None:
    scaled = {"preferred_count": 3, "scaling": {"maximum": 8, "cpu": 0.7}, "ends_application": False}
    with pytest.raises(DescriptionError) as refused:
        parse(asking(**scaled))
    [finding] = refused.value.diagnostics
    assert (finding.pointer, finding.hint) == ("/components/0/preferred_count", 'add "total_count": 3')
    assert parse(asking(**scaled, total_count=4)).components[0].preferred_count == 3
    with pytest.raises(DescriptionError, match="greater than the maximum of scaling, 8"):
        parse(asking(**scaled | {"preferred_count": 9}, total_count=9))


def test_scaling_by_a_spark_driver_names_its_port() -> None:
    ui = {"name": "ui", "number": 4040, "protocol": "http"}
    scaled = {"scaling": {"maximum": 8, "spark": "ui"}, "total_count": 4, "ends_application": False}
    application = parse(asking(**scaled, ports=[ui]))
    assert application.components[0].scaling is not None
    assert application.components[0].scaling.spark == "ui"
    assert parse(to_document(application)) == application
    for ports, why in (([{**ui, "name": "iu"}], "no component has an http port 'ui'"), ([], "no component has")):
        with pytest.raises(DescriptionError, match=why) as refused:
            parse(asking(**scaled, ports=ports))
        assert [d.pointer for d in refused.value.diagnostics] == ["/components/0/scaling/spark"]


def test_a_preferred_count_of_all_is_none() -> None:
    assert parse(asking(preferred_count=1)) == parse(asking())
