"""Price lists, statements and budgets, by the command and the API, over use that the journal holds."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, make_token, problem
from tests.support.applications import GIB, application, component, execution
from tests.support.documents import sized
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_client import NotFound, Refused
from zoe_client.wire import SubmitRequest
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, Mark, Outcome
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.transfers import StoreTransfers

HOUR_S = 3600.0
PRICES: dict[str, Any] = {
    "currency": "EUR",
    "from": "2026-01-01",
    "rates": [
        {"meter": "core_hours", "rate": 'tenant == "red" ? "0.10" : "7"'},
        {"meter": "memory_gib_hours", "rate": "0.01"},
    ],
    "discounts": [{"name": "volume", "when": "subtotal > 3.0", "percent": "10"}],
}
TWO_CORES = application(component("main", reservation=Resources(2000, 4 * GIB), ends_application=True), name="mean")
WITH_GPU = application(
    component("main", reservation=Resources(1000, GIB, {"gpu": 1}), ends_application=True), name="gpu"
)


def month_before(at_s: float) -> str:
    year, month = divmod(datetime.fromtimestamp(at_s, UTC).year * 12 + datetime.fromtimestamp(at_s, UTC).month - 2, 12)
    return f"{year:04}-{month + 1:02}"


# One that may be closed: on the first days of a month, the former one may still get late reports.
LAST_MONTH = month_before(time.time() - 3 * 86_400)
MIDDLE_S = datetime.fromisoformat(f"{LAST_MONTH}-15T12:00:00+00:00").timestamp()


def use(
    api: Api,
    number: int,
    user: str,
    hours: float,
    tenant: str = "red",
    what: Application = TWO_CORES,
    at_s: float = MIDDLE_S,
) -> Execution:
    """An execution, in the middle of last month or at that time, that ran for so long."""
    one = execution(number, tenant=tenant, user=user, application=what, submitted_at_s=at_s)
    one = api.store.submit(one, "request")
    (service,) = one.services
    told: list[ev.Event] = [
        ev.Queued(at_s=at_s),
        ev.StartPlanned(at_s=at_s, placements=(ev.Placement(service_id=service.id, node="n"),)),
        ev.ServiceStarting(at_s=at_s, service_id=service.id),
        ev.ServiceStarted(at_s=at_s, service_id=service.id),
        ev.Stopping(at_s=at_s + hours * HOUR_S, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED, exit_code=0),
        ev.ServiceEnded(at_s=at_s + hours * HOUR_S, service_id=service.id, cause=Cause.EXITED, exit_code=0),
        ev.Ended(at_s=at_s + hours * HOUR_S),
    ]
    return api.store.append(one.id, told, one.version, None)


def zoe(api: Api, *words: str, token: str = "", code: int = 0) -> str:
    done = CliRunner().invoke(app, ["--url", api.url, "--token", token or api.admin, *words])
    assert done.exit_code == code, done.output
    return done.output


def set_prices(api: Api, **changes: Any) -> None:
    api.client(api.admin).admin.set_price_list({**PRICES, **changes}, past=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(PRICES))
    return path


def test_users_see_their_part_and_operators_the_whole(api: Api, file: Path) -> None:
    zoe(api, "admin", "prices", "check", str(file), "--past")
    zoe(api, "admin", "prices", "set", str(file), "--past")
    assert "holds" in zoe(api, "admin", "prices", "ls")
    assert "memory_gib_hours" in zoe(api, "admin", "prices", "show")
    use(api, 1, "ada", 10.0)
    use(api, 2, "bob", 5.0)
    use(api, 3, "mallory", 1.0, tenant="blue")
    ada = make_token(api.store, tenant="red", user="ada")
    eve = make_token(api.store, tenant="blue", user="eve")
    mine = json.loads(zoe(api, "statement", "--month", LAST_MONTH, "-o", "json", token=ada))
    # 10 h of 2 cores for 0.10, and of 4 GiB for 0.01; the tenant's 3.60 give a discount of 10 %.
    assert [
        (entry["meter"], entry["quantity"], entry["amount"], entry["discount"], entry["total"])
        for entry in mine["lines"]
    ] == [
        ("core_hours", "20.000000", "2.00", "0.20", "1.80"),
        ("memory_gib_hours", "40.000000", "0.40", "0.04", "0.36"),
    ]
    assert (mine["total"], mine["currency"], mine["closed"], mine["gaps"]) == ("2.16", "EUR", False, [])
    assert {entry["user"] for entry in mine["lines"]} == {"ada"}
    assert f"{LAST_MONTH}-01 00:00" in zoe(api, "statement", "--month", LAST_MONTH, token=ada), "the period of a line"
    operator = make_token(api.store, tenant="red", user="olga", role="operator", scopes=("read", "operate"))
    table = zoe(api, "statement", "--month", LAST_MONTH, "-o", "csv", token=operator)
    rows = list(csv.DictReader(io.StringIO(table)))
    assert {row["user"] for row in rows} == {"ada", "bob"}
    assert sum(Decimal(row["total"]) for row in rows) == Decimal("3.24")
    everything = api.client(operator).statement(LAST_MONTH, "*")
    assert {line.tenant for line in everything.lines} == {"red", "blue"}
    with pytest.raises(Refused, match="operators"):
        api.client(eve).statement(LAST_MONTH, "red")
    with pytest.raises(NotFound, match="nosuch"):
        api.client(operator).statement(LAST_MONTH, "nosuch")
    assert api.client(eve).statement(LAST_MONTH).lines == []
    assert {"set_price_list"} <= {entry.action for entry in api.store.accounts.audit(None, 50)}


def test_months_with_use_are_closed_in_their_order(api: Api) -> None:
    earlier = month_before(MIDDLE_S)
    set_prices(api, **{"from": f"{earlier}-01"})
    use(api, 1, "ada", 1.0, at_s=datetime.fromisoformat(f"{earlier}-15T12:00:00+00:00").timestamp())
    use(api, 2, "ada", 1.0)
    close = api.client(api.admin).admin.close_statement
    with pytest.raises(Refused, match="before the earlier months"):
        close(LAST_MONTH)
    assert close(earlier).closed
    assert close(LAST_MONTH).closed


def test_a_month_closed_by_mistake_is_opened_again_until_its_statements_are_issued(api: Api) -> None:
    set_prices(api)
    use(api, 1, "ada", 1.0)
    admin, ada = api.client(api.admin), make_token(api.store, tenant="red", user="ada")
    before = admin.statement(LAST_MONTH, "*")
    with pytest.raises(Refused, match="is not closed"):
        admin.admin.reopen_statement(LAST_MONTH)
    admin.admin.close_statement(LAST_MONTH)
    assert admin.statement(LAST_MONTH, "*").closed, "an admin looks at it"
    with pytest.raises(Refused, match="closed months use it"):
        admin.admin.remove_price_list(1, past=True)
    zoe(api, "admin", "statement", "reopen", LAST_MONTH)
    opened = admin.statement(LAST_MONTH, "*")
    assert (opened.closed, opened.lines) == (False, before.lines)
    set_prices(api, discounts=[])
    admin.admin.close_statement(LAST_MONTH)
    assert api.client(ada).statement(LAST_MONTH).closed
    with pytest.raises(Refused, match="were issued"):
        admin.admin.reopen_statement(LAST_MONTH)


def test_a_file_of_a_closed_month_is_issued(api: Api) -> None:
    set_prices(api)
    use(api, 1, "ada", 1.0)
    zoe(api, "admin", "statement", "close", LAST_MONTH)
    zoe(api, "statement", "--month", LAST_MONTH, "--tenant", "*", "-o", "csv")
    with pytest.raises(Refused, match="were issued"):
        api.client(api.admin).admin.reopen_statement(LAST_MONTH)


def test_an_execution_has_its_price(api: Api) -> None:
    set_prices(api)
    one = use(api, 1, "ada", 10.0)
    (seen,) = api.client(api.admin).use_of([one.id]).use
    assert seen.price is not None
    assert (seen.price.amount, seen.price.currency, seen.unused) == ("2.40", "EUR", None)
    assert re.search(r"price +2\.40 EUR\n", zoe(api, "show", one.id))


def test_unpriced_use_is_reported_without_an_amount(api: Api) -> None:
    use(api, 1, "ada", 10.0)
    before = api.client(api.admin).statement(LAST_MONTH, "red")
    assert before.currency is None
    assert [line.amount for line in before.lines] == [None, None]
    assert "no price list holds" in before.gaps[0]
    middle = datetime.fromtimestamp(MIDDLE_S + 5 * HOUR_S, UTC).isoformat()
    set_prices(api, **{"from": middle})
    use(api, 2, "ada", 10.0, what=WITH_GPU)
    after = api.client(api.admin).statement(LAST_MONTH, "red")
    assert any("no price list holds" in text for text in after.gaps)
    assert any("device_hours of gpu" in text and "no rate" in text for text in after.gaps)
    priced = [(line.application, line.meter, line.amount) for line in after.lines if line.amount is not None]
    assert priced == [
        ("gpu", "core_hours", "0.50"), ("gpu", "memory_gib_hours", "0.05"),
        ("mean", "core_hours", "1.00"), ("mean", "memory_gib_hours", "0.20"),
    ]  # fmt: skip
    assert "not priced" in zoe(api, "statement", "--month", LAST_MONTH, "--tenant", "red")


def test_a_rate_by_a_name_that_users_choose_is_refused(api: Api) -> None:
    rates = [
        {"meter": "core_hours", "when": 'application == "free"', "rate": "0"},
        {"meter": "core_hours", "rate": 'application.startsWith("a") ? "1" : "2"'},
        {"meter": "core_hours", "when": 'user == "application"', "rate": "3"},
    ]
    for path in ("price-lists:check", "price-lists"):
        body = {"document": {**PRICES, "rates": rates}, "past": True}
        found = problem(api.http(api.admin).post(f"/api/v1/admin/{path}", json=body))["errors"]
        assert [entry["pointer"] for entry in found] == ["/rates/0/when", "/rates/1/rate"]
        assert "name that users choose" in found[0]["message"]


def test_a_list_is_refused_with_all_its_errors(api: Api) -> None:
    bad = {
        "currency": "euro",
        "zone": "Mars/Olympus",
        "rate": [],
        "from": "tomorrow",
        "digits": 9,
        "rates": [
            {"meter": "cores", "rate": 0.1},
            {"meter": "core_hours", "rate": "0.1 * 3.0"},
            {"meter": "core_hours", "rate": 'tenantt == "a" ? "1" : "2"'},
            {"meter": "core_hours", "when": "[1, 2].all(tenant, true)", "rate": "-1"},
            {"meter": "core_hours", "when": "tenant", "rate": "(" * 600},
        ],
    }
    answer = api.http(api.admin).post("/api/v1/admin/price-lists:check", json={"document": bad})
    found = {entry["pointer"]: entry["message"] for entry in problem(answer)["errors"]}
    assert {"/currency", "/zone", "/rate", "/digits", "/rates/0/meter", "/rates/0/rate"} <= found.keys()
    assert "binary fraction" in found["/rates/1/rate"]
    assert "tenantt is not known" in found["/rates/2/rate"]
    assert "all() is not available" in found["/rates/3/when"]
    assert "/rates/3/rate" in found
    assert "neither true nor false" in found["/rates/4/when"]
    assert "longer" in found["/rates/4/rate"]
    assert api.client(api.admin).admin.price_lists().price_lists == []


def test_past_prices_and_closed_statements_do_not_change(api: Api) -> None:
    admin = api.client(api.admin).admin
    with pytest.raises(Refused, match="begins in the past"):
        admin.set_price_list(PRICES)
    first = admin.set_price_list(PRICES, past=True)
    with pytest.raises(Refused, match="it has begun, and users have seen its prices"):
        admin.remove_price_list(first.id)
    later = admin.set_price_list({**PRICES, "from": "2090-01-01"})
    with pytest.raises(Refused, match="currency is USD"):
        admin.set_price_list({**PRICES, "from": "2091-01-01", "currency": "USD"})
    with pytest.raises(Refused, match="currency is USD"):
        admin.check_price_list({**PRICES, "from": "2091-01-01", "currency": "USD"})
    admin.remove_price_list(later.id)
    by_mistake = admin.set_price_list({**PRICES, "from": f"{LAST_MONTH}-02"}, past=True)
    zoe(api, "admin", "prices", "rm", str(by_mistake.id), "--past")
    assert [price_list.id for price_list in admin.price_lists().price_lists] == [first.id]
    assert [price_list.id for price_list in admin.price_lists(history=True).price_lists] == [
        first.id,
        by_mistake.id,
        later.id,
    ]
    use(api, 1, "ada", 10.0)
    present = datetime.now(UTC).strftime("%Y-%m")
    with pytest.raises(Refused, match="a day after its end"):
        admin.close_statement(present)
    closed = admin.close_statement(LAST_MONTH)
    use(api, 2, "ada", 10.0)  # reported after the month was closed
    assert api.client(api.admin).statement(LAST_MONTH, "red").lines == closed.lines
    assert admin.close_statement(LAST_MONTH).lines == closed.lines
    assert closed.closed
    with pytest.raises(Refused, match="closed months use it"):
        admin.remove_price_list(first.id, past=True)
    with pytest.raises(Refused, match="statements are closed until"):
        admin.set_price_list({**PRICES, "from": f"{LAST_MONTH}-20"}, past=True)


def test_a_budget_warns_and_refuses(api: Api) -> None:
    month_s = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()
    use(api, 1, "ada", 0.001, at_s=month_s)
    rates = [{"meter": "core_hours", "rate": "1000"}, {"meter": "memory_gib_hours", "rate": "100"}]
    set_prices(api, rates=rates, discounts=[])
    admin, ada = api.client(api.admin).admin, make_token(api.store, tenant="red", user="ada")
    zoe(api, "admin", "budget", "set", "0.50", "--tenant", "red")
    assert "warns" in zoe(api, "admin", "budget", "ls")
    stored = api.client(ada).submit(sized(1, "true"))
    (note,) = [text for text in stored.notes if text.startswith("budget")]
    assert "red has spent 2.40 of 0.50 EUR" in note
    zoe(api, "admin", "budget", "set", "1", "--tenant", "red", "--user", "ada", "--refuse")
    shown = json.loads(zoe(api, "budget", "-o", "json", token=ada))["budgets"]
    assert [(entry["user"], entry["spent"], entry["refuses"]) for entry in shown] == [
        (None, "2.40", False),
        ("ada", "2.40", True),
    ]
    with pytest.raises(Refused, match=r"ada in red has spent 2\.40 of 1 EUR .* nothing runs now"):
        api.client(ada).submit(sized(1, "true"))
    with pytest.raises(Refused, match="ada in red has spent"):
        api.client(ada).submit_batch([SubmitRequest(application=sized(1, "true"))])
    with pytest.raises(Refused, match="ada in red has spent"):
        api.client(ada).arrays.submit(sized(1, "true"), "0-3")
    master = api.start_master().master
    until(lambda: master.latest)
    planned = api.client(ada).plan(sized(1, "true"))
    assert any("a submission would be refused now: ada in red has spent" in text for text in planned.notes)
    assert planned.price is not None
    api.stop_master()
    steps = [{"name": "one", "image": "zoe/tiny", "command": ["true"]}]
    with pytest.raises(Refused, match="ada in red has spent"):
        api.client(ada).workflows.run({"version": 1, "name": "w", "steps": steps})
    bob = api.client(make_token(api.store, tenant="red", user="bob"))
    assert bob.submit(sized(1, "true")).id
    assert [budget.user for budget in bob.budgets().budgets] == [None]
    admin.clear_budget("red", "ada")
    assert api.client(ada).submit(sized(1, "true")).id
    assert 'zoe_api_budget_checks_total{result="refused"}' in api.http(api.admin).get("/metrics").text


def test_a_plan_says_the_price(api: Api, tmp_path: Path) -> None:
    set_prices(api)
    api.start_master()
    until(api.store.platform)
    planned = api.client().plan({**sized(2, "true"), "time_limit_s": 7200})
    assert planned.price is not None
    # 2 cores for 0.10 and 64 MiB for 0.01, for 2 hours, each rounded.
    assert (planned.price.amount, planned.price.currency, planned.price.run_s) == ("0.40", "EUR", 7200.0)
    file = tmp_path / "app.json"
    file.write_text(json.dumps({**sized(2, "true"), "time_limit_s": 7200}))
    assert "With all services, it would cost about 0.40 EUR if it runs until its time limit of 2h" in zoe(
        api, "plan", str(file), token=api.token
    )


def test_a_price_by_the_hour_is_said_while_the_run_time_is_not_known(api: Api, tmp_path: Path) -> None:
    set_prices(api)
    api.start_master()
    until(api.store.platform)
    planned = api.client().plan(sized(2, "true"))
    assert planned.price is not None
    assert (planned.price.amount, planned.price.run_s, planned.price.basis) == ("0.20", 3600.0, "hour")
    file = tmp_path / "app.json"
    file.write_text(json.dumps(sized(2, "true")))
    said = zoe(api, "plan", str(file), token=api.token)
    assert "would cost about 0.20 EUR an hour; the total is unknown, as its run time is" in said


def test_submissions_say_what_they_cost(api: Api, tmp_path: Path) -> None:
    """Executions, arrays, workflows and dispatches; arrays as their line of a statement, which is rounded once."""
    ada = make_token(api.store, tenant="red", user="ada")
    client = api.client(ada)
    file = tmp_path / "app.json"
    file.write_text(json.dumps({**sized(2, "true"), "time_limit_s": 7200}))
    assert "price:" not in zoe(api, "run", str(file), token=ada)
    set_prices(api)
    until(lambda: client.submit(sized(1, "true")).notes, 20)  # price lists are read again after some seconds
    limited = "price: about 0.40 EUR up to the time limit, with all services"
    assert f"note: {limited}" in zoe(api, "run", str(file), token=ada)
    assert client.submit({**sized(2, "true"), "time_limit_s": 7200}).notes == [limited]
    assert client.submit(sized(2, "true")).notes == [
        "price: about 0.20 EUR an hour, for applications without a run time, with all services"
    ]
    file.write_text(json.dumps({**sized(1, "true"), "size": {"run_time_s": 1}}))
    # Ten thousand seconds of one core are 2.78 hours; each alone would be 0.00.
    assert "price: about 0.28 EUR for the expected run time" in zoe(
        api, "run", str(file), "--array", "1-10000", "--hold", token=ada
    )
    step = {"image": "zoe/tiny", "command": ["true"], "memory": "64MiB"}
    steps = [{"name": "a", "time_limit_s": 7200, **step}, {"name": "b", **step}]
    workflow = {"version": 1, "name": "two", "steps": steps}
    both = "price: about 0.20 EUR up to the time limit and about 0.10 EUR an hour, for applications without a run time"
    file.write_text(json.dumps(workflow))
    assert both in zoe(api, "workflow", "run", str(file), token=ada)
    zoe(api, "app", "put", "two", str(file), token=ada)
    assert both in zoe(api, "dispatch", "two", token=ada)


def test_bytes_that_were_moved_are_charged_when_the_journal_gets_them(api: Api) -> None:
    """After the end, by the price at that time; without a rate, the statement lists the meters without a price."""
    set_prices(api, rates=[*PRICES["rates"], {"meter": "read_gb", "rate": "0.02"}])
    one = use(api, 9, "ada", 1.0)
    moved = StoreTransfers(5, 3_141_592_653, 500_000_000)
    at_s = one.marks[Mark.ENDED] + 30
    api.store.append(one.id, [ev.StorageTransferred(at_s=at_s, attempt=1, transfers=moved)], one.version, None)
    found = api.client(api.admin).statement(LAST_MONTH, "red")
    assert {line.meter: (line.quantity, line.amount) for line in found.lines if "_gb" in line.meter} == {
        "read_gb": ("3.141593", "0.06"),
        "written_gb": ("0.500000", None),
    }
    assert [gap for gap in found.gaps if "written_gb" in gap]
    assert ",read_gb," in zoe(api, "statement", "--month", LAST_MONTH, "--tenant", "red", "-o", "csv")
    [use_of] = api.client(api.admin).use_of([one.id]).use
    assert use_of.price is not None
    assert Decimal(use_of.price.amount) == Decimal("0.20") + Decimal("0.04") + Decimal("0.06")
