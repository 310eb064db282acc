"""Arrays over the API, with a master that ticks."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.support.api import Api, problem
from tests.support.documents import document, job, part
from tests.support.master import TickingMaster
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_api.http.request_context import PREFIX
from zoe_client import NotFound
from zoe_lib.domain.executions.limits import Limits
from zoe_master.backends.simulated import ServiceBehaviour

NEVER_S = 3e9
ARRAYS = f"{PREFIX}/arrays"
Json = dict[str, Any]


def submit(http: httpx.Client, indices: str, key: str = "", **more: object) -> Json:
    """Submit an array."""
    headers = {"Idempotency-Key": key} if key else {}
    answer = http.post(ARRAYS, json={"application": job(), "indices": indices, **more}, headers=headers)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def shown(http: httpx.Client, array: Json) -> Json:
    """Return an array as it is now."""
    return dict(http.get(f"{ARRAYS}/{array['id']}").raise_for_status().json())


def counts(http: httpx.Client, array: Json) -> dict[str, int]:
    """Return how many indices are in each state."""
    return dict(shown(http, array)["counts"])


def ended(http: httpx.Client, array: Json) -> Json:
    """Return an array once all its indices have ended."""
    return until(lambda: (a := shown(http, array))["ended_at_s"] is not None and a)


def act(http: httpx.Client, array: Json, action: str) -> httpx.Response:
    """Do something to a whole array."""
    return http.post(f"{ARRAYS}/{array['id']}/{action}")


def test_each_index_runs_once(http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    array = submit(http, "1,3,7-20:2%3")
    assert (array["size"], array["indices"], array["at_once_max"]) == (9, "1,3,7-19:2", 3)
    done = ended(http, array)
    assert (done["state"], done["counts"], done["ranges"]) == (
        "succeeded",
        {"succeeded": 9},
        {"succeeded": "1,3,7-19:2"},
    )
    listed = http.get(f"{ARRAYS}/{array['id']}/indices").json()["indices"]
    assert [entry["index"] for entry in listed] == [1, 3, 7, 9, 11, 13, 15, 17, 19]
    assert [entry["execution_id"] for entry in listed] == [f"{array['id']}_{entry['index']}" for entry in listed]
    executions = http.get(f"{PREFIX}/executions").json()["executions"]
    assert len(executions) == 9
    assert http.get(f"{PREFIX}/executions", params={"arrays": "false"}).json()["executions"] == []


def test_services_find_their_index(http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=NEVER_S)
    main = part("main", command=["do", "{index}", "{{index}}", "{instance}"], environment={"MINE": "part-{index}"})
    array = submit(http, "5-6", application=document(main, name="sweep", results=["out/{index}.csv"]))
    made = until(lambda: (r := http.get(f"{PREFIX}/executions/{array['id']}_6")).status_code == 200 and r.json())
    (component,) = made["description"]["components"]
    assert component["command"] == ["do", "6", "{{index}}", "{instance}"]
    assert component["environment"] == {
        "MINE": "part-6",
        "ZOE_ARRAY_ID": array["id"],
        "ZOE_ARRAY_INDEX": "6",
        "ZOE_ARRAY_MAX": "6",
        "ZOE_ARRAY_MIN": "5",
        "ZOE_ARRAY_SIZE": "2",
        "ZOE_ARRAY_STEP": "1",
    }
    assert made["description"]["results"] == ["out/6.csv"]


def test_no_more_at_once_than_asked(http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=NEVER_S)
    array = submit(http, "0-99%2")
    until(lambda: counts(http, array) == {"active": 2, "waiting": 98})
    changed = http.patch(f"{ARRAYS}/{array['id']}", json={"at_once_max": 4})
    assert changed.json()["at_once_max"] == 4
    until(lambda: counts(http, array) == {"active": 4, "waiting": 96})


def test_a_begin_time_is_given_and_taken_back(http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=NEVER_S)
    array = submit(http, "0-9%2", begin_in_s=3600)
    later_s = time.time() + 7200
    assert http.patch(f"{ARRAYS}/{array['id']}", json={"begin_at_s": later_s}).status_code == 200
    found = shown(http, array)
    assert (found["conditions"]["begin_at_s"], found["counts"]) == (later_s, {"waiting": 10})
    assert http.patch(f"{ARRAYS}/{array['id']}", json={"begin_at_s": None}).status_code == 200
    until(lambda: counts(http, array) == {"active": 2, "waiting": 8})


def test_new_description_applies_to_waiting_elements_only(api: Api, http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=NEVER_S)
    described = document(part("main", command=["old", "{index}"], resources={"memory": "1GiB", "cores": 3}), name="one")
    array = submit(http, "0-99", application=described)
    first, waiting = f"{PREFIX}/executions/{array['id']}_0", f"{PREFIX}/executions/{array['id']}_9"
    until(lambda: (r := http.get(first)).status_code == 200 and r.json()["state"] == "running")
    until(lambda: http.get(waiting).status_code == 200)
    new = document(part("main", command=["new", "{index}"], resources={"memory": "2GiB", "cores": 3}), name="one")
    changed = http.patch(f"{ARRAYS}/{array['id']}", json={"application": new, "priority": 5})
    assert changed.status_code == 200, changed.text
    assert http.get(first).json()["description"]["components"][0]["command"] == ["old", "0"]
    assert http.get(waiting).json()["description"]["components"][0]["command"] == ["new", "9"]
    assert shown(http, array)["description"]["components"][0]["command"] == ["new", "{index}"]
    (event,) = [e for e in api.client().events(array["id"]).events if e.kind == "array_modified"]
    assert event.data["what"] == "priority 0 to 5; component main"
    others = document(part("main"), part("more"), name="one")
    for wrong, code in ((others, "invalid_description"), ({"version": 4}, "invalid_description")):
        refused = problem(http.patch(f"{ARRAYS}/{array['id']}", json={"application": wrong}))
        assert refused["code"] == code
    with api.http(api.admin) as admin:
        refused = problem(admin.patch(f"{ARRAYS}/{array['id']}", json={"application": new}))
        assert refused["code"] == "share_too_low"


def test_failed_indices_run_again_as_new_executions(http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05, exit_code=3)
    array = submit(http, "0-3")
    failed = ended(http, array)
    assert (failed["state"], failed["counts"]) == ("failed", {"failed": 4})
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    assert act(http, array, "requeue").json()["counts"] == {"waiting": 4}
    done = ended(http, array)
    assert (done["state"], done["run"], done["counts"]) == ("succeeded", 2, {"succeeded": 4})
    newest = http.get(f"{ARRAYS}/{array['id']}/indices").json()["indices"]
    assert [entry["execution_id"] for entry in newest] == [f"{array['id']}_{index}r2" for index in range(4)]
    assert http.get(f"{PREFIX}/executions/{array['id']}_2").json()["state"] == "failed"  # its record stays
    assert act(http, array, "requeue").json()["run"] == 2  # nothing has failed


def test_a_whole_array_has_events_that_can_be_followed(api: Api, http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05, exit_code=3)
    array = submit(http, "0-2")
    ended(http, array)
    kinds = ["array_submitted", "array_ended", "array_requeued", "array_ended"]
    client = api.client()
    assert [event.kind for event in client.events(array["id"]).events] == kinds[:2]
    act(http, array, "requeue")
    followed = list(client.follow_events(array["id"], after=0))
    assert [event.kind for event in followed] == kinds
    assert followed[-1].data["counts"] == {"failed": 3}
    other = api.client(make_token(api.store, "bob"))
    with pytest.raises(NotFound):
        other.events(array["id"])
    with pytest.raises(NotFound):
        list(other.follow_events(array["id"], after=0))


def test_a_cancelled_array_ends_whole(http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=NEVER_S)
    array = submit(http, "0-499%5")
    until(lambda: counts(http, array) == {"active": 5, "waiting": 495})
    assert http.post(f"{PREFIX}/executions/{array['id']}_0/cancel").status_code == 200
    until(lambda: counts(http, array) == {"active": 5, "waiting": 494, "cancelled": 1})
    some = act(http, array, "cancel?indices=0,1,490-499:3")  # ended, active, and not begun
    assert some.status_code == 200
    until(lambda: counts(http, array) == {"active": 5, "waiting": 489, "cancelled": 6})
    assert shown(http, array)["ranges"]["cancelled"] == "0-1,490-499:3"
    assert act(http, array, "cancel?indices=1,492-496:2").status_code == 200
    assert problem(act(http, array, "cancel?indices=0,500"))["detail"].endswith("has no index 500")
    assert problem(act(http, array, "cancel?indices=x"))["code"] == "invalid_request"
    assert act(http, array, "cancel").status_code == 200
    done = ended(http, array)
    assert (done["state"], done["counts"], done["message"]) == ("cancelled", {"cancelled": 500}, "cancelled by ada")
    assert act(http, array, "cancel").status_code == 200  # again, as with an execution
    assert problem(act(http, array, "hold"))["code"] == "illegal_state"
    assert problem(act(http, array, "release"))["code"] == "illegal_state"


def test_a_held_array_starts_nothing(http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    array = submit(http, "0-9", hold=True)
    other = submit(http, "0-2")
    ended(http, other)
    assert counts(http, array) == {"waiting": 10}
    assert shown(http, array)["reason"]["code"] == "held"
    assert act(http, array, "release").status_code == 200
    assert ended(http, array)["counts"] == {"succeeded": 10}


def test_the_same_index_after_the_other_array(http: httpx.Client, master: TickingMaster) -> None:
    """Each index runs after the same one; a failure ends the same index only."""
    master.behaviours["main"] = ServiceBehaviour(run_s=NEVER_S)
    first = submit(http, "0-2")
    second = submit(http, "0-2", after=[f"corr:{first['id']}"])
    until(lambda: counts(http, first) == {"active": 3} and counts(http, second) == {"active": 3})
    seen = http.get(f"{PREFIX}/executions/{second['id']}_1").json()
    assert [(entry["kind"], entry["on"]) for entry in seen["conditions"]["after"]] == [("ok", f"{first['id']}_1")]
    http.post(f"{PREFIX}/executions/{first['id']}_1/cancel")
    until(lambda: counts(http, second) == {"active": 2, "failed": 1})
    third = submit(http, "0-2", after=[f"corr:{first['id']}"])  # begins with an index that has failed already
    until(lambda: counts(http, third) == {"active": 2, "failed": 1})
    failed = http.get(f"{ARRAYS}/{third['id']}/indices", params={"state": "failed"}).json()["indices"]
    assert [(entry["index"], entry["cause"]) for entry in failed] == [(1, "dependency_failed")]


@pytest.mark.parametrize(("exit_code", "ok", "fail"), [(0, "succeeded", "failed"), (1, "failed", "succeeded")])
def test_after_a_whole_array(http: httpx.Client, master: TickingMaster, exit_code: int, ok: str, fail: str) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    first = submit(http, "0-2", hold=True)
    waits = {kind: submit(http, "7-8", after=[f"{kind}:{first['id']}"]) for kind in ("ok", "fail", "any")}
    single = http.post(f"{PREFIX}/executions", json={"application": job(), "after": [f"ok:{first['id']}"]}).json()
    quick = submit(http, "0")
    ended(http, quick)
    assert all(counts(http, wait) == {"waiting": 2} for wait in waits.values())
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05, exit_code=exit_code)
    act(http, first, "release")
    ended(http, first)
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    states = {kind: ended(http, entry) for kind, entry in waits.items()}
    assert states["ok"]["state"] == ok or exit_code == 0
    assert {kind: entry["counts"] == {"failed": 2} and bool(entry["message"]) for kind, entry in states.items()} == {
        "ok": ok == "failed", "fail": fail == "failed", "any": False,
    }  # fmt: skip
    until(lambda: http.get(f"{PREFIX}/executions/{single['id']}").json()["state"] == ok)


def test_the_same_key_makes_one_array(api: Api, http: httpx.Client) -> None:
    first, second = submit(http, "0-9", "k1"), submit(http, "0-9", "k1")
    assert first["id"] == second["id"]
    other = http.post(ARRAYS, json={"application": job(), "indices": "0-8"}, headers={"Idempotency-Key": "k1"})
    assert problem(other)["code"] == "idempotency_conflict"
    alone = http.post(f"{PREFIX}/executions", json={"application": job()}, headers={"Idempotency-Key": "k1"})
    assert problem(alone)["code"] == "idempotency_conflict"
    bob = api.http(make_token(api.store, "bob"))
    theirs = bob.post(ARRAYS, json={"application": job(), "indices": "0-9"}, headers={"Idempotency-Key": "k1"})
    assert problem(theirs)["code"] == "idempotency_conflict"
    assert [array["id"] for array in http.get(ARRAYS).json()["arrays"]] == [first["id"]]


@pytest.mark.parametrize(
    ("indices", "code", "said"),
    [
        ("0-9999999", "too_many", "10000000 indices are more than an array may have, 1000000"),
        ("0-999999999,5", "too_many", "1000000001 indices"),
        ("9-1", "invalid", "the end is lower than the beginning"),
        ("1-9:0", "invalid", "the step must be 1 or more"),
        ("1-9%0", "invalid", "%0 would let no index run; use %1 or more"),
        ("1,,2", "invalid", "'' is neither an index nor a range"),
        ("1%2%3", "invalid", "is not a list of indices"),
        ("1-2-3", "invalid", "'1-2-3' is neither"),
        ("99999999999", "invalid", "is neither"),
    ],
)
def test_bad_indices_are_refused_with_the_reason(shared_http: httpx.Client, indices: str, code: str, said: str) -> None:
    refused = problem(shared_http.post(ARRAYS, json={"application": job(), "indices": indices}))
    assert (refused["code"], refused["errors"][0]["code"]) == ("invalid_request", code)
    assert said in refused["detail"]


@pytest.mark.parametrize("after", ["corr:x0000000000000", "corr:a00000000000000", "ok:a00000000000000"])
def test_unknown_dependency_is_refused(http: httpx.Client, after: str) -> None:
    answer = http.post(ARRAYS, json={"application": job(), "indices": "0-9", "after": [after]})
    assert problem(answer)["errors"][0]["pointer"] == "/after/0"


def test_the_other_array_has_the_same_indices(http: httpx.Client) -> None:
    other = submit(http, "0-9")
    answer = http.post(ARRAYS, json={"application": job(), "indices": "0-8", "after": [f"corr:{other['id']}"]})
    assert "has other indices: 0-9" in problem(answer)["detail"]


def test_deadline_and_time_limit_change_for_all_that_wait(api: Api, http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=NEVER_S)
    array = submit(http, "0-9%2", hold=True)
    changed = http.patch(f"{ARRAYS}/{array['id']}", json={"deadline_s": 3600, "time_limit_s": 90}).raise_for_status()
    assert changed.json()["deadline_s"] == pytest.approx(time.time() + 3600, abs=60)
    act(http, array, "release")
    first = f"{PREFIX}/executions/{array['id']}_0"
    until(lambda: (found := http.get(first)).status_code == 200 and found.json()["state"] == "running")
    made = http.get(first).json()
    assert (made["description"]["time_limit_s"], made["deadline_s"]) == (90, changed.json()["deadline_s"])
    again = http.patch(f"{ARRAYS}/{array['id']}", json={"deadline": "+2h", "time_limit_s": None}).raise_for_status()
    assert again.json()["deadline_s"] == pytest.approx(time.time() + 7200, abs=60)
    assert http.get(f"{ARRAYS}/{array['id']}").json()["description"].get("time_limit_s") is None
    assert http.get(f"{PREFIX}/executions/{array['id']}_0").json()["deadline_s"] == made["deadline_s"]  # it runs
    api.store.change_limits(lambda _: Limits(tenants={"red": {"time_limit_s": 60.0}}), 0.0, "test")
    refused = http.patch(f"{ARRAYS}/{array['id']}", json={"time_limit_s": 61})
    assert problem(refused)["code"] == "time_limit_too_long"
    both = http.patch(f"{ARRAYS}/{array['id']}", json={"deadline": "+2h", "deadline_s": 5})
    assert (both.status_code, problem(http.patch(f"{ARRAYS}/{array['id']}", json={}))["code"]) == (
        422,
        "invalid_request",
    )
    act(http, array, "cancel")


def test_others_of_the_tenant_see_no_array(api: Api, http: httpx.Client) -> None:
    array = submit(http, "0-9")
    bob = api.http(make_token(api.store, "bob"))
    unknown = bob.get(f"{ARRAYS}/a00000000000000").json()["detail"].replace("a00000000000000", array["id"])
    for method, path in [
        ("GET", ""), ("GET", "/indices"), ("POST", "/cancel"), ("POST", "/hold"), ("POST", "/release"),
        ("POST", "/requeue"), ("PATCH", ""),
    ]:  # fmt: skip
        body = {"json": {"priority": 0}} if method == "PATCH" else {}
        answer = bob.request(method, f"{ARRAYS}/{array['id']}{path}", **body)  # type: ignore[arg-type]
        assert (answer.status_code, answer.json()["detail"]) == (404, unknown)
    assert bob.get(ARRAYS).json()["arrays"] == []
    after = bob.post(f"{PREFIX}/executions", json={"application": job(), "after": [f"ok:{array['id']}"]})
    assert "does not exist, or you may not see it" in problem(after)["detail"]


def test_limits_count_what_is_made(api: Api, http: httpx.Client, master: TickingMaster) -> None:
    limits = {"red": {"executions": 3}}
    api.store.change_limits(lambda _: Limits(tenants=limits), 0.0, "test")
    master.behaviours["main"] = ServiceBehaviour(run_s=0.3)
    array = submit(http, "0-9")
    until(lambda: counts(http, array).get("active") == 3)
    alone = http.post(f"{PREFIX}/executions", json={"application": job()})
    assert problem(alone)["code"] == "quota_exceeded"
    assert ended(http, array)["counts"] == {"succeeded": 10}


def test_a_long_list_is_paged(http: httpx.Client) -> None:
    array = submit(http, "0-9999")
    page = http.get(f"{ARRAYS}/{array['id']}/indices", params={"brief": "true", "limit": 6000}).json()
    rest = http.get(
        f"{ARRAYS}/{array['id']}/indices", params={"brief": "true", "limit": 6000, "after": page["next_after"]}
    ).json()
    found = [entry["index"] for entry in (*page["indices"], *rest["indices"])]
    assert (found, rest["next_after"]) == (list(range(10_000)), None)
    assert {index["state"] for index in page["indices"]} == {"waiting"}


def test_a_user_who_leaves_hands_arrays_over(api: Api, http: httpx.Client, master: TickingMaster) -> None:
    master.behaviours["main"] = ServiceBehaviour(run_s=0.05)
    array = submit(http, "0-4", hold=True)
    bob = api.http(make_token(api.store, "bob"))
    path = f"{PREFIX}/admin/tenants/red/members/ada/hand-over"
    assert api.http(api.admin).post(path, json={"to": "bob"}).status_code == 200
    assert shown(bob, array)["user"] == "bob"
    act(bob, array, "release")
    assert ended(bob, array)["counts"] == {"succeeded": 5}
    executions = bob.get(f"{PREFIX}/executions").json()["executions"]
    assert {execution["user"] for execution in executions} == {"bob"}
    assert act(http, array, "cancel").status_code in (401, 404)


def test_a_replay_decides_as_it_was(api: Api, http: httpx.Client, master: TickingMaster) -> None:
    """Executions of an array are submitted when they are made, so a replay makes none."""
    master.behaviours["main"] = ServiceBehaviour(run_s=0.1)
    first, array = submit(http, "0"), submit(http, "0-19%5")
    ended(http, array)
    from_s = ended(http, first)["ended_at_s"]
    replay = api.http(api.admin).post(f"{PREFIX}/replays", json={"from_s": from_s}).raise_for_status().json()
    assert replay["decisions"] == replay["reproduced"] > 0


def test_ended_array_is_not_changed(api: Api) -> None:
    """Another deadline would erase that it was missed."""
    http = api.http()
    made = http.post("/api/v1/arrays", json={"application": job(), "indices": "0-2", "hold": True}).json()
    assert http.post(f"/api/v1/arrays/{made['id']}/cancel").status_code == 200
    refused = http.patch(f"/api/v1/arrays/{made['id']}", json={"deadline": "+1h"})
    assert (refused.status_code, refused.json()["code"]) == (409, "illegal_state")
