"""Admins replay the journal: a child process with bounds, over a connection that only reads."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, problem
from tests.support.documents import document, part
from tests.support.limits import Quota, set_quota, tenant_limit
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_api.cluster import replays
from zoe_cli.main import app
from zoe_client import Client, NotAllowed, Refused
from zoe_client.wire import ReplayRequest
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.errors import StoreUnavailable
from zoe_lib.store.postgres.store import PostgresStore
from zoe_master.backends.simulated import ServiceBehaviour


@pytest.fixture(scope="module")
def busy(shared_api: Api) -> Api:
    """Three executions, each as wide as the cluster, have run one after the other."""
    master = shared_api.start_master()
    master.behaviours["worker"] = ServiceBehaviour(run_s=0.3)
    client = shared_api.client()
    wide = document(part("worker", essential_count=2, total_count=2, resources={"cores": 4, "memory": "1GiB"}))
    ids = [client.submit(wide).id for _ in range(3)]
    for execution_id in ids:
        until(lambda wanted=execution_id: client.execution(wanted).state is ExecutionState.SUCCEEDED)
    return shared_api


def admin(api: Api) -> Client:
    return api.client(api.admin)


def begin(api: Api) -> float:
    return api.store.ticks(time.time(), time.time())[0].at_s


def test_unchanged_replay_reproduces_every_decision(busy: Api) -> None:
    answer = admin(busy).replay(ReplayRequest(from_s=begin(busy)))
    assert (answer.decisions, answer.reproduced, answer.first_difference) == (3, 3, "")
    assert set(answer.figures) == {"as it was"}
    assert answer.figures["as it was"]["ended"] == 3


def test_one_more_node_and_limits_beside_it_as_table_and_page(busy: Api) -> None:
    answer = admin(busy).replay(ReplayRequest(from_s=begin(busy), add_nodes=["n1", "n1"]))
    was, changed = answer.figures["as it was"], answer.figures["changed"]
    assert changed["max_wait_s"] < was["max_wait_s"]
    limits = {"tenant_limits": {"red": {"cores_milli": 4000}}}
    answer = admin(busy).replay(ReplayRequest(from_s=begin(busy), policy=limits, picture="html"))
    assert answer.figures["changed"]["started"] == 0
    page = base64.b64decode(answer.picture or "").decode()
    assert "<svg" in page
    assert "3 of 3 decisions" in page


def test_the_command_line_tells_it_side_by_side(busy: Api, tmp_path: Path) -> None:
    # With a zone, and a millisecond later, since the last digits are cut off.
    since = datetime.fromtimestamp(begin(busy) + 0.001, UTC).isoformat()
    zoe = ["--url", busy.url, "--token", busy.admin, "replay", "--from", since]
    picture = f"{tmp_path}/a.png"
    told = CliRunner().invoke(app, [*zoe, "--policy", "order=sjf", "--limits", "red=4", "--picture", picture])
    assert told.exit_code == 0, told.output
    assert "3 of 3 decisions were reproduced" in told.stderr
    assert told.stdout.splitlines()[0].split() == ["AS", "IT", "WAS", "CHANGED"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert CliRunner().invoke(app, [*zoe, "--self-test"]).exit_code == 0
    told = CliRunner().invoke(app, [*zoe, "--user-limits", "red=4:1GiB", "-o", "json"])
    assert json.loads(told.stdout)["figures"]["changed"]["started"] == 0
    for wrong in (
        ["--from", "yesterday"],
        ["--limits", "red"],
        ["--user-limits", "red"],
        ["--picture", "a.gif"],
        ["--policy", "nothing"],
    ):
        assert CliRunner().invoke(app, [*zoe, *wrong]).exit_code == 2


def test_impossible_replay_is_refused(busy: Api) -> None:
    http = busy.http(busy.admin)

    def refused(**body: object) -> str:
        return str(problem(http.post("/api/v1/replays", json=body))["code"])

    assert refused(from_s=5.0) == "replay_refused"
    assert refused(from_s=begin(busy), add_nodes=["nobody"]) == "replay_refused"
    assert refused(from_s=begin(busy), policy={"order": "best"}) == "invalid_policy"
    assert refused(from_s=begin(busy), policy={"filters": []}) == "invalid_policy"
    assert refused(from_s=-1.0) == "invalid_request"


def test_only_for_admins(busy: Api) -> None:
    with pytest.raises(NotAllowed):
        busy.client().replay(ReplayRequest(from_s=1.0))


@pytest.mark.parametrize(("bound", "value"), [("replay_memory_bytes_max", 150 << 20), ("replay_s_max", 0.05)])
def test_it_ends_at_its_bounds(busy: Api, bound: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy.settings, bound, value)
    with pytest.raises(Refused) as caught:
        admin(busy).replay(ReplayRequest(from_s=begin(busy)))
    assert caught.value.problem.code == "replay_too_long", caught.value


def test_one_at_a_time(busy: Api) -> None:
    with replays.one_at_a_time, pytest.raises(Refused) as caught:
        admin(busy).replay(ReplayRequest(from_s=begin(busy)))
    assert caught.value.problem.code == "replay_busy"


def test_a_store_that_only_reads_cannot_write(postgres_url: str) -> None:
    store = PostgresStore(postgres_url, read_only=True)
    try:
        with pytest.raises(StoreUnavailable, match="read-only"):
            store.ping()
        with pytest.raises(Exception, match="read-only"):
            store.accounts.ensure_member("ada", "red", "admin")
    finally:
        store.close()


def test_use_by_day_of_the_own_tenant_or_of_all(busy: Api) -> None:
    since = begin(busy) - 86400
    own = busy.client().daily_use(since)
    assert {(d.tenant, d.user) for d in own.days} == {("red", "ada")}
    assert sum(d.core_hours for d in own.days) == pytest.approx(3 * 2 * 4 * 0.3 / 3600, rel=0.01)
    assert admin(busy).daily_use(since) == own
    assert busy.client(make_token(busy.store, tenant="blue")).daily_use(since).days == []
    zoe = ["--url", busy.url, "--token", busy.token]
    assert "ada" in CliRunner().invoke(app, [*zoe, "usage", "--from", "2020-01-01"]).stdout
    path = f"/api/v1/usage/daily?from_s={since}"
    for answer in (busy.http().get(f"{path}&format=csv"), busy.http().get(path, headers={"Accept": "text/csv"})):
        head, first, *_ = answer.text.splitlines()
        assert head == "day,tenant,user,core_hours,memory_gib_hours,store_gib"
        assert first.startswith(f"{own.days[0].day},red,ada,")


def test_meters_of_the_own_tenants_limits(api: Api) -> None:
    client = api.client()
    set_quota(api.store, "red", Quota(7, None, 43_200.0))
    limits = {"red": tenant_limit(cores_milli=3000), "*": tenant_limit(memory_bytes=1)}
    api.store.set_policy(replace(api.store.policy(), tenant_limits=limits), 0, 1.0, "test")
    api.start_master()
    runs, waits = (
        client.submit(document(part("main"))),
        client.submit(document(part("main", total_count=50, essential_count=50))),
    )
    until(lambda: client.execution(runs.id).state == "running" and client.execution(waits.id).state == "queued")
    told = client.quota()
    reserved = api.store.execution(runs.id).application.core_resources()
    assert (told.tenant, told.executions.used, told.executions.limit) == ("red", 2, 7)
    assert told.time_limit_s_max == 43_200.0
    assert (told.cores_milli.used, told.cores_milli.limit) == (reserved.cores_milli, 3000)
    assert (told.memory_bytes.used, told.memory_bytes.limit) == (reserved.memory_bytes, None)
    shown = CliRunner().invoke(app, ["--url", api.url, "--token", api.token, "quota"]).stdout
    assert "executions" in shown
    assert shown.splitlines()[-1].endswith(" 12h00m")
    assert api.client(make_token(api.store, "eve", "blue")).quota().executions.used == 0
