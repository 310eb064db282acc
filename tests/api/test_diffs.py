"""Differences between two executions, and their visibility."""

from __future__ import annotations

from typing import Any

import httpx

from tests.support.api import Api
from tests.support.documents import document, part
from tests.support.master import TickingMaster
from tests.support.people import make_token
from zoe_api.executions.diffing import ENTRIES_MAX
from zoe_client.vocabulary import ShareLevel
from zoe_master.backends.simulated import ServiceBehaviour

PATH = "/api/v1/executions/{}/diff"


def changes(http: httpx.Client, after: str, before: str | None = None) -> dict[str, tuple[Any, Any]]:
    answer = http.get(PATH.format(after), params={} if before is None else {"from": before}).raise_for_status().json()
    return {f"{entry['part']} {entry['path']}": (entry["before"], entry["after"]) for entry in answer["entries"]}


def test_diff_lists_all_differences(api: Api, master: TickingMaster, http: httpx.Client) -> None:
    client = api.client()
    one, two = (part(name, ends_application=name == "one") for name in ("one", "two"))
    master.behaviours["one"] = ServiceBehaviour(run_s=0.0, exit_code=0)
    before = client.submit(document({**one, "environment": {"A": "1", "B": "2"}}, two, results=["*.csv"]))
    client.wait(before.id, 30)
    master.behaviours["one"] = ServiceBehaviour(run_s=0.0, exit_code=3)
    changed = {**one, "environment": {"A": "1", "B": "3"}, "image": "zoe/other", "command": ["false"]}
    changed["resources"] = {"memory": "128MiB", "cores": 0.1}
    after = client.submit(document(two, changed, results=["*.txt"]), priority=-1)
    client.wait(after.id, 30)
    found = changes(http, after.id, before.id)
    assert found["environment /components/one/environment/B"] == ("2", "3")
    assert found["image /components/one/image"] == ("zoe/tiny", "zoe/other")
    assert found["description /components/one/command"] == (["true"], ["false"])
    assert found["outcome state"] == ("succeeded", "failed")
    assert found["outcome exit_code"] == (0, 3)
    assert found["outcome priority"] == (0, -1)
    assert any(key.startswith("resources /components/one/resources/memory") for key in found)
    assert any(key.startswith("results /results") for key in found)
    assert {"times submitted_at_s", "times waited_s", "times run_s"} & found.keys()
    # The order of components is irrelevant, and equal fields are not listed.
    assert not [key for key in found if "/two" in key or key.endswith("/A")]
    assert changes(http, after.id, after.id) == {}


def test_with_the_one_before_of_the_name(api: Api, http: httpx.Client) -> None:
    client = api.client()
    first = client.submit(document(part(), name="nightly"))
    client.submit(document(part(), name="nightly build"))
    api.client(make_token(api.store, "bob")).submit(document(part(), name="nightly"))
    last = client.submit(document(part(), name="nightly"))
    answer = http.get(PATH.format(last.id)).json()
    assert (answer["before"], answer["after"]) == (first.id, last.id)
    assert http.get(PATH.format(first.id)).json()["before"] is None


def test_values_are_for_those_who_may_see_them(api: Api) -> None:
    ada, token = api.client(), make_token(api.store, "bob")
    theirs = ada.submit(document(part(environment={"KEY": "hidden-value", "OLD": "x"})))
    bob = api.client(token)
    own = bob.submit(document(part(environment={"KEY": "mine", "NEW": "y"})))
    http = api.http(token)
    assert http.get(PATH.format(own.id), params={"from": theirs.id}).status_code == 404
    assert http.get(PATH.format(theirs.id), params={"from": own.id}).status_code == 404
    ada.share(theirs.id, ShareLevel.LOOK, "bob")
    answer = http.get(PATH.format(own.id), params={"from": theirs.id})
    assert "hidden-value" not in answer.text
    assert answer.json()["hidden"] is True
    paths = {entry["path"] for entry in answer.json()["entries"] if entry["part"] == "environment"}
    assert paths == {"/components/main/environment/OLD", "/components/main/environment/NEW"}


def test_large_ones_are_bounded(api: Api, http: httpx.Client) -> None:
    parts = [part(f"p{n}", environment={f"V{i}": str(n) for i in range(60)}) for n in range(30)]
    first = api.client().submit(document(*parts))
    others = [{**part, "environment": {f"V{i}": "x" for i in range(60)}} for part in parts]
    second = api.client().submit(document(*others))
    answer = http.get(PATH.format(second.id), params={"from": first.id}).json()
    assert (len(answer["entries"]), answer["complete"]) == (ENTRIES_MAX, False)
