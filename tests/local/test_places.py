"""Templates, directories and volumes as a component sees them."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.support import LocalWorld, component, needs_root, server, shell, start_of
from zoe_lib.domain.applications.application import Component, Port, Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.storage import InputRead
from zoe_master.backends.base import ObservedState, PeerService, ServiceStorage
from zoe_master.backends.local import Runtime


def printed(world: LocalWorld, service: str) -> list[str]:
    assert world.ended(service).exit_code == 0, world.output(service)
    return world.output(service).splitlines()


def failure(world: LocalWorld, component: Component) -> str:
    found = world.ended(world.start(component))
    assert (found.cause, found.exit_code) == (Cause.START_FAILED, None)
    return found.message


def test_every_template_is_filled(world: LocalWorld) -> None:
    script = "echo {host:self} {port:main} {index} {execution} {attempt} {user} '{{}}'; echo {scratch}; echo $PLACE"
    service = world.start(
        shell(script, ports=(Port("main", 80),), environment=(("PLACE", "{workspace}/x"),)), "e.c.2.1"
    )
    first, scratch, place = printed(world, service)
    port = world.backend.address(service, "main").port
    assert first == f"127.0.0.1 {port} 2 e 1 ann {{}}"
    assert scratch == str(world.settings.scratch_dir / service)
    assert place == str(world.settings.workspaces_dir / "tenant" / "ann" / "x")


def test_peers_agree_on_ports_whoever_starts_first(world: LocalWorld) -> None:
    peers = (
        PeerService("e.worker.1.1", "worker", 1, "node-2"),
        PeerService("e.worker.0.1", "worker", 0, "node-1"),
        PeerService("e.worker.2.1", "worker", 2, None),
        PeerService("e.main.0.1", "main", 0, "node-1"),
    )
    asking = shell("echo {host:main}:{port:main.main} {hosts:worker}")
    worker = start_of(replace(asking, name="worker"), "e.worker.0.1", peers=peers)
    world.backend.start(worker)
    [line] = printed(world, "e.worker.0.1")
    world.backend.start(start_of(replace(server(), name="main"), "e.main.0.1", peers=peers))
    world.until_state("e.main.0.1", ObservedState.READY)
    address = world.backend.address("e.main.0.1", "main")
    assert line == f"{address.host}:{address.port} 127.0.0.1,127.0.0.1"


def test_addresses_are_those_of_all_instances_that_have_a_node(world: LocalWorld) -> None:
    workers = [PeerService(f"e.worker.{index}.1", "worker", index, "n1") for index in range(2)]
    peers = (*workers, PeerService("e.worker.2.1", "worker", 2, None), PeerService("e.main.0.1", "main", 0, "n1"))
    asking = start_of(replace(shell("echo {addresses:worker.main}"), name="main"), "e.main.0.1", peers=peers)
    world.backend.start(asking)
    [line] = printed(world, "e.main.0.1")
    for peer in workers:
        world.backend.start(start_of(replace(server(), name="worker"), peer.service_id, peers=peers))
        world.until_state(peer.service_id, ObservedState.READY)
    assert line == ",".join(f"127.0.0.1:{world.backend.address(peer.service_id, 'main').port}" for peer in workers)


def test_a_new_attempt_gets_another_port(world: LocalWorld) -> None:
    world.start(server(), "e.c.0.1")
    world.start(server(), "e.c.0.2")
    world.until(lambda: all(world.state(s) is ObservedState.READY for s in ("e.c.0.1", "e.c.0.2")))
    assert world.backend.address("e.c.0.1", "main") != world.backend.address("e.c.0.2", "main")


@pytest.mark.parametrize(
    ("script", "word"),
    [("echo {host:other}", "no component other"), ("echo {nonsense}", "unknown template"), ("echo {", "single")],
)
def test_a_template_that_cannot_be_filled_is_a_failed_start(world: LocalWorld, script: str, word: str) -> None:
    assert word in failure(world, shell(script))


def test_the_runtime_gives_path_environment_and_command(world: LocalWorld) -> None:
    runtime = Runtime(("/opt/tools",), {"FLAVOUR": "sweet", "BOTH": "runtime"}, ("/bin/sh", "-c", "echo default"))
    world.settings = replace(world.settings, images={"tools": runtime, "shell": Runtime()})
    assert printed(world, world.start(component("tools:1.2", ()), "e.c.0.1")) == ["default"]
    asking = component("tools", ("sh", "-c", "echo $PATH $FLAVOUR $BOTH"), environment=(("BOTH", "component"),))
    [line] = printed(world, world.start(asking, "e.c.1.1"))
    assert line == "/opt/tools:/usr/local/bin:/usr/bin:/bin sweet component"


def test_each_directory_is_on_the_path_once(world: LocalWorld) -> None:
    runtime = Runtime(path=("/opt/tool/bin", "/usr/bin", "/bin"))
    world.settings = replace(world.settings, images={**world.settings.images, "tool": runtime})
    [line] = printed(world, world.start(component("tool", ("sh", "-c", "echo $PATH"))))
    assert line == "/opt/tool/bin:/usr/bin:/bin:/usr/local/bin"


def test_no_command_anywhere_is_a_failed_start(world: LocalWorld) -> None:
    assert "no command" in failure(world, component("shell", ()))


def test_scratch_is_private_and_goes_workspace_stays(world: LocalWorld) -> None:
    script = "echo $HOME; pwd; echo a > {scratch}/a; echo b > {workspace}/b; stat -c %a {scratch} {workspace}"
    service = world.start(shell(script))
    home, here, *modes = printed(world, service)
    assert home == here == str(world.settings.scratch_dir / service)
    assert modes == ["700", "700"]
    assert (world.settings.workspaces_dir / "tenant" / "ann" / "b").read_text() == "b\n"
    world.until(lambda: not (world.settings.scratch_dir / service).exists())


def test_a_named_volume_is_one_directory_per_tenant(world: LocalWorld) -> None:
    volume = Volume("/data", name="my-data")
    world.ended(world.start(shell("echo kept > $ZOE_VOLUME_MY_DATA/file", volumes=(volume,)), "e.c.0.1"))
    assert printed(world, world.start(shell("cat $ZOE_VOLUME_MY_DATA/file", volumes=(volume,)), "f.c.0.1")) == ["kept"]
    other = start_of(shell("ls $ZOE_VOLUME_MY_DATA", volumes=(volume,)), "g.c.0.1", tenant="other")
    world.backend.start(other)
    assert printed(world, "g.c.0.1") == []


def test_a_host_path_needs_the_admins_leave(world: LocalWorld) -> None:
    world.close()
    allowed, outside = world.base / "allowed", world.base / "outside"
    for directory in (allowed / "inner", outside):
        directory.mkdir(parents=True)
    (allowed / "inner" / "file").write_text("seen\n")
    (allowed / "way-out").symlink_to(outside)
    world.settings = replace(world.settings, host_paths_allowed=(allowed,))

    def reading(path: Path | str) -> Component:
        return shell("cat $ZOE_VOLUME_IN/file", volumes=(Volume("/in", host_path=str(path)),))

    assert printed(world, world.start(reading(allowed / "inner"), "e.c.0.1")) == ["seen"]
    hostile = (outside, allowed / "way-out", allowed / ".." / "outside", "/", "/etc", str(allowed) + "-not", "allowed")
    for number, path in enumerate(hostile):
        found = world.ended(world.start(reading(path), f"e.c.{number}.2"))
        assert found.cause is Cause.START_FAILED
        assert "allowed host paths" in found.message


@pytest.mark.parametrize(
    ("work_dir", "expected"),
    [
        ("sub/dir", "workspaces/tenant/ann/sub/dir"),
        ("{scratch}/deep", "scratch/e.c.0.1/deep"),
        ("{workspace}", "workspaces/tenant/ann"),
        ("{shared}/sub", "workspaces/tenant/shared/sub"),
        ("/data/inner", "volumes/tenant/data/inner"),
    ],
)
def test_the_working_directory_is_made_for_the_component(world: LocalWorld, work_dir: str, expected: str) -> None:
    service = world.start(shell("pwd; touch x", work_dir=work_dir, volumes=(Volume("/data", name="data"),)))
    assert printed(world, service) == [str(world.base / expected)]


@pytest.mark.parametrize(
    ("work_dir", "word"),
    [
        ("/opt/not/here", "does not exist on this machine"),
        ("/etc/passwd", "is not a directory on this machine"),
        ("../other", "is outside"),
        ("a/../../..", "is outside"),
    ],
)
def test_a_working_directory_that_is_not_here_is_a_failed_start(world: LocalWorld, work_dir: str, word: str) -> None:
    assert word in failure(world, shell("pwd", work_dir=work_dir))


@needs_root
def test_a_working_directory_is_never_made_as_root(world: LocalWorld) -> None:
    target = world.base / "root-only"
    target.mkdir(mode=0o755)
    world.ended(world.start(shell(f"ln -s {target} {{workspace}}/link"), "e.c.0.1"))
    found = world.ended(world.start(shell("pwd", work_dir="link/made"), "e.c.1.1"))
    assert found.cause is Cause.START_FAILED
    assert "denied" in found.message
    assert not any(target.iterdir())


@needs_root
def test_a_link_in_place_of_a_tenants_directory_is_refused(world: LocalWorld) -> None:
    world.backend.observe()
    (world.settings.workspaces_dir / "tenant").symlink_to(world.base / "state")
    assert "not a directory" in failure(world, shell("pwd"))
    assert (world.base / "state").stat().st_uid == 0


def test_state_is_for_zoe_alone(world: LocalWorld) -> None:
    world.backend.observe()
    assert (world.base / "state").stat().st_mode & 0o777 == 0o700
    for path in (world.settings.scratch_dir, world.settings.workspaces_dir, world.settings.volumes_dir):
        assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (os.geteuid(), 0o711)


@needs_root
def test_a_directory_that_a_killed_master_did_not_give_away_is_given_away(world: LocalWorld) -> None:
    world.backend.observe()
    (world.settings.workspaces_dir / "tenant").mkdir(mode=0o700)
    world.settings.volumes_dir.joinpath("tenant").mkdir(mode=0o755)
    service = world.start(shell("touch {workspace}/x"))
    assert world.ended(service).exit_code == 0
    assert world.settings.volumes_dir.joinpath("tenant").stat().st_uid == 0


def test_configuration_is_in_files_for_the_component_alone_and_goes_with_it(world: LocalWorld) -> None:
    access = ServiceStorage(
        {
            "meters": InputRead("meters", "file://{workspace}/x", why="plainly"),
            "view": InputRead("view", "swift2d://v.z/data", "v", ("a", "b")),
        },
        {"out": "swift2d://results.zoe/x"},
        {"core-site.xml": "a-key", "spark-defaults.conf": "spark.a b\n"},
    )
    script = (
        "echo {input:meters} {input:view} {columns:view}, {columns:meters}. {output:out}; "
        "cat $HADOOP_CONF_DIR/core-site.xml; echo; "
        "stat -c '%a %u' $SPARK_CONF_DIR/* $SPARK_CONF_DIR; id -u; echo $SPARK_CONF_DIR"
    )
    world.backend.start(replace(start_of(shell(script), "e.c.0.1"), storage=access))
    first, key, one, other, directory, user, path = printed(world, "e.c.0.1")
    workspace = world.settings.workspaces_dir / "tenant" / "ann"
    assert first == f"file://{workspace}/x swift2d://v.z/data a,b, . swift2d://results.zoe/x"
    assert key == "a-key"
    assert (one, other, directory) == (f"600 {user}", f"600 {user}", f"700 {user}")
    world.backend.forget(["e.c.0.1"])
    world.until(lambda: not Path(path).exists())
    assert not holding(world.settings.state_dir, b"a-key")


def holding(directory: Path, text: bytes) -> list[Path]:
    """Return files that contain the text, except output; files that vanish meanwhile do not count."""
    found = []
    for place, _, names in os.walk(directory):  # which passes by directories that are moved meanwhile
        for file in (Path(place, name) for name in names if Path(place).name != "output"):
            with suppress(FileNotFoundError):
                if file.is_file() and text in file.read_bytes():
                    found.append(file)
    return found


def test_the_secret_is_in_a_file_for_the_component_alone_and_goes_with_it(world: LocalWorld) -> None:
    script = "cat {secret_file}; echo; stat -c '%a %u' {secret_file}; id -u; env | grep -c s3cret; echo {secret_file}"
    world.backend.start(replace(start_of(shell(script), "e.c.0.1"), secret="s3cret"))
    secret, mode, user, in_environment, path = printed(world, "e.c.0.1")
    assert (secret, mode, in_environment) == ("s3cret", f"600 {user}", "0")
    world.backend.forget(["e.c.0.1"])
    world.until(lambda: not Path(path).exists())
    world.until(lambda: not holding(world.settings.state_dir, b"s3cret"))


def test_files_are_the_components_alone_and_go_with_it(world: LocalWorld) -> None:
    files = (("lib/text", "a\r\nä {x}"), ("program", "#!/bin/sh\necho ran\n"))
    script = "{files}/program; cat {files}/lib/text; echo; stat -c '%a %u' {files}/lib/text; id -u; echo {files}"
    world.backend.start(start_of(replace(shell(script), files=files), "e.c.0.1"))
    ran, *text, mode, user, path = printed(world, "e.c.0.1")
    assert (ran, text, mode) == ("ran", ["a", "ä {x}"], f"600 {user}")
    world.backend.forget(["e.c.0.1"])
    world.until(lambda: not Path(path).exists())
