"""Requirements: one normal form, and no line that does more than name packages."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_client.documents.diagnostics import DescriptionError
from zoe_lib.descriptions import parse, to_document
from zoe_lib.domain.feasibility import findings
from zoe_lib.domain.platform import BackendCapabilities, Platform
from zoe_lib.domain.requirements import requirement


def asking(*lines: object, **changes: Any) -> dict[str, Any]:
    component = {"name": "c", "image": "i", "resources": {"memory": "1MiB"}, "ends_application": True, **changes}
    return {"version": 4, "name": "a", "components": [{**component, "requirements": list(lines)}]}


@pytest.mark.parametrize(
    ("line", "normal"),
    [
        ("pandas", "pandas"),
        ("  Zope.Interface_x  ", "zope-interface-x"),
        ("pandas[Excel , aws]  >= 2 , < 3", "pandas[aws,excel]<3,>=2"),
        ("a==1.*", "a==1.*"),
        ("torch==2.1.0+cpu", "torch==2.1.0+cpu"),
        ("a ~= 1.4", "a~=1.4"),
        ("a[]", "a"),
    ],
)
def test_equal_requirements_are_equal_texts(line: str, normal: str) -> None:
    assert requirement(line) == normal
    assert requirement(normal) == normal


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("--index-url https://a.example", "options of pip"),
        ("-r other.txt", "options of pip"),
        ("-e .", "options of pip"),
        ("./a.whl", "paths"),
        ("/tmp/a.whl", "paths"),
        ("a/b", "paths"),
        ("~/a", "paths"),
        ("a @ https://a.example/a.whl", "addresses"),
        ("git+https://a.example/a", "addresses"),
        ("a; python_version < '3'", "markers"),
        ("a\n--index-url=b", "control characters"),
        ("a\x00", "control characters"),
        ("a --hash=sha256:00", "not a requirement"),
        ("a==", "not a requirement"),
        ("a b", "not a requirement"),
        ("# a", "not a requirement"),
        ("${HOME}", "not a requirement"),
        ("ä", "not a requirement"),
        ("", "not a requirement"),
        ("a" * 300 + "!", "not a requirement"),
    ],
)
def test_what_does_more_than_name_packages_is_refused(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        requirement(line)


def test_the_order_of_lines_has_no_meaning() -> None:
    one, other = parse(asking("b", "A>=1")), parse(asking("a >= 1", "B"))
    assert one.components == other.components
    assert one.components[0].requirements == ("a>=1", "b")
    assert parse(to_document(one)) == one


def test_all_wrong_lines_are_reported_at_once() -> None:
    with pytest.raises(DescriptionError) as refused:
        parse(asking("ok", "-r x", "OK==1", 3, "a;b"))
    found = [(one.pointer.rsplit("/", 1)[1], str(one.code)) for one in refused.value.diagnostics]
    assert found == [("1", "bad_format"), ("2", "duplicate"), ("3", "wrong_type"), ("4", "bad_format")]


def test_building_nothing_is_a_contradiction() -> None:
    with pytest.raises(DescriptionError, match="nothing to build"):
        parse(asking(build_requirements=True))


def test_a_back_end_without_packages_refuses_them() -> None:
    able = BackendCapabilities(why_no_packages="Docker Swarm runs images as they are")
    (finding,) = [f for f in findings(parse(asking("a")), Platform(capabilities=able)) if f.code == "no_packages"]
    assert finding.message == "component c has requirements, but Docker Swarm runs images as they are"
