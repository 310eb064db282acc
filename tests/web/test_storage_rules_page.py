"""Pages of the object store's rules, as an admin works with them."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from storage_controller.database.controller_ledger import ControllerLedger, Switch
from storage_controller.database.supervision import Failure, Mode
from storage_controller.metrics.values import Reading
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_controller.swift.rewrite_ledger import Counts, RewriteLedger
from tests.support.postgres import PostgresServer
from tests.support.prometheus import prometheus
from tests.support.stack import running_stack
from tests.support.storage_controller import TOKEN, Served, served_controller
from tests.support.web import Visitor
from tests.web.test_everyone import PICTURES, wrong
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.domain.applications.roles import Role
from zoe_lib.tokens.api_tokens import FIRST_TENANT

PASSWORD = "a password for tests"


@pytest.fixture(scope="module")
def controller(postgres_server: PostgresServer) -> Iterator[Served]:
    url = postgres_server.create_database()
    keys = ExecutionKeys(b"s" * 32, "AUTH_")
    with prometheus() as source, served_controller(url, keys, prometheus_url=source.url) as served:
        yield served
    postgres_server.drop_database(url)


@pytest.fixture(scope="module")
def stack(controller: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that asks this controller."""
    token_file = tmp_path_factory.mktemp("controller") / "token"
    token_file.write_text(TOKEN)
    with running_stack(forked=True, storage_url=controller.url, storage_token_file=str(token_file)) as running:
        yield running


