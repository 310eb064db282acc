"""Refusals as lines on standard error."""

from __future__ import annotations

import pytest

from zoe_cli.output import report
from zoe_client.errors import Refused
from zoe_client.wire import Diagnostic, Problem


def test_one_error_is_said_once_and_several_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    one = Diagnostic(pointer="/indices", code="x", message="5-1: the end is lower than the beginning")
    two = Diagnostic(pointer="/name", code="x", message="is missing")
    title = "The request is not valid"
    for detail, errors in ((one.message, [one]), ("2 errors", [one, two])):
        report(Refused(Problem(title=title, status=422, code="x", detail=detail, errors=errors)))
    assert capsys.readouterr().err.splitlines() == [
        f"zoe: {title}: {one.message}",
        f"zoe: {title}: 2 errors",
        f"  /indices: {one.message}",
        "  /name: is missing",
    ]


def test_the_hint_of_an_error_that_is_the_whole_detail_is_said_alone(capsys: pytest.CaptureFixture[str]) -> None:
    missing = Diagnostic(pointer="/x", code="no_secret", message="there is no secret pw", hint="zoe secret set pw")
    title = "The application cannot run on this installation"
    report(Refused(Problem(title=title, status=422, code="x", detail=missing.message, errors=[missing])))
    assert capsys.readouterr().err.splitlines() == [f"zoe: {title}: {missing.message}", f"hint: {missing.hint}"]


def test_the_whole_detail_is_said_with_its_option_and_a_hint_once(capsys: pytest.CaptureFixture[str]) -> None:
    one = Diagnostic(pointer="--array", code="x", message="too many", hint="submit several")
    report(Refused(Problem(title="No", status=422, code="x", detail="too many", hint="submit several", errors=[one])))
    assert capsys.readouterr().err.splitlines() == ["zoe: No: --array: too many", "hint: submit several"]
