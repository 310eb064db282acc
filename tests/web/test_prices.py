"""What executions cost, before and after they ran, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.support.documents import job, part
from tests.support.web import Visitor
from zoe_client import Client
from zoe_client.vocabulary import ExecutionState
from zoe_client.wire import BudgetChange

PRICES = {
    "currency": "EUR",
    "from": "2026-01-01",
    "digits": 4,
    "rates": [{"meter": "core_hours", "rate": "1000000"}],
}


@pytest.fixture
def priced(client: Client) -> Iterator[Client]:
    client.admin.set_price_list(PRICES, past=True)
    client.admin.set_budget(BudgetChange(tenant="default", amount="0.01"))
    yield client
    client.admin.clear_budget("default")


def test_the_price_is_shown_before_and_after(admin: Visitor, priced: Client) -> None:
    done = priced.submit(job("sleep", "1", name="mean"))
    assert priced.wait(done.id, 60).state is ExecutionState.SUCCEEDED
    page = admin.open("/statement")
    row = page.get_by_role("row").filter(has_text="core_hours")
    expect(row).to_contain_text("mean")
    expect(row).to_contain_text("1000000")
    expect(page.get_by_text(re.compile("not priced: memory_gib_hours of default"))).to_be_visible()
    expect(page.get_by_label("Budgets", exact=True)).to_contain_text("of 0.01 EUR spent")
    expect(page.get_by_text(re.compile(r"Total \(until .*\): [\d.]+ EUR"))).to_be_visible()
    page = admin.open(f"/executions/{done.id}")
    expect(page.get_by_text(re.compile(r"Price: [\d.]+ EUR"))).to_be_visible()
    assert admin.violations() == []


def test_the_form_says_about_how_much(admin: Visitor, priced: Client) -> None:
    document = {"version": 4, "name": "half", "time_limit_s": 3600, "components": [part(ends_application=True)]}
    planned = priced.plan(document)
    assert planned.price is not None
    source = priced.submit(document, hold=True)
    page = admin.open(f"/new?from={source.id}")
    # 0.1 cores for an hour.
    expect(page.get_by_text("about 100000.0000 EUR, with all services")).to_be_visible()
    assert json.dumps(planned.price.gaps).count("not priced") == 1
    priced.cancel(source.id)