def removed(page: Page) -> None:
    """Confirm the removal that the page asks about."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Remove").click()
    expect(dialog).to_have_count(0)


def test_an_admin_writes_tries_removes_and_restores_rules(admin: Visitor) -> None:
    page = admin.open("/cluster/rules")
    expect(page.get_by_text("There is no rule")).to_be_visible()
    add = page.get_by_label("Add a rule")
    add.get_by_text("By form").click()
    add.get_by_label("Name (tenant").fill("acme")
    add.get_by_label("encrypted").check()
    add.get_by_label("compressed by LZ4").check()
    add.get_by_label("compressed by zstd").check()  # instead of LZ4
    rule = add.get_by_role("textbox", name="Rule", exact=True)
    expect(rule).to_have_value("FOR TENANT acme DO SET COMPRESSION WITH TYPE=ZSTD, SET ENCRYPTION")
    add.get_by_label("Try it for").fill("acme/docs/a.txt")
    add.get_by_role("button", name="Try").click()
    expect(add.get_by_text("Now: no filter. Then: COMPRESSION, then ENCRYPTION.")).to_be_visible()
    expect(page.get_by_text("There is no rule")).to_be_visible()  # a trial changes nothing
    assert admin.violations() == []
    add.get_by_role("button", name="Add").click()
    row = page.get_by_role("row").filter(has_text="SET COMPRESSION")
    expect(row).to_contain_text("admin")
    expect(row).to_contain_text("yes")
    if PICTURES is not None:
        page.screenshot(path=PICTURES / "web-rules.png")
    rule.fill("FOR TENANT acme DO SET COMPRESSION WITH TYPE")
    add.get_by_role("button", name="Add").click()
    expect(page.get_by_text("character 45: the end where the rule needs =")).to_be_visible()
    row.get_by_role("button", name="Remove").click()
    removed(page)
    expect(page.get_by_text("There is no rule")).to_be_visible()
    page.get_by_text("Removed rules", exact=True).click()
    page.get_by_role("button", name="Restore").first.click()  # the newest; others may have been removed before
    again = page.get_by_role("button", name="Remove rule")
    expect(again).to_be_visible()
    assert admin.violations() == []
    again.click()
    removed(page)
    expect(page.get_by_text("There is no rule")).to_be_visible()


def test_an_admin_adds_metrics_by_expression_and_by_program_and_removes_them(
    admin: Visitor, controller: Served, tmp_path: Path
) -> None:
    page = admin.open("/cluster/rules/metrics")
    expect(page.get_by_text("No metric was added")).to_be_visible()
    add = page.get_by_label("Add a metric")
    submit = add.get_by_role("button", name="Add")
    expect(submit).to_be_disabled()
    add.get_by_label("Name in rules").fill("load")
    expression = add.get_by_role("textbox", name="Expression", exact=True)
    expression.fill("sum(up")
    submit.click()
    expect(add.get_by_role("alert")).to_contain_text("Prometheus refuses the expression")
    expression.fill("sum(up)")
    submit.click()
    row = page.get_by_role("row").filter(has_text="LOAD")
    expect(row).to_contain_text("not known")
    places = {("acme", ""): 2.5} | {("acme", f"c{number}"): float(number) for number in range(6)}
    controller.readings["LOAD"] = Reading(time.monotonic() - 3, 0.01, places, True)
    with controller.supervisor.run("metric-LOAD"):
        raise Failure("3 seconds are over without an answer")
    expect(row).to_contain_text("acme 2.5")
    expect(row).to_contain_text("2 more")
    expect(row).to_contain_text("failed 3 seconds are over without an answer")
    (tmp_path / "binary.py").write_bytes(b"\xff")
    (tmp_path / "busy.py").write_text("class Metric:\n    def evaluate(self, counters):\n        return 7\n")
    add.get_by_label("Name in rules").fill("busy")
    add.get_by_label("Measured by").select_option("program")
    program = add.get_by_role("textbox", name="Program with a class Metric")
    add.get_by_label("File with the program").set_input_files(tmp_path / "binary.py")
    expect(add.get_by_role("alert")).to_contain_text("binary.py is not text in UTF-8")
    add.get_by_label("File with the program").set_input_files(tmp_path / "busy.py")
    expect(program).to_have_value(re.compile("return 7"))
    submit.click()
    expect(page.get_by_role("row").filter(has_text="BUSY")).to_contain_text("program")
    assert wrong(admin, "metrics", PICTURES) == []
    with controller.http() as http:
        [rule] = http.post("/v1/rules", json={"text": "FOR TENANT acme WHEN busy > 5 DO SET NOOP"}).json()
        remove = page.get_by_role("button", name="Remove BUSY")
        remove.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Remove BUSY").click()
        expect(dialog.get_by_role("alert")).to_contain_text(f"rule {rule['id']} uses BUSY: remove it first")
        dialog.get_by_role("button", name="Leave it as it is").click()
        page.get_by_role("link", name="Rules of objects").click()
        standing = page.get_by_role("row").filter(has_text="WHEN busy")
        expect(standing).to_contain_text("off now: it waits for BUSY (not measured yet)")
        assert http.delete(f"/v1/rules/{rule['id']}").status_code == 204
    page.get_by_role("link", name="Metrics").click()
    for name in ("BUSY", "LOAD"):
        page.get_by_role("button", name=f"Remove {name}").click()
        removed(page)
        expect(page.get_by_role("heading", name="Added metrics")).to_be_focused()
    expect(page.get_by_text("No metric was added")).to_be_visible()


def test_an_admin_sees_what_is_active_where_and_sets_controllers(admin: Visitor, controller: Served) -> None:
    ledger = ControllerLedger(controller.ledger)
    text = "FOR CONTAINER acme/hot WHEN GETS_SEC > 5 DO SET NOOP"
    with controller.http() as http:
        [rule] = http.post("/v1/rules", json={"text": text}).json()
    name = f"rule-{rule['id']}"
    ledger.keep_switches([Switch(name, time.time(), True, False, {"GETS_SEC": 6.0})])
    controller.active[name] = True
    controller.silent_s |= {"p1": 0.2, "p2": math.inf}
    controller.hosted_by["p1"] = frozenset({"NOOP", "ENCRYPTION"})
    page = admin.open("/cluster/rules/controllers")
    proxies = page.get_by_label("Proxies")
    expect(proxies.get_by_role("row").filter(has_text="p1")).to_contain_text("ENCRYPTION, NOOP")
    expect(proxies.get_by_role("row").filter(has_text="p2")).to_contain_text("never silent")
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("holds: it is on")
    row.get_by_text("Last switches").click()
    expect(row).to_contain_text("on (GETS_SEC 6)")
    row.get_by_role("button", name="Dry run").focus()
    page.keyboard.press("Enter")  # and nothing is asked
    expect(row.get_by_role("button", name="Dry run")).to_have_attribute("aria-pressed", "true")
    expect(row).to_contain_text("it would be on")
    bandwidth = page.get_by_role("row").filter(has_text="a minimum for each, then the guarantees")
    off, dialog = bandwidth.get_by_role("button", name="Off"), page.get_by_role("dialog")
    off.click()
    expect(dialog).to_contain_text("All limits are lifted")
    dialog.get_by_role("button", name="Leave it as it is").click()
    expect(dialog).to_have_count(0)
    assert ledger.mode("bandwidth") is Mode.ON
    off.click()
    dialog.get_by_role("button", name="Off").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "the controller bandwidth is off: limits and SLOs are not enforced"
    )
    assert ledger.mode("bandwidth") is Mode.OFF
    assert wrong(admin, "controllers", PICTURES) == []
    admin.open("/cluster/storage")
    expect(page.get_by_role("alert")).to_contain_text("limits and SLOs are not enforced")
    admin.open("/cluster/rules/controllers")
    bandwidth.get_by_role("button", name="On").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert ledger.mode("bandwidth") is Mode.ON
    page.get_by_role("link", name="Rules of objects").click()
    standing = page.get_by_role("row").filter(has_text="GETS_SEC")
    expect(standing).to_contain_text("dry run, so no proxy has it; it would be on now")
    controller.active[name] = False
    ledger.set_mode(name, Mode.ON)
    expect(standing).to_contain_text("it waits for its metric, which is not known")
    controller.rule_metrics[rule["id"]] = {"GETS_SEC": 2.0}
    expect(standing).to_contain_text("off now: its condition does not hold")
    page.get_by_role("button", name=f"Remove rule {rule['id']}").click()
    removed(page)
    expect(page.get_by_text("There is no rule")).to_be_visible()


def test_an_admin_applies_rules_to_stored_objects(admin: Visitor, controller: Served) -> None:
    page = admin.open("/cluster/rules")
    add = page.get_by_label("Add a rule")
    attempt = add.get_by_role("button", name="Try")
    expect(attempt).to_be_disabled()
    expect(attempt).to_have_accessible_description("To try it, name an object as tenant/container/object.")
    add.get_by_label("Try it for").fill("acme/docs/my file.txt")
    expect(attempt).to_be_enabled()
    expect(add.get_by_text("To try it")).to_have_count(0)
    stored = page.get_by_label("Stored objects")
    begin = stored.get_by_role("button", name="Count")
    expect(begin).to_be_disabled()
    stored.get_by_label("Objects of").fill("acme")
    stored.get_by_label("MB per second").fill("0.5")
    stored.get_by_label("Only count").uncheck()
    stored.get_by_role("button", name="Apply").dblclick()  # and there is one job, without a refusal of a second
    expect(stored.get_by_role("alert")).to_have_count(0)
    row = stored.get_by_role("row").filter(has_text="acme: by the rules, at 500 kB/s")
    expect(row).to_contain_text("running")
    jobs = RewriteLedger(controller.ledger)
    running = jobs.running()
    assert running is not None
    jobs.expect(running.id, 8)
    jobs.note(running.id, "docs", "c", Counts(looked=3, changed=2, failed=1, changed_bytes=2048), "", "docs/b: no key")
    expect(row).to_contain_text("3 of 8")
    expect(row).to_contain_text("docs/b: no key")
    expect(stored.get_by_role("button", name="Apply")).to_be_disabled()
    expect(stored.get_by_text(f"Job {running.id} is running, and only one runs at a time")).to_be_visible()
    row.get_by_role("button", name=f"Cancel job {running.id}").click()
    expect(row).to_contain_text("cancelled")
    row.get_by_role("button", name=f"Resume job {running.id}").click()
    expect(row).to_contain_text("running")
    jobs.note(running.id, "docs", "c", Counts(), "cannot reach Swift")
    expect(row).to_contain_text("waits: cannot reach Swift")
    assert jobs.give_up(running.id, 0)
    expect(row).to_contain_text("gave up")
    assert admin.violations() == []


@pytest.fixture
def rules(controller: Served) -> Iterator[RulesInForce]:
    """The controller's rules; when the test is over there are none."""
    with controller.http() as http:
        yield RulesInForce(http)
        for rule in http.get("/v1/rules").json():
            http.delete(f"/v1/rules/{rule['id']}")


