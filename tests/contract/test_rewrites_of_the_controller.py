"""Jobs that store objects again, in the database: the next controller reads the records of the last one."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.swift.rewrite_ledger import KEPT_MAX, SENTENCE_MAX, Counts, RewriteJob, RewriteLedger
from tests.support.storage_controller import Served, served_controller

JOB = RewriteJob("acme", "docs", True, False, 100_000)


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    with served_controller(postgres_url) as controller:
        yield controller


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with served.http() as client:
        yield client


@pytest.fixture
def jobs(served: Served) -> RewriteLedger:
    return RewriteLedger(served.ledger, served.clock)


def newest(http: httpx.Client) -> dict[str, Any]:
    return dict(http.get("/v1/rewrites").json()[0])


def test_another_controller_goes_on_where_one_ended(served: Served, jobs: RewriteLedger, http: httpx.Client) -> None:
    number = int(jobs.begin(JOB, "ann")["id"])
    jobs.expect(number, 7)
    assert jobs.note(number, "docs", "é/b", Counts(3, 1, 1, 1, 30, 10), "", "docs/a: no key")
    other = RewriteLedger(Ledger(served.engine))
    found = other.running()
    assert found is not None
    assert (found.id, found.job, found.at_container, found.at_object, found.expected) == (number, JOB, "docs", "é/b", 7)
    assert other.note(number, "docs", "c", Counts(1, 0, 1, 0, 5, 0), "cannot reach Swift")
    one = newest(http)
    assert (one["state"], one["waits"], one["sentence"]) == ("running", "cannot reach Swift", "docs/a: no key")
    counts = ("looked", "changed", "kept", "failed", "bytes", "changed_bytes")
    assert [one[name] for name in counts] == [4, 1, 2, 1, 35, 10]
    assert other.note(number, "docs", "d", Counts(), "", "x" * 10_000)
    assert len(newest(http)["sentence"]) == SENTENCE_MAX
    other.end(number)
    assert (newest(http)["state"], other.running()) == ("done", None)
    other.end(number)
    assert not other.cancel(number)


def test_one_runs_at_a_time_however_many_ask(jobs: RewriteLedger, http: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: http.post("/v1/rewrites", json={"tenant": "acme"}).status_code, range(8)))
    assert sorted(answers) == [201, *[409] * 7]
    running = jobs.running()
    assert running is not None
    assert http.delete(f"/v1/rewrites/{running.id}").status_code == 204
    assert not jobs.note(running.id, "docs", "a", Counts())
    assert (newest(http)["state"], jobs.running()) == ("cancelled", None)


def test_standby_notes_no_progress_of_a_job(served: Served, jobs: RewriteLedger) -> None:
    number = int(jobs.begin(JOB, None)["id"])

    def refuse(_: object) -> None:
        raise RequestRefusedError(503, "another one leads")

    standby = RewriteLedger(Ledger(served.engine, check=refuse))
    for call in (standby.running, lambda: standby.note(number, "docs", "a", Counts(1)), lambda: standby.end(number)):
        with pytest.raises(RequestRefusedError):
            call()
    running = jobs.running()
    assert running is not None
    assert running.at_object == ""


def test_old_jobs_are_forgotten(jobs: RewriteLedger) -> None:
    for _ in range(KEPT_MAX + 3):
        jobs.end(int(jobs.begin(JOB, None)["id"]))
    assert len(jobs.jobs()) == KEPT_MAX


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({}, 400),
        ({"tenant": "a/b"}, 400),
        ({"tenant": "acme", "container": "a/b"}, 400),
        ({"tenant": "acme", "bytes_per_s": 99_999}, 400),
        ({"tenant": "acme", "plain": "perhaps"}, 400),
        ({"tenant": "acme", "container": "docs"}, 503),  # there is no Swift here
    ],
)
def test_invalid_job_is_refused(http: httpx.Client, wanted: dict[str, Any], status: int) -> None:
    answer = http.post("/v1/rewrites", json=wanted)
    assert (answer.status_code, bool(answer.json()["error"])) == (status, True)
    assert http.get("/v1/rewrites").json() == []


def test_a_job_gives_up_after_its_patience_and_is_resumed_where_it_was(
    served: Served, jobs: RewriteLedger, http: httpx.Client
) -> None:
    number = int(jobs.begin(JOB, "ann")["id"])
    jobs.note(number, "docs", "b", Counts(looked=2), "cannot reach Swift")
    served.clock.advance(50)
    jobs.note(number, "docs", "b", Counts(), "cannot reach Swift")  # does not begin to wait anew
    served.clock.advance(49)
    assert not jobs.give_up(number, 100)
    served.clock.advance(1)
    assert jobs.give_up(number, 100)
    one = newest(http)
    assert (one["state"], one["waits"], one["ended_s"]) == ("gave_up", "cannot reach Swift", served.clock.now_s())
    other = int(jobs.begin(JOB, None)["id"])
    assert http.post(f"/v1/rewrites/{number}/resume").status_code == 409
    assert http.post(f"/v1/rewrites/{other}/resume").status_code == 404, "it runs"
    jobs.end(other)
    assert http.post(f"/v1/rewrites/{other}/resume").status_code == 404, "it is done"
    assert http.post(f"/v1/rewrites/{number}/resume").json()["state"] == "running"
    found = jobs.running()
    assert found is not None
    assert (found.id, found.at_object) == (number, "b")
    served.clock.advance(1000)
    assert not jobs.give_up(number, 100), "it does not wait"
    jobs.note(number, "docs", "b", Counts(), "cannot reach Swift")
    jobs.note(number, "docs", "c", Counts(looked=1))  # it goes on
    served.clock.advance(1000)
    assert not jobs.give_up(number, 100)
    assert jobs.cancel(number)
    assert http.post(f"/v1/rewrites/{number}/resume").status_code == 201
