"""The pages made from the code are those of this code, and leave nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.reference import pages
from scripts.reference.cli import commands
from scripts.reference.lifecycle import EXECUTION_LEADS_TO, SERVICE_LEADS_TO
from tests.docs.documents import DOCS
from tests.support.applications import execution
from tests.support.histories import history, legal_events
from zoe_cli.exits import Exit
from zoe_cli.main import app
from zoe_client.wire import PolicyView
from zoe_lib.domain.executions.events import EVENT_TYPES, ServiceEvent
from zoe_lib.domain.executions.execution import Cause, ExecutionState, Mark, ServiceState
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_lib.settings.backend import ImageSettings, NodeSettings
from zoe_lib.settings.config import Settings

REFERENCE = DOCS / "reference"


@pytest.mark.parametrize("path", list(pages()), ids=lambda path: path.name)
def test_pages_are_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == pages()[path], "run `make docs`"


def documented(page: str) -> set[str]:
    """Return the first column of the tables, in code."""
    return set(re.findall(r"^\| `([^`]+)`", (REFERENCE / page).read_text("utf-8"), re.MULTILINE))


def test_everything_is_documented() -> None:
    settings = {name for model in (Settings, NodeSettings, ImageSettings) for name in model.model_fields}
    assert settings <= documented("settings.md")
    assert set(PolicyView.model_fields) | set(ReasonCode) <= documented("policy.md")
    assert {*Cause, *Mark, *ExecutionState, *ServiceState, *EVENT_TYPES} <= documented("lifecycle.md")


def test_every_setting_says_what_it_is_for() -> None:
    for model in (Settings, NodeSettings, ImageSettings):
        assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_every_command_and_exit_code_is_documented() -> None:
    import typer

    text = (REFERENCE / "cli.md").read_text("utf-8")
    for words, _ in commands(typer.main.get_command(app)):
        assert f"\n## {words}\n" in text
    for code in Exit:
        assert f"| {int(code)} | " in text


@pytest.mark.parametrize("seed", range(40))
def test_events_lead_where_the_page_says(seed: int) -> None:
    """Random legal histories never end up elsewhere."""
    before = execution()
    for event in history(before, 30, lambda count: (seed * 7919 + count) % count):
        for each in legal_events(before, at_s=1e6):
            after = apply(before, each)
            leads_to = EXECUTION_LEADS_TO.get(type(each), before.state.value)
            expected = before.outcome or getattr(each, "outcome", "") if leads_to == "the outcome's" else leads_to
            assert after.state.value == expected
            if isinstance(each, ServiceEvent) and type(each) in SERVICE_LEADS_TO:
                assert after.service(each.service_id).state.value == SERVICE_LEADS_TO[type(each)]
        before = apply(before, event)
