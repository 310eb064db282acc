"""Access of a component: allowed and forbidden."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.local.support import ANN, BOB, IS_ROOT, LocalWorld, component, needs_root, python, shell, start_of
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.supervisor import processes


def lines(world: LocalWorld, service: str) -> list[str]:
    world.ended(service)
    return world.output(service).splitlines()


def test_the_environment_holds_nothing_of_the_master(world: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_DATABASE_URL", "secret")
    service = world.start(shell("env | cut -d= -f1 | sort", environment=(("MINE", "x"),)))
    names = set(lines(world, service)) - {"PWD", "_", "SHLVL", "OLDPWD"}
    assert names == {"HOME", "LANG", "MINE", "PATH", "TMPDIR", "ZOE_BACKEND", "ZOE_EXECUTION_ID", "ZOE_SERVICE_ID"}


def test_no_descriptor_of_the_master_is_inherited(world: LocalWorld) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        service = world.start(python("import os; print(sorted(os.listdir('/proc/self/fd')))"))
        assert lines(world, service) == ["['0', '1', '2', '3']"]  # 3 is the listing itself
    finally:
        os.close(read)
        os.close(write)


def test_signals_are_as_a_program_expects_them(world: LocalWorld) -> None:
    """Nothing is ignored or blocked, although supervisors and Python ignore some."""
    ignored, blocked = lines(world, world.start(shell("grep -E 'SigIgn|SigBlk' /proc/self/status | sort -r")))
    standard = (1 << 31) - 1
    assert ignored.startswith("SigIgn")
    assert int(ignored.split()[1], 16) & standard == 0
    assert int(blocked.split()[1], 16) & standard == 0


def test_it_leads_a_group_and_session_of_its_own_and_dumps_no_core(world: LocalWorld) -> None:
    program = """
import os, resource
print(os.getpgid(0) == os.getpid() == os.getsid(0), resource.getrlimit(resource.RLIMIT_CORE), oct(os.umask(0)))
print(os.read(0, 1), [line.split()[1] for line in open('/proc/self/status') if line.startswith('NoNewPrivs')])
"""
    umask = "0o2" if IS_ROOT else "0o22"
    assert lines(world, world.start(python(program))) == [f"True (0, 0) {umask}", "b'' ['1']"]


@needs_root
def test_it_runs_as_the_number_of_its_owner_which_has_a_name(world: LocalWorld) -> None:
    names = lines(world, world.start(shell("id -u; id -un; id -G; id -gn; tail -1 /etc/passwd")))
    home = f"{world.settings.scratch_dir}/e.c.0.1"
    assert names == [str(ANN.uid), "ann", str(ANN.gid), "zoe-tenant", f"ann:x:{ANN.uid}:{ANN.gid}::{home}:/bin/sh"]
    assert "ann:" not in Path("/etc/passwd").read_text()


@needs_root
def test_one_user_for_all_is_a_setting() -> None:
    world = LocalWorld(run_as_user="nobody")
    try:
        assert lines(world, world.start(shell("id -un; id -G; umask"))) == ["nobody", "65534", "0022"]
    finally:
        world.finish()


@needs_root
def test_without_a_number_it_does_not_start(world: LocalWorld) -> None:
    world.backend.start(start_of(shell("true"), system_user=None))
    found = world.ended("e.c.0.1")
    assert found.cause is Cause.START_FAILED
    assert "user_ids_last" in found.message


@needs_root
def test_another_user_of_the_tenant_reads_nothing_of_it(world: LocalWorld) -> None:
    """Workspace, scratch, environment, descriptors, memory and signals; the shared workspace is for both."""
    mine = """
echo mine > {workspace}/file; echo mine > {scratch}/file; echo ours > {shared}/file
chmod 644 {workspace}/file {scratch}/file; mkdir {shared}/below; touch {shared}/ready; exec sleep 1000
"""
    world.start(shell(mine, environment=(("SECRET", "mine"),)))
    shared = world.settings.workspaces_dir / "tenant" / "shared"
    world.until((shared / "ready").exists)
    pid = next(iter(processes_of(ANN.uid)))
    scratch, workspace = world.settings.scratch_dir / "e.c.0.1", world.settings.workspaces_dir / "tenant" / "ann"
    refused = (
        f"cat {workspace}/file",
        f"ls {workspace}",
        f"touch {workspace}/file",
        f"cat {scratch}/file",
        f"ls {scratch}",
        f"cat /proc/{pid}/environ",
        f"ls /proc/{pid}/fd/",
        f"ls /proc/{pid}/cwd/",
        f"cat /proc/{pid}/mem",
        f"kill -9 {pid}",
        f"mv {workspace} {workspace}.mine",
        f"mkdir {workspace.parent}/mine",
        f"mkdir {world.settings.scratch_dir}/mine",
    )
    script = "; ".join(refused) + f"; cat {shared}/file; touch {shared}/below/his && echo written; exit 7"
    world.backend.start(start_of(shell(script), "f.c.0.1", user="bob", system_user=BOB))
    assert world.ended("f.c.0.1").exit_code == 7
    printed = world.output("f.c.0.1")
    assert printed.lower().count("denied") + printed.lower().count("not permitted") == len(refused), printed
    assert printed.splitlines()[-2:] == ["ours", "written"]
    assert "mine" not in [line for line in printed.splitlines() if "/" not in line]
    assert world.state("e.c.0.1") is ObservedState.READY


def processes_of(uid: int) -> list[int]:
    """Return the processes of a system user."""
    return [pid for pid in processes.all_processes() if owner_of(pid) == uid]


def owner_of(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except FileNotFoundError:
        return None


@needs_root
def test_it_reads_no_secrets_and_writes_no_state(world: LocalWorld) -> None:
    secrets = world.base / "secrets"
    secrets.mkdir(mode=0o700)
    (secrets / "token").write_text("the token")
    state = world.base / "state"
    own = f"{state}/services/e.c.0.1"
    attempts = (
        f"cat {secrets}/token",
        f"ls {state}",
        f"cat {own}/start.json",
        f"echo x > {own}/status.json",
        "cat /proc/$PPID/environ",
        "kill -9 $PPID",
        f"kill -9 {os.getpid()}",
        f"cat /proc/{os.getpid()}/environ",
        f"mkdir {world.base}/mine",
    )
    script = "; ".join(attempts) + "; exit 7"
    service = world.start(shell(script))
    found = world.ended(service)
    assert (found.exit_code, found.cause) == (7, Cause.EXITED)
    printed = world.output(service)
    assert "the token" not in printed
    assert printed.lower().count("denied") + printed.lower().count("not permitted") == len(attempts)


@needs_root
def test_it_cannot_become_root_again(world: LocalWorld) -> None:
    program = """
import os
for change in (os.setuid, os.setgid, os.seteuid):
    try: change(0)
    except PermissionError: print("no")
"""
    assert lines(world, world.start(python(program))) == ["no"] * 3


def test_a_program_that_is_not_there_is_a_failed_start(world: LocalWorld) -> None:
    service = world.start(component("shell", ("no-such-program", "x")))
    found = world.ended(service)
    assert (found.cause, found.exit_code, found.started_at_s) == (Cause.START_FAILED, None, None)
    assert "no-such-program" in found.message
    assert "No such file" in found.message


def test_a_signal_that_ends_it_is_told(world: LocalWorld) -> None:
    service = world.start(shell("kill -SEGV $$"))
    found = world.ended(service)
    assert (found.exit_code, found.cause) == (128 + signal.SIGSEGV, Cause.EXITED)
    assert "SIGSEGV" in found.message