@dataclass(frozen=True)
class RulesInForce:
    """The rules of a controller, as it tells them."""

    http: httpx.Client

    def add(self, *texts: str) -> list[int]:
        return [rule["id"] for rule in self.http.post("/v1/rules", json={"text": "\n".join(texts)}).json()]

    def remove(self, number: int) -> None:
        assert self.http.delete(f"/v1/rules/{number}").status_code == 204

    def texts(self) -> list[str]:
        return [rule["rule"] for rule in self.http.get("/v1/rules").json()]


@pytest.fixture
def many(rules: RulesInForce) -> list[int]:
    """Numbers of more rules than are drawn at once, each with a controller."""
    return rules.add(*(f"FOR CONTAINER acme/c{number:03} WHEN GETS_SEC > 5 DO SET NOOP" for number in range(120)))


def test_a_double_click_does_one_thing(admin: Visitor, rules: RulesInForce) -> None:
    page = admin.open("/cluster/rules")
    text, following = "FOR TENANT:acme DO SET NOOP", "FOR TENANT:blue DO SET NOOP"
    page.get_by_role("textbox", name="Rule", exact=True).fill(text)
    page.get_by_label("Add a rule").get_by_role("button", name="Add").dblclick()
    row = page.get_by_role("row").filter(has_text=text)
    expect(row).to_have_count(1)
    expect(page.get_by_text(re.compile(r"Added: rule \d+\."))).to_be_visible()
    assert rules.texts() == [text]
    rules.add(following)
    expect(page.get_by_role("row").filter(has_text=following)).to_be_visible()
    row.get_by_role("button", name="Remove").dblclick()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(text)
    assert admin.violations() == []
    assert rules.texts() == [text, following]
    dialog.get_by_role("button", name="Remove").dblclick()
    expect(dialog).to_have_count(0)
    assert rules.texts() == [following]
    page.get_by_text("Removed rules", exact=True).click()
    gone = page.get_by_label("Removed rules").get_by_role("row").filter(has_text=text).first
    gone.get_by_role("button", name="Restore").dblclick()
    expect(gone).to_contain_text("in force")
    assert rules.texts() == [following, text]


