"""Applications of the catalogue on a real swarm: the tenant's user and workspace, and a long-lived service."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection

import docker

from tests.support.images import provide
from tests.support.swarm_installation import LONG, OWNER, Installation, document, needs_time, service_of
from tests.support.waiting import until
from tests.swarm.cluster import Cluster
from zoe_embedded.demos.data import Dataset
from zoe_lib.domain.executions.execution import ExecutionState, ServiceState

ROWS = 1_000_000 if LONG else 100_000


def test_a_batch_application_runs_to_its_end(installation: Installation) -> None:
    ended = installation.succeed(document("batch"), 60)
    assert installation.output(ended, "main") == "hello from main-0\n"


@needs_time
def test_the_energy_report_is_right_and_the_tenants(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/spark")
    data = Dataset(installation.workspace / "energy-report", OWNER, rows=ROWS)
    data.make(lambda _done, _total: None)
    started = installation.ready(document("energy-report"), 120)
    running = installation.containers(started)
    assert len(running) >= 2, "on several nodes"
    for container in (container for containers in running.values() for container in containers):
        assert container["Config"]["User"] == f"{OWNER.uid}:{OWNER.gid}"
        mounted = {mount["Destination"]: mount["Source"] for mount in container["Mounts"]}
        assert mounted["/workspace"] == str(installation.workspace)
    for host in swarm.hosts:
        for container in running.get(host.name, ()):
            _await_archive(host.api, container["Id"])
    ended = installation.until(started.id, lambda execution: execution.terminal, 240)
    assert ended.state is ExecutionState.SUCCEEDED, installation.story(ended)
    assert data.result() == data.expected_rows()
    written = (data.directory / "result" / "result.json").stat()
    assert (written.st_uid, written.st_gid) == (OWNER.uid, OWNER.gid)


def _await_archive(api: docker.APIClient, container: str) -> None:
    """A JVM maps the archive of Spark's classes only if its class path fits it."""
    look = ["sh", "-c", "grep -l /opt/zoe-java/home/spark.jsa /proc/[0-9]*/maps 2> /dev/null"]
    until(lambda: api.exec_start(api.exec_create(container, look)))


def test_a_service_stays_while_masters_come_and_go(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/python")
    (installation.workspace / "page.txt").write_text("found")
    ready = installation.ready(document("web-server"), 60)
    before = service_of(ready, "server")
    for _ in range(2):
        assert page(installation, ready.id) == b"found"
        installation.restart_master()
        installation.master.tick()
        after = service_of(installation.store.execution(ready.id), "server")
        assert (after.id, after.backend_id, after.state) == (before.id, before.backend_id, ServiceState.READY)
    assert page(installation, ready.id) == b"found"
    ended = installation.end(ready.id)
    assert ended.state is ExecutionState.CANCELLED, installation.story(ended)
    assert "GET /page.txt" in installation.output(ended, "server")
    assert installation.containers(ended) == {}


def page(installation: Installation, execution_id: str) -> bytes:
    """What the server says."""
    at = installation.address(installation.store.execution(execution_id), "server", "web")
    with closing(HTTPConnection(at.host, at.port, timeout=10)) as connection:
        connection.request("GET", "/page.txt", headers=dict(at.headers))
        return connection.getresponse().read()
