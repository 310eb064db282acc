"""Where a rule's filters would run, as a dry run tells it, and what cannot run at object servers."""

from __future__ import annotations

import pytest

from storage_controller.answers import RequestRefusedError
from storage_controller.rules.checks import check
from storage_controller.rules.dsl import parse_rule
from storage_controller.rules.verdicts import verdicts_on
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.placing import AT_OBJECT_SERVERS
from storage_filters.wsgi.object_requests import ObjectRequest

A = ObjectRequest("acme", "c", "a", 1000)


def sentences(text: str, *hosted: str) -> list[str]:
    found = verdicts_on(RuleBook((parse_rule(text),)), A, lambda _: (), hosted)
    return [verdict.sentence.partition("; it runs ")[2] for verdict in found.verdicts]


def test_a_dry_run_says_where_a_filter_on_object_would_run() -> None:
    rule = "FOR TENANT acme DO SET COMPRESSION, SET NOOP ON OBJECT, SET ENCRYPTION ON OBJECT"
    there = "at the object servers, or at the proxy where they have fragments by an erasure code"
    assert sentences(rule, AT_OBJECT_SERVERS) == ["", there, there]
    here = "at the proxy, though ON OBJECT: not every proxy has object servers that run filters"
    assert sentences(rule) == ["", here, here]


def test_filter_before_one_at_the_proxy_runs_there_too() -> None:
    rule = "FOR TENANT acme DO SET NOOP ON OBJECT, SET FLIPPING ON OBJECT, SET ENCRYPTION ON OBJECT"
    order, module, there = sentences(rule, AT_OBJECT_SERVERS)
    assert order == "at the proxy, though ON OBJECT: a filter after it runs at the proxy"
    assert module == "at the proxy, though ON OBJECT: object servers do not run modules"
    assert there.startswith("at the object servers")


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        ("CACHING", "CACHING cannot run ON OBJECT: it saves the way to the object servers, so it is at the proxy"),
        ("BANDWIDTH WITH MIN_BW=1MBps", "BANDWIDTH cannot run ON OBJECT: a promise holds for all requests of a tenant"),
    ],
)
def test_action_impossible_at_object_servers_is_refused(action: str, sentence: str) -> None:
    with pytest.raises(RequestRefusedError, match=sentence):
        check(parse_rule(f"FOR TENANT acme DO SET {action} ON OBJECT"), (), ())
