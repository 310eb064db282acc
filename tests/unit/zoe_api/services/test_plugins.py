"""Plugins for policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.plain_api import Master
from zoe_api.services import plugins
from zoe_lib.domain.cluster.policy import DEFAULT_FILTERS, Policy
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.plugins import Plugin, PluginKind

ENTRY: Any = object()
OWN = Plugin(PluginKind.FILTER, "readiness", "zoe", "1")
MINE = Plugin(PluginKind.FILTER, "mine", "other", "2", entry=ENTRY)
BROKEN = Plugin(PluginKind.FILTER, "broken", "other", "2", "it is broken here", ENTRY)
ABSENT = Plugin(PluginKind.WEIGHER, "absent", "other", "2", entry=ENTRY)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "installed_plugins", lambda: (OWN, MINE, BROKEN, ABSENT))


def answer(problem: str = "") -> Master:
    found = {"kind": "filter", "name": "mine", "problem": problem}
    return Master(
        plugins={"found": [found, {**found, "name": "broken"}, {**found, "name": "readiness", "problem": "x"}]}
    )


def test_the_master_has_problems_that_the_api_cannot_see() -> None:
    told = {plugin.name: plugin.problem for plugin in plugins.plugins_of(answer("it is broken there"))}
    assert told["mine"] == "it is broken there"
    assert (told["readiness"], told["broken"]) == ("", "it is broken here")
    assert told["absent"].startswith("it is not installed for the master")


@pytest.mark.parametrize("error", [MasterUnreachable("away"), MasterRefused("busy", "busy")])
def test_while_the_master_is_away_the_apis_own_view_counts(error: Exception) -> None:
    assert plugins.plugins_of(Master(plugins=error)) == [OWN, MINE, BROKEN, ABSENT]


def test_a_policy_names_what_can_be_used() -> None:
    assert plugins.policy_problems(Policy(), Master()) == []
    named = Policy(filters=(*DEFAULT_FILTERS, "mine"))
    with_own = answer()
    assert any("readiness" not in text for text in plugins.policy_problems(named, answer("broken")))
    assert len(plugins.policy_problems(named, with_own)) < len(plugins.policy_problems(named, answer("broken")))
