"""Impossible starts according to the checks fail on real engines, and no other start fails for these reasons."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from tests.support.long import LONG
from tests.support.possible import BASE, TOO_LITTLE, Wishes, application
from tests.support.swarm import need_swarm
from tests.support.swarm_backend import SwarmHarness
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Finding, Target
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState

TARGETS = (
    "/sbin",
    "/sbin/",
    "//sbin/docker-init",
    "/sbin/mine",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
    "/etc/mine",
    "/workspace",
    "/workspace/mine",
    "/tmp",
    "/run/mine",
    "/bin",
    "/.dockerenv",
    "/.dockerenv/mine",
    "/etc/hosts/mine",
    "/sbin/docker-init/mine",
    "/run/secrets/zoe-execution",
    "/run/secrets/zoe-execution/mine",
    "/run/secrets/mine",
)
IMAGES = ("shell", "unheard", GATEWAY_IMAGE, "shell:", "shell@latest", "Shell/x")


@pytest.fixture(params=[pytest.param("with workspaces", marks=needs_time), "without"])
def world(swarm: Cluster, request: pytest.FixtureRequest) -> Iterator[SwarmHarness]:
    made = SwarmHarness(swarm, images=("shell", "python", GATEWAY_IMAGE, "Shell/x"))
    made.base.chmod(0o755)
    for directory in ("allowed/inner", "outside", "workspaces/tenant"):
        (made.base / directory).mkdir(parents=True)
    workspaces = made.base / "workspaces" if request.param == "with workspaces" else None
    made.settings = replace(made.settings, host_paths_allowed=(made.base / "allowed",), workspaces_dir=workspaces)
    yield made
    api = made.cluster.host("node-1").api
    made.backend.forget([observation.service_id for observation in made.backend.observe()])
    made.until(lambda: not api.containers(all=True))
    for volume in api.volumes()["Volumes"] or []:
        api.remove_volume(volume["Name"])
    made.finish()


def told(harness: SwarmHarness, component: object) -> list[Finding]:
    platform = Platform(tuple(harness.backend.nodes()), harness.backend.capabilities())
    return findings(application(component), Target(platform))  # type: ignore[arg-type]


def test_impossible_starts_are_found_by_the_checks(world: SwarmHarness) -> None:
    allowed = world.base / "allowed"
    paths = [allowed, allowed / "inner", world.base / "outside", f"{allowed}/../outside"]
    wishes = list(Wishes(IMAGES, [str(path) for path in paths], TARGETS, TOO_LITTLE).components())
    whole = LONG or world.settings.workspaces_dir is not None
    if not whole:  # a container for each of the others would show the same again
        wishes = [wish for wish in wishes if "workspace" in repr(wish)]
    asked = {f"e{number}.c.0.1": component for number, component in enumerate(wishes)}
    found = {service: told(world, component) for service, component in asked.items()}
    for service, component in asked.items():
        world.start(component, service)
    for service, component in asked.items():
        ended = world.reach(service, ObservedState.ENDED)
        if ended.cause is Cause.ENGINE_FAULT:  # all begin at once on the same new volume; the master would try again
            again = service.removesuffix("1") + "2"
            world.start(component, again)
            ended = world.reach(again, ObservedState.ENDED)
        refused = ended.cause in (Cause.START_FAILED, Cause.IMAGE_UNAVAILABLE)
        assert refused == bool(found[service]), (component, found[service], ended)
    codes = {finding.code for findings in found.values() for finding in findings}
    if not whole:
        assert "no_workspaces" in codes
        assert any(not findings for findings in found.values())
        return
    places = {"no_workspaces"} if world.settings.workspaces_dir is None else set()
    expected = {"image_not_allowed", "no_command", "host_path_not_allowed", "mount_point_taken"}
    less = {"image_name_invalid", "memory_too_small", "cores_limit_too_small"}
    assert codes == expected | less | places
    assert sum(not findings for findings in found.values()) > 5


def test_a_limit_above_the_cores_of_a_node_starts_there(harness: SwarmHarness) -> None:
    """An engine refuses one, though it limits nothing."""
    component = replace(BASE, cores_limit_milli=64_000)
    (doubt,) = told(harness, component)
    assert (doubt.code, doubt.certain) == ("cores_limit_above_nodes", False)
    harness.start(component)
    assert harness.reach("e.c.0.1", ObservedState.ENDED).exit_code == 0


@pytest.fixture
def narrow() -> Iterator[SwarmHarness]:
    """One engine, where the network of an execution has addresses for four services."""
    need_swarm()
    cluster = Cluster(("node-1",), subnet_size=29)
    made = SwarmHarness(cluster)
    yield made
    made.finish()
    cluster.remove()


def test_as_many_services_start_as_the_network_has_addresses_for(narrow: SwarmHarness) -> None:
    narrow.until(lambda: narrow.backend.capabilities().network_addresses is not None)
    platform = Platform(tuple(narrow.backend.nodes()), narrow.backend.capabilities())
    many = replace(BASE, command=("sleep", "1000"), total_count=4)
    assert not findings(application(many), Target(platform))
    (found,) = findings(application(replace(many, total_count=5)), Target(platform))
    assert (found.code, found.certain) == ("network_too_small", True)
    services = [narrow.start(many, f"e.c.{index}.1") for index in range(4)]
    for service in services:
        narrow.reach(service, ObservedState.READY)


def foreign_image(name: str) -> bytes:
    """An image for another machine, as `docker save` writes it: no kernel of this one begins its only program."""
    numbers = (2, 183, 1, 0, 64, 0, 0, 64, 56, 0, 0, 0, 0)  # an executable for aarch64
    program = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9) + struct.pack("<HHIQQQIHHHHHH", *numbers)
    layer = packed({"program": program})
    digest = f"sha256:{hashlib.sha256(layer).hexdigest()}"
    config = {"architecture": "arm64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [digest]}}
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    files = {"config.json": json.dumps(config).encode(), "manifest.json": json.dumps(manifest).encode()}
    return packed({**files, "layer.tar": layer})


def packed(files: Mapping[str, bytes]) -> bytes:
    """A tar archive."""
    archived = io.BytesIO()
    with tarfile.open(fileobj=archived, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return archived.getvalue()


def test_images_that_nodes_lack_or_cannot_run_are_told_as_doubts(swarm: Cluster) -> None:
    harness = SwarmHarness(swarm, images=("shell", "lacking", "test/foreign"))
    api = swarm.host("node-1").api
    try:
        list(api.load_image(foreign_image("test/foreign:latest")))
        harness.until(lambda: "test/foreign:latest" in (harness.backend.capabilities().images_there or {}))
        wanted = {"lacking": "image_absent", "test/foreign": "image_of_other_platform"}
        for number, (image, code) in enumerate(wanted.items()):
            component = replace(BASE, image=image, command=("/program",))
            assert [(finding.code, finding.certain) for finding in told(harness, component)] == [(code, False)]
            service = harness.start(component, f"e{number}.c.0.1")
            ended = harness.reach(service, ObservedState.ENDED)
            assert ended.exit_code != 0, ended
    finally:
        harness.finish()
        api.remove_image("test/foreign", force=True)
