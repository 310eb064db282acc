"""What a component gets, and what it must not reach."""

from __future__ import annotations

import os
import signal

import pytest

from tests.local.support import LocalWorld, component, needs_root, python, shell
from zoe_lib.domain.execution import Cause


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
    assert lines(world, world.start(python(program))) == ["True (0, 0) 0o22", "b'' ['1']"]


@needs_root
def test_it_runs_as_nobody_without_groups(world: LocalWorld) -> None:
    assert lines(world, world.start(shell("id -un; id -G"))) == ["nobody", "65534"]


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
