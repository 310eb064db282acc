"""Findings on a file are reported with its lines; those on the rest of a request by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from zoe_cli.commands.batch.workflows import refuse_with_places
from zoe_client.documents.yaml_document import load_yaml
from zoe_client.errors import Refused
from zoe_client.wire import Diagnostic, Problem


def test_times_are_named_and_places_of_the_document_have_lines(capsys: pytest.CaptureFixture[str]) -> None:
    errors = [
        Diagnostic(pointer="/expression", code="invalid", message="the minute cannot be read"),
        Diagnostic(pointer="/path/name", code="pattern", message="must have letters only"),
        Diagnostic(pointer="/document/steps/0/image", code="missing", message="'image' is missing"),
    ]
    problem = Problem(
        type="urn:zoe:problem:invalid_schedule", title="t", status=422, code="invalid_schedule", detail="", hint="",
        instance="", errors=errors,
    )  # fmt: skip
    read = load_yaml("version: 1\nsteps:\n  - image: ''\n")
    with pytest.raises(typer.Exit):
        refuse_with_places(Refused(problem), Path("nightly.yaml"), read, "/document")
    told = capsys.readouterr().err.splitlines()
    assert "  expression: the minute cannot be read" in told
    assert "  NAME: must have letters only" in told
    assert any(line.startswith("  nightly.yaml:3:") and "/steps/0/image" in line for line in told)
