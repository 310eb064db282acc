"""Secrets of local services: files and variables that only the service's user can read."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.local.support import ANN, BOB, LocalWorld, needs_root, shell, start_of
from zoe_lib.domain.applications.application import ComponentSecret
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState, ServiceSecrets

VALUE = "a-value-that-nobody-may-see\nwith two lines"
GIVEN = ServiceSecrets({"db": VALUE, "token": VALUE})
ASKED = (ComponentSecret("db", "db.txt"), ComponentSecret("token", variable="TOKEN"))


def run(world: LocalWorld, script: str, secrets: ServiceSecrets = GIVEN, **changes: object) -> str:
    world.backend.start(start_of(shell(script, secrets=ASKED), secrets=secrets, **changes))
    return "e.c.0.1"


def test_a_service_gets_its_secrets_as_file_and_variable(world: LocalWorld) -> None:
    service = run(world, 'cat {secrets}/db.txt; echo; echo "$TOKEN"; stat -c "%a %u" {secrets}/*; id -u')
    assert world.until_state(service, ObservedState.ENDED).exit_code == 0
    *values, facts, user = world.backend.logs(service, 0, 10_000).data.decode().splitlines()
    assert "\n".join(values) == f"{VALUE}\n{VALUE}"
    assert facts == f"400 {user}"


@needs_root
def test_value_of_a_secret_is_only_in_its_own_files(world: LocalWorld) -> None:
    service = run(world, 'exec sh -c "trap exit TERM; echo up; while :; do sleep 0.1; done"')
    world.until(lambda: b"up" in world.backend.logs(service, 0, 100).data)
    known = VALUE.encode()
    for path in world.settings.state_dir.rglob("*"):
        assert not path.is_file() or known not in path.read_bytes(), path
    scratch = world.settings.scratch_dir / service
    for path in (scratch / "zoe-secrets").iterdir():
        assert (path.stat().st_mode & 0o777, path.stat().st_uid) == (0o400, ANN.uid)
    having = [int(p.parent.name) for p in Path("/proc").glob("[0-9]*/environ") if known in read(p)]
    assert having
    assert {Path(f"/proc/{pid}").stat().st_uid for pid in having} == {ANN.uid}
    files = [f"/proc/{pid}/environ" for pid in having]
    command = ["setpriv", f"--reuid={BOB.uid}", f"--regid={BOB.gid}", "--clear-groups", "cat"]
    stolen = subprocess.run(
        [*command, *files, str(scratch / "zoe-secrets" / "db.txt")], capture_output=True, check=False
    )
    assert known not in stolen.stdout
    said = stolen.stderr.splitlines()
    assert len(said) == len(files) + 1
    assert said[-1].endswith(b"db.txt: Permission denied")
    assert all(line.endswith((b": Permission denied", b": No such file or directory")) for line in said)  # or it ended
    world.backend.stop([service])
    world.until_state(service, ObservedState.ENDED)
    world.until(lambda: not scratch.exists())


def test_a_secret_that_cannot_be_had_is_named(world: LocalWorld) -> None:
    service = run(world, "true", ServiceSecrets(refusal="neither ann nor tenant red has the secret db"))
    ended = world.until_state(service, ObservedState.ENDED)
    assert ended.cause is Cause.START_FAILED
    assert "component c: neither ann nor tenant red has the secret db" in ended.message


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
