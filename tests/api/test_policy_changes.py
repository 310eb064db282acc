"""Changes of the policy: refused names and values, old and new values, history and undo."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, problem
from tests.support.documents import job
from tests.support.waiting import until
from zoe_cli.main import app
from zoe_client import Refused
from zoe_client.wire import SubmitRequest
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ExecutionState

STEP = {"image": "zoe/tiny", "command": ["true"]}


def zoe(api: Api, *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["--url", api.url, "--token", api.admin, *words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("tenant_shares", {"nosuch": 2}, "tenant nosuch does not exist; known: red"),
        ("tenant_limits", {"nosuch": {"cores_milli": 1000}}, "tenant nosuch does not exist; known: red"),
        ("priorities_max", {"*": 3, "nosuch": 5}, "tenant nosuch does not exist; known: red"),
        ("node_holds", {"n1": {"tenant": "nosuch"}}, "tenant nosuch does not exist; known: red"),
        ("tenant_limits", {"red": {"cores_milli": 0}}, "a limit of 0 lets nothing run"),
        ("user_limits", {"*": {"memory_bytes": 0}}, "a limit of 0 lets nothing run"),
        ("user_limits", {"red/nosuch": {"cores_milli": 9}}, "user nosuch does not exist"),
        ("node_windows", {"n1": [{"since_s": 1, "until_s": 2}]}, "the hold of node n1 has ended before now"),
        ("node_holds", {"n1": {"since_s": 1, "until_s": 2}}, "the hold of node n1 has ended before now"),
        ("default_time_limit_s", 1e300, "1e+300 is above the maximum of 315360000"),
        ("idle_after_s", 1e300, "1e+300 is above the maximum of 3153600000"),
        ("ageing_s", 1e300, "1e+300 is above the maximum of 3153600000"),
    ],
)
def test_names_and_values_that_mean_nothing_are_refused(
    shared_api: Api, field: str, value: dict[str, object], said: str
) -> None:
    http = shared_api.http(shared_api.admin)
    policy = http.get("/api/v1/policy").json()
    refused = problem(http.put("/api/v1/policy", json={**policy, field: value}))
    assert problem(http.post("/api/v1/policy/dry-run", json={**policy, field: value}))["errors"] == refused["errors"]
    assert refused["code"] == "invalid_policy"
    (error,) = refused["errors"]
    assert error["message"].startswith(said)
    assert error["pointer"].startswith(f"/body/{field}")
    assert shared_api.store.policy().version == 0


def test_names_in_force_stay_possible(api: Api) -> None:
    """Such as those of a tenant that was removed."""
    api.store.set_policy(Policy(tenant_shares={"gone": 2.0}), 0, 1.0, "test")
    zoe(api, "policy", "set", "order=fifo")
    assert api.store.policy().tenant_shares == {"gone": 2.0}


def test_unknown_keys_are_refused(shared_api: Api) -> None:
    assert "coers" in zoe(shared_api, "policy", "set", 'tenant_limits={"red": {"coers": 1}}', code=2)


def test_a_node_that_does_not_exist_is_not_drained(api: Api) -> None:
    master = api.start_master().master
    until(lambda: master.latest)
    for words in (("drain", "nosuch"), ("drain", "n1", "nosuch"), ("reserve", "nosuch", "--tenant", "red")):
        assert "node nosuch does not exist" in zoe(api, "nodes", *words, code=2)
    assert not api.store.policy().node_holds
    policy = api.client(api.admin).policy()
    hold = {"node_holds": {"nosuch": {"tenant": None}}, "version": policy.version}
    refused = api.http(api.admin).put("/api/v1/policy", json={**policy.model_dump(mode="json"), **hold})
    assert refused.json()["errors"][0]["message"] == "node nosuch does not exist; known: n1, n2"


def test_a_release_of_nothing_changes_no_policy(api: Api) -> None:
    master = api.start_master().master
    until(lambda: master.latest)
    zoe(api, "nodes", "drain", "n1")
    version = api.store.policy().version
    assert "node nosuch does not exist" in zoe(api, "nodes", "release", "nosuch", code=2)
    assert "none of these nodes is drained" in zoe(api, "nodes", "release", "n2")
    assert api.store.policy().version == version
    zoe(api, "nodes", "release", "--all")
    assert (api.store.policy().version, dict(api.store.policy().node_holds)) == (version + 1, {})
    assert "none of these nodes is drained" in zoe(api, "nodes", "release", "--all")


def test_a_change_tells_what_it_changes_and_is_taken_back_by_undo(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    master = api.start_master().master
    until(lambda: master.latest)
    told = zoe(api, "policy", "set", "order=fifo", "ageing_s=60")
    assert 'order: "size" -> "fifo"' in told
    assert "ageing_s: 36000.0 -> 60.0" in told
    assert "effect: 0 instead of 0 executions would start now" in told
    assert "nothing changes" in zoe(api, "policy", "set", "order=fifo")
    monkeypatch.setenv("VISUAL", "nosuch-editor")
    assert "does not start" in zoe(api, "policy", "edit", code=2)
    monkeypatch.setenv("VISUAL", 'sed -i \'s/"fifo"/"hrrn"/\'')
    assert 'order: "fifo" -> "hrrn"' in zoe(api, "policy", "edit")
    zoe(api, "nodes", "drain", "n1")
    entries = json.loads(zoe(api, "policy", "history", "-o", "json"))["entries"]
    assert [entry["user"] for entry in entries] == ["root", "root"], "a drain is none"
    assert entries[0]["changes"]["order"] == ["fifo", "hrrn"]
    assert "order" in zoe(api, "policy", "history")
    assert "takes back the change of root" in zoe(api, "policy", "undo")
    policy = api.store.policy()
    assert (policy.order, policy.ageing_s, list(policy.node_holds)) == ("fifo", 60.0, ["n1"])
    zoe(api, "policy", "undo")
    assert api.store.policy().order == "hrrn", "taking the undo back sets it again"


def test_an_undo_does_not_overwrite_what_changed_since_then(api: Api) -> None:
    zoe(api, "policy", "set", "order=fifo")
    policy = api.store.policy()
    api.store.set_policy(Policy(order="las"), policy.version, 1.0, "elsewhere")
    assert "order changed in another way" in zoe(api, "policy", "undo", code=2)


def test_while_submissions_are_closed_users_read_why_and_what_runs_goes_on(api: Api) -> None:
    earlier = api.client().submit(job()).id
    zoe(api, "policy", "set", "submissions_closed=new disks until noon")
    ada = api.client()
    for submits in (
        lambda: ada.submit(job()),
        lambda: ada.submit_batch([SubmitRequest(application=job())]),
        lambda: ada.arrays.submit(job(), "0-3"),
        lambda: ada.workflows.run({"version": 1, "name": "w", "steps": [{"name": "one", **STEP}]}),
    ):
        with pytest.raises(Refused, match="new disks until noon"):
            submits()
    assert api.client(api.admin).submit(job()).id, "operators and admins may try"
    master = api.start_master().master
    until(lambda: master.latest)
    assert "a submission would be refused now: new disks until noon" in ada.plan(job()).notes
    until(lambda: ada.execution(earlier).state is ExecutionState.RUNNING)
    zoe(api, "policy", "set", "submissions_closed=")
    assert ada.submit(job()).id


def test_undo_restores_limits_of_one_user(api: Api) -> None:
    zoe(api, "admin", "limit", "set", "--tenant", "red", "--user", "ada", "--cores", "2")
    before = dict(api.store.policy().user_limits)
    zoe(api, "policy", "set", 'user_limits={"red": {"cores_milli": 1000}}')
    zoe(api, "policy", "undo")
    assert api.store.policy().user_limits["red/ada"]["cores_milli"] == before["red/ada"]["cores_milli"] == 2000
