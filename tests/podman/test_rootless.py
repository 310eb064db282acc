"""What containers get from the Podman of a user who is not root."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.docker.one_engine import NODE
from tests.local.support import probe
from tests.podman.rootless_engine import UID, RootlessEngine
from tests.support.docker_backend import DockerHarness
from tests.support.needs import need_program
from tests.support.swarm import need_swarm
from tests.support.swarm_backend import peers, small
from zoe_lib.domain.applications.application import ComponentSecret, Port
from zoe_master.backends.base import ObservedState, ServiceSecrets, SystemUser
from zoe_master.backends.docker.connection import examine_engine
from zoe_master.backends.docker.finding import PODMAN, EngineAddress

OWN = SystemUser(UID, UID)


@pytest.fixture(scope="module")
def rootless() -> Iterator[RootlessEngine]:
    need_swarm()
    for program in ("podman", "/usr/lib/podman/netavark", "/usr/lib/podman/aardvark-dns", "slirp4netns", "newuidmap"):
        need_program(program)
    made = RootlessEngine()
    yield made
    made.remove()


def test_its_user_is_root_inside_and_reaches_ports_at_loopback(
    rootless: RootlessEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: UID)
    host = examine_engine(EngineAddress(rootless.url, PODMAN))
    monkeypatch.undo()
    assert host.rootless
    harness = DockerHarness(rootless, kind=PODMAN, rootless=True)
    try:
        given = {"system_user": OWN, "secrets": ServiceSecrets({"password": "hunter2"})}
        uses = (ComponentSecret("password", file="word"),)
        script = "id -u; stat -c %a {secrets}/word; cat {secrets}/word; echo kept > {workspace}/kept"
        harness.start(small(script, secrets=uses), **given)
        harness.reach("e.c.0.1", ObservedState.ENDED)
        assert harness.output("e.c.0.1") == "0\n400\nhunter2"
        kept = harness.base / "workspaces" / "tenant" / "ann" / "kept"
        assert (kept.read_text(), kept.stat().st_uid) == ("kept\n", UID)
        page = "mkdir -p /tmp/w; echo hello > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w"
        serving = small(page, name="web", ports=(Port("main", 8080),), readiness=probe())
        harness.start(serving, "f.web.0.1", system_user=OWN, peers=peers("f.web.0.1", node=NODE))
        harness.reach("f.web.0.1", ObservedState.READY)
        found = harness.backend.address("f.web.0.1", "main")
        url = f"http://{found.host}:{found.port}/"
        assert rootless.machine.inside("busybox", "wget", "-q", "-O", "-", url) == b"hello\n"
    finally:
        harness.finish()
