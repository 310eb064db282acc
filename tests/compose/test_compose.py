"""PostgreSQL, master, API and Prometheus in containers, serving a swarm of three engines over TLS."""

from __future__ import annotations

import json
import re
import stat
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from tests.compose.conftest import ROOT, Deployment
from tests.support.waiting import until
from zoe_lib.domain.applications.roles import Role
from zoe_lib.domain.executions.execution import ExecutionState

SERVICES = {"postgres", "setup", "master", "api", "prometheus", "storage"}
# Panels that are empty while no execution waits, no tenant has bandwidth, and the store is unused.
EMPTY_AT_REST = {"Moved by executions", "Waiting, by reason", "Granted and achieved", "Missed"}
EMPTY_AT_REST |= {
    "CPU of filters and views",
    "Rules with metrics that hold",
    "Values of added metrics",
}
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboards" / "zoe.json"
BATCH = json.loads((ROOT / "app_descriptions" / "batch.json").read_text())


# In the container: each question from outside is a program that begins there, and there are hundreds until all is seen.
ASK = """
import json, sys, time
from urllib.parse import quote
from urllib.request import urlopen
def empty(expression):
    with urlopen("http://127.0.0.1:9090/api/v1/query?query=" + quote(expression)) as answer:
        return not json.load(answer)["data"]["result"]
awaited, give_up_s = sys.argv[1:], time.monotonic() + 20
while (awaited := [one for one in awaited if empty(one)]) and time.monotonic() < give_up_s:
    time.sleep(0.5)
print(json.dumps(awaited))
"""


def unanswered(deployment: Deployment, expressions: Sequence[str]) -> list[str]:
    """Those to which the running Prometheus has no answer within a while; it understands all."""
    code, output = deployment.execute("prometheus", ["python3", "-c", ASK, *expressions])
    assert code == 0, output
    return list(json.loads(output))


def test_all_become_healthy_and_the_first_token_signs_in(deployment: Deployment) -> None:
    states = {name: entry["State"] for name, entry in deployment.containers().items()}
    assert set(states) == SERVICES
    assert states.pop("setup")["ExitCode"] == 0
    assert {state["Health"]["Status"] for state in states.values()} == {"healthy"}
    # On a busy machine the API's first question may still be open, and the status says so without waiting for it.
    until(lambda: "leads" in deployment.zoe("status"), deployment.story)
    assert json.loads(deployment.zoe("nodes", "-o", "json"))["nodes"][2]["name"] == "node-3"


def test_the_master_is_promised_bandwidth_by_the_storage_controller(deployment: Deployment) -> None:
    until(lambda: "400 MB/s read, 200 MB/s write" in deployment.zoe("storage", "status"), deployment.story)
    assert "bandwidth" in deployment.zoe("storage", "controllers"), "the API asks it too"


def test_the_image_holds_the_web_ui_and_browsers_sign_in(deployment: Deployment) -> None:
    password = "a password for tests"
    with deployment.client() as client:
        client.admin.add_user("wes", password)
        client.admin.set_role("wes", "default", Role.USER)
    with httpx.Client(base_url=deployment.url, trust_env=False, timeout=30) as browser:
        for path in ("/", "/api/docs"):
            page = browser.get(path)
            assert page.headers["content-security-policy"].startswith("default-src 'self';")
            files = re.findall(r'(?:src|href)="(/[^"]+\.\w+)"', page.text)
            assert any(file.endswith(".js") for file in files), page.text
            assert {file: browser.get(file).status_code for file in files} == dict.fromkeys(files, 200)
        session = browser.post("/api/v1/session", json={"user": "wes", "password": password}).json()
        assert (session["user"], session["tenant"], session["role"]) == ("wes", "default", "user")
        assert browser.get("/api/v1/executions").status_code == 200
        submission, proof = {"application": BATCH}, {"X-CSRF-Token": session["csrf_token"]}
        assert browser.post("/api/v1/executions", json=submission).status_code == 403
        assert browser.post("/api/v1/executions", json=submission, headers=proof).status_code == 201
        assert browser.delete("/api/v1/session").status_code == 403
        assert browser.delete("/api/v1/session", headers=proof).status_code == 204
        assert browser.get("/api/v1/executions").status_code == 401


def test_the_catalogues_batch_runs_on_the_swarm(deployment: Deployment) -> None:
    name = deployment.zoe("run", "--wait", "-o", "name", "app_descriptions/batch.json").strip()
    shown = json.loads(deployment.zoe("show", name, "-o", "json"))
    assert shown["state"] == "succeeded"
    assert shown["services"][0]["node"].startswith("node-")
    until(lambda: "hello from main-0" in deployment.zoe("logs", name), deployment.story)


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_containers_are_bound(deployment: Deployment, service: str) -> None:
    found = deployment.containers()[service]
    host = found["HostConfig"]
    assert found["Config"]["User"].split(":")[0] not in ("", "0", "root")
    assert host["ReadonlyRootfs"]
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert not host["Privileged"]
    assert not [mount for mount in found["Mounts"] if mount["Source"].endswith(".sock")]
    secrets = [path.read_text().strip() for path in (deployment.site / "secrets").iterdir()]
    written = json.dumps([found["Config"]["Env"], found["Config"]["Cmd"], found["Config"]["Labels"]])
    assert [secret for secret in secrets if secret in written] == []


