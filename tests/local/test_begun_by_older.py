"""Services started by an older version: their supervisors continue, and the next version reads their files.

`supervisor_0.1.0.zip` is the supervisor of 0.1.0; its package was called `shim`.
"""

from __future__ import annotations

import json
import os
import pwd
import sys
import time
from pathlib import Path
from typing import Any

from tests.local.support import IS_ROOT, LocalWorld, component_python, server, shell, start_of, wait_until
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState, PortAddress
from zoe_master.backends.local.machine.hints import hint_name
from zoe_master.backends.local.supervisor import files

SUPERVISOR = Path(__file__).with_name("supervisor_0.1.0.zip")
RUN = f"import sys; sys.path.append({str(SUPERVISOR)!r}); from shim.main import main; main()"
SERVICE = "e.c.0.1"


class OldBackend:
    """Hands services over like version 0.1.0, in the directories of a world."""

    def __init__(self, world: LocalWorld) -> None:
        self._settings = world.settings
        world.backend.observe()  # the directories are the same
        world.close()

    def start(self, *argv: str, **changes: Any) -> Path:
        """Write the specification, and start the supervisor; its child is adopted by the tests' process."""
        directory = self.write(*argv, **changes)
        os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", RUN, str(directory)], {"PATH": os.defpath})
        return directory

    def write(self, *argv: str, **changes: Any) -> Path:
        """Make the service's directories, and write `start.json`."""
        directory = self._settings.state_dir / "services" / SERVICE
        directory.mkdir(mode=0o700)
        scratch, workspace = self._settings.scratch_dir / SERVICE, self._settings.workspaces_dir / "tenant"
        owner = pwd.getpwnam("nobody")
        for owned in (scratch, workspace):
            owned.mkdir(mode=0o700, exist_ok=True)
            if IS_ROOT:
                os.chown(owned, owner.pw_uid, owner.pw_gid)
        hint = hint_name(self._settings.state_dir.absolute())
        spec = {
            "service_id": SERVICE,
            "execution_id": "e",
            "node": "node-1",
            "boot_id": files.boot_id(),
            "created_at_s": time.time(),
            "cause_id": "plan-1",
            "argv": list(argv),
            "environment": {
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "HOME": str(scratch),
                "TMPDIR": str(scratch),
                "ZOE_EXECUTION_ID": "e",
                "ZOE_BACKEND": hint,
                "ZOE_SERVICE_ID": SERVICE,
            },
            "work_dir": str(workspace),
            "make_work_dir": False,
            "scratch": str(scratch),
            "user": {"uid": owner.pw_uid, "gid": owner.pw_gid} if IS_ROOT else None,
            "memory_limit_bytes": 128 << 20,
            "cores_limit_milli": None,
            "cgroup": None,
            "ports": {},
            "probe": None,
            "stop_grace_s": 5.0,
            "output_bytes_max": 1 << 20,
            "hint": hint,
        }
        files.write_json(str(directory / "start.json"), {**spec, **changes})
        return directory


def listener(port: int) -> tuple[str, ...]:
    program = f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); print('up', flush=True)"
    return component_python(), "-I", "-S", "-c", f"{program}; open('lines', 'a').write('ran\\n'); time.sleep(1e6)"


def probe(port: int, timeout_s: float = 20.0) -> dict[str, Any]:
    """As 0.1.0 wrote it: without the port's name."""
    return {"kind": "tcp", "port": port, "path": "/", "interval_s": 0.1, "timeout_s": timeout_s}


def until_state(world: LocalWorld, directory: Path, state: str) -> None:
    wait_until(lambda: (files.read_json(str(directory / "status.json")) or {}).get("state") == state, world.waker)


def lines(world: LocalWorld) -> str:
    return (world.settings.workspaces_dir / "tenant" / "lines").read_text()


def test_running_service_is_adopted_with_its_port_and_output(world: LocalWorld) -> None:
    old, port = OldBackend(world), 18_432
    (world.settings.state_dir / "ports" / "e.json").write_text(json.dumps({SERVICE: {"main": port}}))
    directory = old.start(*listener(port), ports={"main": port}, probe=probe(port))
    until_state(world, directory, "ready")
    seen = world.seen(SERVICE)
    assert seen is not None
    assert (seen.state, seen.node, seen.execution_id) == (ObservedState.READY, "node-1", "e")
    assert seen.started_at_s is not None
    assert world.backend.address(SERVICE, "main") == PortAddress("127.0.0.1", port)
    assert world.output(SERVICE) == "up\n"
    world.until(lambda: [usage.service_id for usage in world.backend.usage()] == [SERVICE])
    world.backend.start(start_of(server(), SERVICE))
    world.backend.stop([SERVICE])
    assert world.ended(SERVICE).cause is Cause.STOPPED
    assert lines(world) == "ran\n"


def test_an_end_is_seen_when_it_happens(world: LocalWorld) -> None:
    directory = OldBackend(world).start(
        "/bin/sh", "-c", "echo ran >> lines; until test -e go; do sleep 0.02; done; exit 9"
    )
    until_state(world, directory, "ready")
    assert world.state(SERVICE) is ObservedState.READY
    (world.settings.workspaces_dir / "tenant" / "go").touch()
    ended = world.ended(SERVICE)
    assert (ended.exit_code, ended.cause) == (9, Cause.EXITED)
    assert lines(world) == "ran\n"


def test_an_end_during_the_upgrade_is_found(world: LocalWorld) -> None:
    directory = OldBackend(world).start("/bin/sh", "-c", "echo last words; exit 7")
    until_state(world, directory, "ended")
    ended = world.ended(SERVICE)
    assert (ended.exit_code, ended.cause) == (7, Cause.EXITED)
    assert world.output(SERVICE) == "last words\n"


def test_service_handed_over_but_not_begun_is_begun_once(world: LocalWorld) -> None:
    """The new supervisor reads what the old version wrote."""
    OldBackend(world).write("/bin/sh", "-c", "echo ran >> lines; exit 3")
    assert world.ended(SERVICE).exit_code == 3
    world.backend.start(start_of(shell("echo again >> {workspace}/lines"), SERVICE))
    assert lines(world) == "ran\n"


def test_a_probe_without_its_ports_name_names_the_number(world: LocalWorld) -> None:
    port = 18_433
    OldBackend(world).write("/bin/sleep", "1000", ports={"main": port}, probe=probe(port, timeout_s=0.5))
    ended = world.ended(SERVICE)
    assert ended.cause is Cause.NEVER_READY
    assert f"port {port} did not answer" in ended.message


def test_output_that_the_old_version_kept_is_read(world: LocalWorld) -> None:
    directory = OldBackend(world).start("/bin/sh", "-c", "echo kept")
    until_state(world, directory, "ended")
    lock = files.take_lock(str(directory / "lock"), timeout_s=60)
    assert lock is not None
    os.close(lock)
    kept = world.settings.state_dir / "kept" / SERVICE
    for name in ("start.json", "usage.json", "stop", "shim.err", "lock"):
        (directory / name).unlink(missing_ok=True)
    directory.rename(kept)
    chunk = world.backend.logs(SERVICE, 0, 100)
    assert (chunk.data, chunk.complete) == (b"kept\n", True)
    world.backend.start(start_of(shell("echo again"), SERVICE))
    assert world.seen(SERVICE) is None
