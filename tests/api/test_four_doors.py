"""Validate, plan, submission and the form report the same findings about what cannot run on a platform."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.api import Api, InProcess
from tests.support.possible import BASE, MIB, TOO_LITTLE, Wishes, application
from zoe_client.wire import CredentialRequest
from zoe_lib.descriptions import to_document
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities, EngineLimits, ImageFacts, MountPath
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.simulated import ServiceBehaviour

Document = dict[str, Any]
Said = tuple[int, tuple[tuple[str, str], ...], tuple[str, ...]]
NODE = Node("n1", Resources(4000, 2048 * MIB))
ANYTHING = BackendCapabilities()
LOCAL = BackendCapabilities(images=("shell", "python"), commandless=("shell",), host_paths=("/data",))
SWARM = BackendCapabilities(
    images=("shell", "zoe/*"),
    host_paths=(),
    workspaces=False,
    mount_points=(MountPath("/sbin", "an init program"), MountPath("/tmp", "the scratch", only_read_only=True)),
    engine=EngineLimits(4 * MIB, 6 * MIB, 10),
    network_addresses=5,
    images_there={"shell:latest": ImageFacts(has_command=False), "zoe/arm:latest": ImageFacts(made_for="linux/arm64")},
)
PULLING = BackendCapabilities(images=("**",), images_there={}, pulls=True, unavailable=("zoe/lacking:latest",))
WISHES = Wishes(
    ("shell", "zoe/arm", "zoe/lacking", "evil/zoe/arm", "zoe/"),
    ("/data/mine", "/data-not", "/etc"),
    ("/sbin", "/opt"),
    TOO_LITTLE,
)


def too_large() -> list[Application]:
    """One essential service that no node holds, and elastic ones."""
    large = Resources(6500, 3000 * MIB)
    core = application(BASE.__class__("c", "shell", large, command=("true",)))
    elastic = BASE.__class__("more", "shell", large, command=("true",), essential_count=0, total_count=3)
    return [core, Application("two", (BASE, elastic))]


def too_many() -> list[Application]:
    """As many services as a small network has addresses for, and one more."""
    return [Application("many", (replace(BASE, total_count=count),)) for count in (4, 5)]


def said(answer: Any) -> Said:
    """The status, the findings of a refusal, and the notes of an acceptance."""
    body = answer.json()
    if answer.status_code == 422:
        assert body["code"] == "never_fits", body
        return 422, tuple((e["pointer"], e["code"]) for e in body["errors"]), (body["detail"], body["hint"])
    assert answer.status_code in (200, 201), body
    return 200, (), tuple(body["notes"])


def form(http: Any, document: Document) -> Document:
    """What the page of an entry of the catalogue asks about: its form filled, then changed as the case wishes."""
    filled = http.post("/api/v1/catalogue/batch/fill", json={"values": {}}).json()["document"]
    return {**filled, **{key: document[key] for key in ("components", "storage") if key in document}}


def at_all_doors(http: Any, document: Document) -> dict[str, Said]:
    return {
        "validate": said(http.post("/api/v1/validate", json={"application": document})),
        "plan": said(http.post("/api/v1/plan", json={"application": document})),
        "submission": said(http.post("/api/v1/executions", json={"application": document})),
        "form": said(http.post("/api/v1/plan", json={"application": form(http, document)})),
    }


@pytest.mark.parametrize("capabilities", [ANYTHING, LOCAL, SWARM, PULLING])
def test_all_doors_say_the_same(api: Api, capabilities: BackendCapabilities) -> None:
    master = api.start_master(nodes=(NODE,))
    master.behaviours |= dict.fromkeys(("c", "more"), ServiceBehaviour(run_s=0.01))
    http = api.http(transport=InProcess(api.app))
    while not api.store.whole_platform().nodes:
        time.sleep(0.01)
    api.store.set_capabilities(capabilities, None, time.time(), None)
    seen = set()
    for case in [*map(application, WISHES.components(3)), *too_large(), *too_many()]:
        document = to_document(case)
        answers = at_all_doors(http, document)
        assert len(set(answers.values())) == 1, (case, answers)
        seen.add(answers["plan"])
    refused = [item for item in seen if item[0] == 422]
    doubted = [item for item in seen if item[2] and item[0] == 200]
    assert refused
    assert doubted
    if capabilities is not ANYTHING:
        assert any(item[1] for item in refused) == (capabilities is not PULLING)


def test_the_largest_node_is_named_and_by_how_much_it_is_too_small(api: Api) -> None:
    api.store.set_platform([NODE, Node("n2", Resources(2000, 1024 * MIB))], time.time(), None)
    core, elastic = (
        said(api.http().post("/api/v1/validate", json={"application": to_document(application)}))
        for application in too_large()
    )
    assert core[2][1] == "the largest node for it, n1, has 4 cores and 2 GiB: 2.5 cores and 952 MiB less than it needs"
    assert "elastic instance of component more" in elastic[2][0]
    assert "n1, has 4 cores" in elastic[2][0]


def test_a_finding_about_a_framework_points_into_the_users_document(api: Api) -> None:
    api.store.set_capabilities(BackendCapabilities(images=("other/*",)), None, time.time(), None)
    uses = [{"framework": "spark", "parameters": {}, "overrides": {"worker": {"image": "mine/spark"}}}]
    document = {
        "version": 4,
        "name": "one",
        "frameworks": uses,
        "components": [to_document(application(BASE))["components"][0]],
    }
    answer = api.http().post("/api/v1/validate", json={"application": document})
    pointers = {error["pointer"] for error in answer.json()["errors"]}
    assert "/frameworks/0/overrides/worker/image" in pointers
    assert "/frameworks/0" in pointers
    assert "/components/0/image" in pointers


NO_SERVICE = "this installation has no object-store service nosuch"
NO_CREDENTIAL = "input x: tenant red has no credential for the service zoe (store one: zoe storage credentials set zoe)"


@pytest.fixture
def with_store(postgres_url: str) -> Iterator[Api]:
    made = Api(postgres_url, storage_url="http://127.0.0.1:1", storage_services={"zoe": {"url": "http://swift/auth"}})
    yield made
    made.close()


def test_services_of_the_store_that_do_not_exist_and_credentials_that_are_not_stored_are_said(with_store: Api) -> None:
    with_store.start_master(nodes=(NODE,))
    http = with_store.http(transport=InProcess(with_store.app))
    while not with_store.store.whole_platform().nodes:
        time.sleep(0.01)

    def notes(uri: str, kind: str = "inputs", **more: Any) -> tuple[str, ...]:
        document = to_document(application(BASE)) | {"storage": {kind: [{"name": "x", "uri": uri, **more}]}}
        answers = at_all_doors(http, document)
        assert len(set(answers.values())) == 1, answers
        assert answers["plan"][0] == 200
        return answers["plan"][2]

    pushdown = {"pushdown": {"columns": ["id"]}}
    assert notes("swift2d://c.nosuch/x") == (
        f"/storage/inputs/0/uri: input x: {NO_SERVICE} (services of this installation: zoe)",
    )
    assert notes("swift2d://c.nosuch/x", "outputs")[0].startswith(f"/storage/outputs/0/uri: output x: {NO_SERVICE}")
    assert notes("swift2d://c.nosuch/x", **pushdown)[0] == f"input x is read plainly: {NO_SERVICE}"
    assert "no object-store service s3a" in notes("s3a://bucket/x")[0]
    assert notes("swift2d://c.zoe/x") == (f"/storage/inputs/0/uri: {NO_CREDENTIAL}",)
    with_store.client().set_storage_credential("zoe", CredentialRequest(user="red:ann", key="key"))
    assert notes("swift2d://c.zoe/x", **pushdown) == ()
    assert notes("file:///data/x") == ()
