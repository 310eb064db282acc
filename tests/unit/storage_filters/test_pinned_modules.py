"""Which version of a module a rule runs, and how proxies hear of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from storage_filters.rules.documents import RuleBook, book_document, read_book
from storage_filters.rules.rules import Action, ModuleVersion, Rule, Target, TargetKind

OLD, NEW, SHARED = (ModuleVersion("mask", letter * 64, letter == "a") for letter in "abc")
RULE = Rule(Target(TargetKind.TENANT, "acme"), None, (Action("SET", "mask"),), False, False, 1)
NEWEST = {"acme": {"MASK": NEW}}


def action(*versions: tuple[str, ModuleVersion]) -> Action:
    return Action("SET", "Mask", versions=versions)


@pytest.mark.parametrize(
    ("pinned", "versions", "tenant", "runs"),
    [
        (True, (("acme", OLD),), "acme", OLD),
        (True, (("acme", OLD),), "beta", None),
        (True, (("acme", OLD), ("", SHARED)), "acme", SHARED),
        (True, (), "acme", None),
        (False, (), "acme", NEW),  # the book of a controller of before
        (False, (("acme", OLD),), "acme", OLD),
    ],
)
def test_a_rule_runs_its_own_version(
    pinned: bool, versions: tuple[tuple[str, ModuleVersion], ...], tenant: str, runs: ModuleVersion | None
) -> None:
    assert RuleBook((RULE,), modules=NEWEST, pinned=pinned).module(tenant, action(*versions)) == runs


def test_a_book_goes_to_proxies_and_back() -> None:
    rule = replace(RULE, actions=(replace(RULE.actions[0], versions=(("", SHARED), ("acme", OLD))),))
    book = RuleBook((rule,), modules=NEWEST, pinned=True)
    again = read_book(json.loads(json.dumps(book_document(book))))
    assert again == book
    assert again.versions() == {SHARED, OLD}


def test_a_book_of_before_names_its_modules_for_all_rules() -> None:
    document = book_document(RuleBook((RULE,), modules=NEWEST))
    del document["pinned"]
    assert read_book(document).versions() == {NEW}
