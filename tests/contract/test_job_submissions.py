"""Submissions of jobs: the owner of a token, the job's family, and its limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Outcome
from zoe_lib.store.people import JobIdentity
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.batch import job_submissions
from zoe_lib.store.sql.batch.job_submissions import (
    JobBounds,
    JobStopped,
    JobSubmitsTooOften,
    JobTooDeep,
    ParentJob,
    TooManyDescendants,
)
from zoe_lib.store.values import ExecutionQuery

WIDE = JobBounds(100, 100, 1000)


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url)) as store:
        store.accounts.ensure_member("ada", "red", "user")
        yield store


def submit(store: PostgresStore, name: str) -> str:
    one = replace(execution(1), id=name, tenant="red", application=application(component(ends_application=True)))
    store.submit(one, "request")
    return name


def start(store: PostgresStore, name: str) -> None:
    (service,) = store.execution(name).services
    placed = ev.StartPlanned(at_s=2.0, placements=(ev.Placement(service_id=service.id, node="n1"),))
    store.append(name, [ev.Queued(at_s=2.0), placed], store.execution(name).version, None)


def end(store: PostgresStore, name: str) -> None:
    refused = ev.Refused(at_s=9.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    store.append(name, [refused], store.execution(name).version, None)


def job(name: str) -> JobIdentity:
    return JobIdentity(name, 1, name)


def child(store: PostgresStore, parent: str, name: str, bounds: JobBounds = WIDE, at_s: float = 100.0) -> str:
    store.accounts.note_job_submission(name, job(parent), bounds, at_s)
    return submit(store, name)


def test_a_token_is_of_an_attempt_that_runs(store: PostgresStore) -> None:
    def holder(attempt: int = 1, tenant: str = "red", user: str = "ada", name: str = "x1") -> bool:
        return store.accounts.job_holder(name, attempt, tenant, user) is not None

    submit(store, "x1")
    assert not holder()  # it has not begun
    start(store, "x1")
    who = store.accounts.job_holder("x1", 1, "red", "ada")
    assert who is not None
    assert (who.user, who.tenant, who.job, who.operator) == ("ada", "red", job("x1"), False)
    assert [holder(attempt=2), holder(tenant="blue"), holder(user="eve"), holder(name="x\0")] == [False] * 4
    store.accounts.ensure_member("ada", "red", "viewer")
    assert not holder()
    store.accounts.ensure_member("ada", "red", "admin")
    admin = store.accounts.job_holder("x1", 1, "red", "ada")
    assert admin is not None
    assert sorted(admin.scopes) == ["read", "submit"]
    store.accounts.set_disabled("ada", True)
    assert not holder()


def test_a_job_that_is_cancelled_is_known_as_such(store: PostgresStore) -> None:
    submit(store, "x1")
    start(store, "x1")
    stopping = ev.Stopping(at_s=3.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED)
    store.append("x1", [stopping], store.execution("x1").version, None)
    who = store.accounts.job_holder("x1", 1, "red", "ada")
    assert who is not None
    assert who.job is not None
    assert who.job.cancelled


def test_a_family_is_the_job_and_its_descendants(store: PostgresStore) -> None:
    for name in ("x1", "x9"):
        submit(store, name)
    child(store, "x1", "x2")
    child(store, "x2", "x3")
    child(store, "x9", "x8")
    families = {entry: store.accounts.job_family(entry) for entry in ("x1", "x2", "x3", "x9")}
    assert families == {"x1": {"x1", "x2", "x3"}, "x2": {"x2", "x3"}, "x3": {"x3"}, "x9": {"x9", "x8"}}
    for text, members in families.items():
        known = {x for x in ("x1", "x2", "x3", "x8", "x9", "none", "x\0") if store.accounts.is_job_family(text, x)}
        assert known == members
    query = ExecutionQuery(visibility=Visibility("red", "ada"), family=families["x2"])
    assert {execution.id for execution in store.executions(query).executions} == {"x2", "x3"}
    assert store.accounts.job_parents(["x1", "x2", "x3"]) == {"x2": ParentJob("x1", 1), "x3": ParentJob("x2", 1)}
    assert store.accounts.job_children("x1", 10) == ["x2"]


def test_an_index_belongs_to_its_array(store: PostgresStore) -> None:
    array = "a1m00000000abcd"
    store.accounts.note_job_submission(array, job(submit(store, "x1")), WIDE, 1.0)
    assert store.accounts.is_job_family("x1", f"{array}_7")
    assert store.accounts.is_job_family(array, f"{array}_7r2")
    assert store.accounts.job_parents([f"{array}_7"]) == {f"{array}_7": ParentJob("x1", 1)}


def test_only_ancestors_that_have_not_ended_count_as_depth(store: PostgresStore) -> None:
    bounds = replace(WIDE, depth_max=2)
    submit(store, "x1")
    child(store, "x1", "x2", bounds)
    child(store, "x2", "x3", bounds)
    with pytest.raises(JobTooDeep, match="3 jobs that submitted each other have not ended; the maximum is 2"):
        child(store, "x3", "x4", bounds)
    end(store, "x2")
    child(store, "x3", "x4", bounds)


def test_a_chain_of_any_length_goes_on_while_its_jobs_end(store: PostgresStore) -> None:
    bounds = replace(WIDE, depth_max=1)
    submit(store, "c0")
    for number in range(30):
        child(store, f"c{number}", f"c{number + 1}", bounds, 100.0 * number)
        end(store, f"c{number}")


def test_descendants_that_have_not_ended_are_bounded_for_the_whole_family(store: PostgresStore) -> None:
    bounds = replace(WIDE, descendants_max=3)
    submit(store, "x1")
    child(store, "x1", "x2", bounds)
    child(store, "x2", "x3", bounds)
    child(store, "x3", "x4", bounds)
    for parent in ("x1", "x4"):
        with pytest.raises(TooManyDescendants, match="3 descendants of job x1 have not ended"):
            child(store, parent, "x5", bounds)
    end(store, "x3")
    child(store, "x1", "x5", bounds)
    submit(store, "x9")
    child(store, "x9", "x10", bounds)  # another family has its own


def test_submissions_of_a_family_in_a_minute_are_bounded(store: PostgresStore) -> None:
    bounds = replace(WIDE, per_minute_max=2)
    submit(store, "x1")
    child(store, "x1", "x2", bounds, 100.0)
    child(store, "x2", "x3", bounds, 110.0)
    with pytest.raises(JobSubmitsTooOften) as refused:
        child(store, "x3", "x4", bounds, 120.0)
    assert refused.value.retry_after_s == 40.0
    child(store, "x3", "x4", bounds, 161.0)


def test_submission_never_made_is_forgotten(store: PostgresStore) -> None:
    submit(store, "x1")
    child(store, "x1", "x2")
    store.accounts.note_job_submission("x3", job("x1"), WIDE, 100.0)
    store.prune(100.0 + 400 * 86_400)
    assert store.accounts.job_family("x1") == {"x1", "x2"}


def test_a_job_that_is_stopped_submits_nothing_more_nor_do_its_descendants(store: PostgresStore) -> None:
    for name in ("x1", "x9"):
        submit(store, name)
    child(store, "x1", "x2")
    end(store, "x1")
    child(store, "x2", "x3")  # its ancestors are the unfinished ones: x2
    end(store, "x2")
    store.accounts.note_job_submission("x4", job("x3"), WIDE, 100.0)  # it is just being made
    child(store, "x9", "x8")
    assert store.accounts.stop_job("x1", 101.0) == {"x3", "x4"}
    for name in ("x3", "x4"):
        assert store.accounts.is_stopped_job(name)
        with pytest.raises(JobStopped, match="cancelled with its descendants"):
            store.accounts.note_job_submission("x5", job(name), WIDE, 102.0)
    assert child(store, "x9", "x7") == "x7"
    assert store.accounts.stop_job("x1", 103.0) == {"x3", "x4"}  # again, the same


def test_indices_of_an_array_are_stopped_with_it_until_they_run_again(store: PostgresStore) -> None:
    array = "a1m00000000abcd"
    store.accounts.note_job_submission(array, job(submit(store, "x1")), WIDE, 1.0)
    index = JobIdentity(f"{array}_3", 1, array)
    store.accounts.note_job_submission("x2", index, WIDE, 1.0)
    submit(store, "x2")
    assert store.accounts.stop_job("x1", 2.0) == {"x1", array, "x2"}
    with pytest.raises(JobStopped):
        store.accounts.note_job_submission("x3", index, WIDE, 3.0)
    store.accounts.resume_job(array)
    store.accounts.note_job_submission("x3", index, WIDE, 3.0)
    store.prune(1e9)
    assert not store.accounts.is_stopped_job(array)  # there is none any more
    assert store.accounts.is_stopped_job("x1")


def test_a_family_that_is_cut_keeps_what_has_not_ended(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_submissions, "FAMILY_MAX", 1)
    submit(store, "x1")
    child(store, "x1", "x2", at_s=1.0)
    end(store, child(store, "x1", "x3", at_s=2.0))
    assert store.accounts.job_family("x1") == {"x1", "x2"}
