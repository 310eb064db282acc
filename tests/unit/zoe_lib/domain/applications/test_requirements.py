"""Requirements: one normal form, and no line that does more than name packages."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pip._internal.req.constructors import install_req_from_line

from zoe_client.documents.diagnostics import DescriptionError
from zoe_lib.descriptions import parse, to_document
from zoe_lib.domain.applications.requirements import package_of, requirement
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_master.backends.environments.build import for_pip


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
def test_line_with_more_than_a_package_name_is_refused(line: str, reason: str) -> None:
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
    found = [(diagnostic.pointer.rsplit("/", 1)[1], str(diagnostic.code)) for diagnostic in refused.value.diagnostics]
    assert found == [("1", "bad_format"), ("2", "duplicate"), ("3", "wrong_type"), ("4", "bad_format")]


def test_building_nothing_is_a_contradiction() -> None:
    with pytest.raises(DescriptionError, match="nothing to build"):
        parse(asking(build_requirements=True))


def test_a_back_end_without_packages_refuses_them() -> None:
    able = BackendCapabilities(why_no_packages="Docker Swarm runs images as they are")
    (finding,) = [
        f for f in findings(parse(asking("a")), Target(Platform(capabilities=able))) if f.code == "no_packages"
    ]
    assert finding.message == "component c has requirements, but Docker Swarm runs images as they are"


@pytest.mark.parametrize("line", ["evil==1.0.zip", "evil===1.0.tar.gz", "evil==1.0.whl", "evil ==1.0/../a.zip"])
def test_a_version_is_no_name_of_a_file(line: str) -> None:
    with pytest.raises(ValueError, match=r"not a requirement|paths|==="):
        requirement(line)


_NAMES = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?", fullmatch=True)
_VERSIONS = st.from_regex(r"[0-9]{1,2}(\.[0-9a-z*]{1,4}){0,3}([+!-][a-z0-9.]{1,5})?", fullmatch=True)
_CLAUSES = st.tuples(st.sampled_from(["==", "~=", "!=", "<=", ">=", "<", ">"]), _VERSIONS).map(" ".join)
_LINES = st.tuples(
    _NAMES,
    st.lists(_NAMES, max_size=2),
    st.lists(_CLAUSES, max_size=3),
    st.sampled_from(["", ".zip", ".tar.gz", ".whl"]),
).map(lambda item: f"{item[0]}[{','.join(item[1])}]{','.join(item[2])}{item[3]}")


@given(_LINES)
def test_pip_understands_what_was_accepted(line: str) -> None:
    """By pip's own parser, in a directory that has a file of any such name: the names and versions, and no file."""
    try:
        accepted = requirement(line)
    except ValueError:
        return
    with mock.patch("os.path.isfile", return_value=True), mock.patch("os.path.isdir", return_value=True):
        read = install_req_from_line(for_pip(accepted))
    assert read.link is None
    assert read.req is not None
    assert (canonicalize_name(read.req.name), read.req.extras) == (package_of(accepted), Requirement(accepted).extras)
    assert str(read.req.specifier) == str(Requirement(accepted).specifier)