def test_a_removal_that_is_refused_says_so(admin: Visitor, rules: RulesInForce) -> None:
    [rule] = rules.add("FOR TENANT acme DO SET NOOP")
    page = admin.open("/cluster/rules")
    page.get_by_role("button", name=f"Remove rule {rule}", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    rules.remove(rule)
    dialog.get_by_role("button", name="Remove").click()
    expect(dialog.get_by_role("alert")).to_contain_text(f"rule {rule} does not exist")
    dialog.get_by_role("button", name="Leave it as it is").click()
    expect(page.get_by_text("There is no rule")).to_be_visible()


def test_long_lists_are_filtered_and_shown_by_parts(admin: Visitor, many: list[int]) -> None:
    page = admin.open("/cluster/rules")
    table = page.get_by_label("Rules in force")
    expect(table.get_by_role("row")).to_have_count(51)
    add = page.get_by_role("textbox", name="Rule", exact=True)
    assert add.bounding_box()["y"] < table.bounding_box()["y"]  # type: ignore[index] # both are drawn
    table.get_by_role("button", name="Show 50 more of 70").click()
    table.get_by_role("button", name="Show 20 more of 20").press("Enter")
    expect(table.get_by_role("row")).to_have_count(121)
    expect(table.get_by_text("All 120 are shown.").locator("..")).to_be_focused()
    table.get_by_label("Filter rules").get_by_role("searchbox").fill("c11 ACME")
    expect(table.get_by_role("status")).to_have_text("10 of 120")
    page.get_by_role("link", name="Controllers").click()
    controllers = page.get_by_label("Controllers", exact=True)
    expect(controllers.get_by_role("row")).to_have_count(51)
    controllers.get_by_role("searchbox").fill("c119")
    expect(controllers.get_by_role("row")).to_have_count(2)
    assert admin.violations() == []


def test_the_keyboard_goes_on_where_a_rule_was_removed(admin: Visitor, many: list[int]) -> None:
    page = admin.open("/cluster/rules")
    gone, following = (page.get_by_role("button", name=f"Remove rule {number}", exact=True) for number in many[7:9])
    dialog = page.get_by_role("dialog")
    gone.press("Enter")
    dialog.get_by_role("button", name="Leave it as it is").press("Enter")
    expect(gone).to_be_focused()
    gone.press("Enter")
    dialog.get_by_role("button", name=f"Remove rule {many[7]}").press("Enter")
    expect(gone).to_have_count(0)
    expect(following).to_be_focused()


def test_typed_text_survives_a_visit_to_another_page(admin: Visitor) -> None:
    page = admin.open("/cluster/rules")
    rule = page.get_by_role("textbox", name="Rule", exact=True)
    rule.fill("FOR TENANT acme DO SET NOOP")
    page.get_by_label("Try it for").fill("acme/docs/a.txt")
    page.get_by_role("link", name="Metrics").click()
    page.get_by_label("Name in rules").fill("load")
    page.get_by_role("link", name="Storage", exact=True).click()
    page.get_by_role("link", name="Rules", exact=True).click()
    expect(rule).to_have_value("FOR TENANT acme DO SET NOOP")
    expect(page.get_by_label("Try it for")).to_have_value("acme/docs/a.txt")
    page.get_by_role("link", name="Metrics").click()
    expect(page.get_by_label("Name in rules")).to_have_value("load")


def test_rules_are_for_admins(browser: Browser, stack: Stack, client: Client) -> None:
    client.admin.add_user("olga", PASSWORD)
    client.admin.set_role("olga", FIRST_TENANT, Role.OPERATOR)
    visitor = Visitor.of(browser, stack.url)
    page = visitor.sign_in("olga", PASSWORD)
    visitor.open("/cluster/rules")
    expect(page.get_by_text("Rules of the object store are read and written by admins.")).to_be_visible()
    visitor.open("/usage")
    page.get_by_role("link", name="Cluster, Storage").click()
    expect(page.get_by_label("Bandwidth over time", exact=True)).to_be_visible()
    visitor.close()


def test_usage_says_that_a_tenant_did_not_use_the_store(browser: Browser, stack: Stack, client: Client) -> None:
    client.admin.add_user("ulla", PASSWORD)
    client.admin.set_role("ulla", FIRST_TENANT, Role.USER)
    visitor = Visitor.of(browser, stack.url)
    page = visitor.sign_in("ulla", PASSWORD)
    visitor.open("/usage")
    told = page.get_by_label("Bandwidth over time", exact=True)
    expect(told).to_contain_text(f"{FIRST_TENANT} did not use the object store in this period.")
    assert visitor.violations() == []
    visitor.close()
