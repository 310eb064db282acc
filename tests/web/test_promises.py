"""Promises in a real browser: asked for in the form, answered before submission, offers accepted on the page."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Route, expect

from tests.support.documents import job
from tests.support.web import Visitor, fits
from zoe_client import Client
from zoe_client.vocabulary import ExecutionState, OfferKind

IN_FULL = r"\d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d \S+"
RUN_S = 2


def known(client: Client) -> None:
    """Run what the form launches, so that its run time is known."""
    for _ in range(2):
        done = client.submit(job("sleep", str(RUN_S), name="batch"))
        assert client.wait(done.id, 60).state is ExecutionState.SUCCEEDED


def test_an_offer_is_seen_before_the_launch_and_accepted_after_it(admin: Visitor, client: Client) -> None:
    known(client)
    page = admin.open(f"/catalogue/batch?command=sleep+{RUN_S}")
    answer = page.get_by_label("What would happen", exact=True)
    page.get_by_text("Deadline and promise", exact=True).click()
    page.get_by_label("Promise it", exact=True).check()
    expect(answer).to_contain_text("a promise needs a time: give a deadline")
    page.get_by_label("Confidence, percent", exact=True).fill("80")
    page.get_by_label(re.compile("^Budget")).fill("12")
    deadline = page.get_by_label("Deadline", exact=True)
    deadline.fill("+3h")
    expect(answer).to_contain_text(re.compile(rf"It would be promised\. It ends by {IN_FULL} with 80 % confidence"))
    assert admin.violations() == []
    deadline.fill("+1s")
    expect(answer).to_contain_text(re.compile("It would not be promised: .*There would be offers:"))
    expect(answer.get_by_role("listitem").first).to_contain_text("The earliest end with that confidence: It ends by")
    page.wait_for_url(re.compile("_promise=80&_budget=12"))
    page.reload()
    expect(page.get_by_label("Promise it", exact=True)).to_be_checked()
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url("**/executions/*")
    asked = page.url.rsplit("/", 1)[-1]
    offers = page.get_by_role("region", name="Offers", exact=True)
    expect(offers).to_contain_text("It cannot be promised: ")
    expect(offers).to_contain_text(re.compile(rf"Without an answer by {IN_FULL} \(in "))
    found = client.execution(asked).offers
    assert found is not None
    assert found.offers[0].kind is OfferKind.EARLIEST
    expect(page.get_by_role("region", name="Why it waits", exact=True)).to_have_count(0)
    expect(offers.get_by_role("button", name=re.compile("^Accept offer"))).to_have_count(len(found.offers))
    assert admin.violations() == []
    page.set_viewport_size({"width": 360, "height": 800})
    fits(admin)
    found = client.execution(asked).offers  # they may have lapsed, and been made anew
    assert found is not None
    offers.get_by_role("button", name="Accept offer 1", exact=True).press("Enter")
    promise = page.get_by_role("region", name="Promise", exact=True)
    expect(promise).to_contain_text(re.compile(rf"It (is|was) promised to end by {IN_FULL}"))
    expect(promise).to_contain_text("80 %")
    expect(promise).to_contain_text("offer 1")
    expect(offers).to_have_count(0)
    assert admin.violations() == []
    kept = client.execution(asked).promise
    assert kept is not None
    assert (kept.offer, kept.terms.finish_s) == (1, found.offers[0].terms.finish_s)
    assert client.execution(asked).description["promise"] == {"confidence": 0.8, "budget": 12}


def test_offers_go_when_their_execution_was_cancelled_meanwhile(admin: Visitor, client: Client) -> None:
    known(client)
    asked = client.submit(job("sleep", str(RUN_S), name="batch"), finish_by="+1s")
    page = admin.open(f"/executions/{asked.id}")
    accept = page.get_by_role("button", name="Accept offer 1", exact=True)
    expect(accept).to_be_visible()
    # The page learns nothing of the end, as if it came just before the answer.
    page.route("**/accept", lambda route: (client.cancel(asked.id), route.continue_()))
    accept.click()
    expect(page.get_by_role("region", name="Offers", exact=True)).to_have_count(0)
    expect(page.locator("main")).to_contain_text("cancelled")


def test_a_slider_over_what_an_earlier_end_costs_sets_the_deadline(admin: Visitor) -> None:
    """The known run times are put into the response: no entry without a cluster has elastic services."""

    def answer(route: Route) -> None:
        response = route.fetch()
        assert response.ok, response.text()
        more = {"samples": 9, "wide": False}
        run_times = [
            {"elastic": 0, "cores": 1.0, "p50_s": 3600.0, "p90_s": 4000.0, **more},
            {"elastic": 3, "cores": 4.0, "p50_s": 1800.0, "p90_s": 2000.0, **more},
        ]
        route.fulfill(response=response, json={**response.json(), "run_times": run_times})

    page = admin.page
    page.route("**/api/v1/plan", answer)
    admin.open("/catalogue/batch")
    curve = page.get_by_role("region", name="Price of an earlier end", exact=True)
    expect(curve.get_by_role("row")).to_have_count(3)
    expect(curve.get_by_role("row").last).to_contain_text("33 min 20 s")
    slider = curve.get_by_role("slider", name="When, from the start", exact=True)
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "in 33 min 20 s, with 3 elastic services, about 2 core-hours")
    expect(page.get_by_label("Deadline", exact=True)).to_have_value("+2000s")
    slider.press("End")
    expect(page.get_by_label("Deadline", exact=True)).to_have_value("+1h7m")
    expect(curve).to_contain_text("In 1 h 6 min: with 0 elastic services, about 1 core-hours")
    assert admin.violations() == []
    page.set_viewport_size({"width": 360, "height": 800})
    fits(admin)
    page.unroute("**/api/v1/plan")


def test_a_promise_at_risk_says_why(admin: Visitor, client: Client, tmp_path: Path) -> None:
    # The same program, whose run time its file says.
    program = job("sh", "-c", "sleep $(cat {workspace}/pause)")
    for seconds in (RUN_S, RUN_S, 300):
        (tmp_path / "pause").write_text(str(seconds))
        client.files.upload(tmp_path / "pause", "pause")
        if seconds == RUN_S:
            assert client.wait(client.submit(program).id, 60).state is ExecutionState.SUCCEEDED
    asked = client.submit(program, finish_by="+15s")
    page = admin.open(f"/executions/{asked.id}")
    promise = page.get_by_role("region", name="Promise", exact=True)
    expect(promise).to_contain_text("It is promised to end by")
    expect(promise).to_contain_text("The promise is at risk: it runs, and takes longer than expected.")
    assert admin.violations() == []


def test_the_limits_of_promises_are_in_the_policy_form(admin: Visitor, client: Client) -> None:
    policy = client.policy()
    page = admin.open("/cluster/policy")
    share = page.get_by_label(re.compile("for promises, 0 to 1"))
    expect(share).to_have_value(str(policy.promise_share))
    expect(page.get_by_label(re.compile("^Time to accept an offer"))).to_have_value(f"{policy.promise_offer_s:g}")
    share.fill("0.5")
    expect(page.get_by_label("Policy", exact=True)).to_contain_text("Changed: promise_share")
