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
