"""Reports of Spark drivers: what queries read from the object store."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.jobs import BODY, Job, finish, token_of
from zoe_lib.tokens.job_tokens import QUERIES

QUERY: dict[str, Any] = {"number": 4, "object_bytes": 1000, "read_bytes": 10, "plainly": ["option lineSep"]}


@pytest.fixture
def job(api: Api, http: httpx.Client) -> Job:
    return Job(api, http)


def test_a_driver_reports_its_own_queries_until_it_ends_and_may_do_nothing_else(
    api: Api, http: httpx.Client, job: Job
) -> None:
    path, other = f"/api/v1/executions/{job.id}/queries", http.post("/api/v1/executions", json=BODY).json()["id"]
    token = token_of(api, job.id, grant=QUERIES)
    with api.http(token) as driver:
        assert driver.post(path, json={"queries": [QUERY, {**QUERY, "number": 5, "plainly": []}]}).status_code == 204
        assert problem(driver.post(path.replace(job.id, other), json={"queries": [QUERY]}))["code"] == "not_of_job"
        assert problem(driver.get(f"/api/v1/executions/{job.id}"))["code"] == "not_for_jobs"
        assert problem(driver.post("/api/v1/executions", json=BODY))["code"] == "not_for_jobs"
        for wrong in ([], [QUERY] * 101, [{**QUERY, "read_bytes": -1}], [{**QUERY, "plainly": ["x" * 201]}]):
            assert driver.post(path, json={"queries": wrong}).status_code == 422
        assert problem(http.post(path, json={"queries": [QUERY]}))["code"] == "not_of_job"
        with api.http(job.token) as of_jobs:
            assert problem(of_jobs.post(path, json={"queries": [QUERY]}))["code"] == "not_for_jobs"
        shown = http.get(f"/api/v1/executions/{job.id}").json()["queries"]
        assert [{name: query[name] for name in QUERY} for query in shown] == [
            QUERY,
            {**QUERY, "number": 5, "plainly": []},
        ]
        assert job.change("cancel", job.id).is_success
        finish(api, job.id)
        assert problem(driver.post(path, json={"queries": [QUERY]}))["code"] == "job_token_ended"