def test_the_api_can_neither_read_keys_of_engines_nor_write(deployment: Deployment) -> None:
    code, listed = deployment.execute("api", ["ls", "/run/secrets"])
    assert code == 0
    assert set(listed.split()) == {
        *("pgpass", "master.key", "api.key", "api.key_secret", "credentials.key", "storage_token")
    }
    assert deployment.execute("api", ["touch", "/opt/x"])[0] != 0
    assert deployment.execute("api", ["id", "-u"])[1].strip() != "0"
    assert "0000000000000000" in deployment.execute("api", ["grep", "CapBnd", "/proc/self/status"])[1]


def test_secrets_are_for_the_containers_user_only(deployment: Deployment) -> None:
    for path in (deployment.site / "secrets").iterdir():
        # Prometheus runs as another user; no other user can enter the directory.
        assert stat.S_IMODE(path.stat().st_mode) == (0o444 if path.name == "storage_metrics_token" else 0o400)
    assert stat.S_IMODE((deployment.site / "secrets").stat().st_mode) == 0o700


def test_prometheus_hears_master_api_and_store_and_understands_the_dashboard(deployment: Deployment) -> None:
    heard = [
        'count(sum by (job) (up{job=~"zoe-api|zoe-master|zoe-storage"}) == 1) == 3',
        "count(zoe_leader == 1) == 1",
        'count(zoe_node_usable_cores{node=~"node-.+"}) == 3',
    ]
    until(lambda: not unanswered(deployment, heard), lambda: unanswered(deployment, heard), deadline_s=120)
    asked = [
        (panel["title"], target["expr"])
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel.get("targets", [])
    ]
    with deployment.client() as client:
        # Others have ended, in the tests above.
        busy = {**BATCH, "components": [{**BATCH["components"][0], "command": ["sleep", "600"]}]}
        running = client.submit(busy)
        shown = [expression for title, expression in asked if title not in EMPTY_AT_REST]
        until(lambda: not unanswered(deployment, shown), lambda: unanswered(deployment, shown), deadline_s=120)
        assert not unanswered(deployment, [f"({expression}) or vector(1)" for _, expression in asked])
        client.cancel(running.id)
    code, output = deployment.execute("prometheus", ["promtool", "check", "config", "/etc/prometheus/prometheus.yml"])
    assert code == 0, output


def test_each_alert_fires_in_trouble_and_none_at_rest(deployment: Deployment) -> None:
    cases = b64encode(Path(__file__).with_name("alerts_test.yml").read_bytes()).decode()
    script = f"echo {cases} | base64 -d > /tmp/alerts_test.yml && promtool test rules /tmp/alerts_test.yml"
    code, output = deployment.execute("prometheus", ["sh", "-c", script])
    assert code == 0, output


def test_a_killed_master_comes_back_and_goes_on(deployment: Deployment) -> None:
    before = deployment.containers()["master"]
    with deployment.client() as client:
        application = {**BATCH, "components": [{**BATCH["components"][0], "command": ["sleep", "4"]}]}
        running = client.submit(application).id
        until(lambda: client.execution(running).state is ExecutionState.RUNNING, deployment.story)
        deployment.engine.inside("kill", "-KILL", str(before["State"]["Pid"]))
        later = client.submit(BATCH).id
        assert client.wait(later, 60).state is ExecutionState.SUCCEEDED
        ended = client.wait(running, 60)
        assert ended.state is ExecutionState.SUCCEEDED
        assert len(ended.services) == 1
    after = deployment.containers()["master"]
    assert after["Id"] == before["Id"]
    assert after["RestartCount"] == before["RestartCount"] + 1


def test_up_again_changes_nothing(deployment: Deployment) -> None:
    secrets = {path: path.read_bytes() for path in (deployment.site / "secrets").iterdir()}
    before = {name: entry["Id"] for name, entry in deployment.containers().items()}
    said = deployment.make("up")
    assert f"ZOE_TOKEN_FILE={deployment.token_file}" in said
    assert {path: path.read_bytes() for path in (deployment.site / "secrets").iterdir()} == secrets
    after = {name: entry["Id"] for name, entry in deployment.containers().items()}
    assert {name: after[name] for name in after if name != "setup"} == {
        name: before[name] for name in before if name != "setup"
    }


@pytest.mark.last
def test_down_leaves_only_data_and_then_nothing(deployment: Deployment) -> None:
    """Everything that it stops stays stopped."""
    deployment.zoe("run", "--wait", "app_descriptions/batch.json")
    ids = [load["id"] for load in json.loads(deployment.zoe("ls", "-o", "json"))["executions"]]
    assert ids
    deployment.make("down")
    left = deployment.things()
    assert not left["containers"] + left["networks"]
    assert left["volumes"]
    deployment.make("up")
    assert [load["id"] for load in json.loads(deployment.zoe("ls", "-o", "json"))["executions"]] == ids
    deployment.make("down", "--volumes")
    assert deployment.things() == {"containers": [], "networks": [], "volumes": []}
    assert Path(deployment.token_file).exists()
