"""Output is kept within its bound, at absolute offsets, whatever a component prints and wherever the disk ends."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.support import MIB, LocalWorld, python, shell
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.services import outputs

LINE_BYTES = 12  # what %011d and a newline make
ENDLESS = """
import os
line = 0
while True:
    os.write(1, b"".join(b"%011d\\n" % n for n in range(line, line + 1000)))
    line += 1000
"""
BOUND_BYTES = 64 * 1024


@pytest.fixture
def small() -> Iterator[LocalWorld]:
    made = LocalWorld(output_bytes_max=BOUND_BYTES)
    yield made
    made.finish()


def kept_bytes(world: LocalWorld, service: str) -> int:
    directory = world.base / "state" / "services" / service / "output"
    total = 0
    for path in directory.iterdir() if directory.is_dir() else ():
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def check_numbers(data: bytes, offset: int) -> None:
    """Every whole line says where it is."""
    first = -(-offset // LINE_BYTES)
    body = data[first * LINE_BYTES - offset :]
    for number, line in enumerate(body.splitlines(keepends=True), first):
        if line.endswith(b"\n"):
            assert int(line) == number


def test_endless_output_stays_within_its_bound_and_keeps_its_offsets(small: LocalWorld) -> None:
    service = small.start(python(ENDLESS))
    followed, dropped, rounds, next_offset = 0, 0, 0, 0
    while next_offset < 8 * MIB:
        chunk = small.backend.logs(service, next_offset, 10_000)
        assert chunk.offset == next_offset + chunk.dropped_bytes
        assert chunk.next_offset == chunk.offset + len(chunk.data)
        check_numbers(chunk.data, chunk.offset)
        followed, dropped = followed + len(chunk.data), dropped + chunk.dropped_bytes
        next_offset, rounds = chunk.next_offset, rounds + 1
        assert kept_bytes(small, service) <= BOUND_BYTES
    assert followed + dropped == next_offset
    assert dropped > 0
    small.backend.stop([service])
    small.ended(service)
    head = small.backend.logs(service, 0, 1000)
    assert (head.offset, head.data[:24]) == (0, b"00000000000\n00000000001\n")


def test_the_newest_is_kept_to_the_last_byte(small: LocalWorld) -> None:
    service = small.start(shell("i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done; echo the end"))
    small.ended(service)
    data, offset, complete = b"", 0, False
    while not complete:
        chunk = small.backend.logs(service, offset, 5000)
        data, offset, complete = data + chunk.data, chunk.next_offset, chunk.complete
    assert data.startswith(b"line-0\n")
    assert data.endswith(b"line-19999\nthe end\n")
    assert len(data) <= BOUND_BYTES


def test_output_and_errors_are_one_stream_in_order(world: LocalWorld) -> None:
    service = world.start(shell("echo 1; echo 2 >&2; echo 3"))
    world.ended(service)
    assert world.output(service) == "1\n2\n3\n"


def test_a_component_that_closes_its_output_goes_on(world: LocalWorld) -> None:
    service = world.start(shell("exec >&- 2>&-; sleep 0.1; exit 5"))
    assert world.ended(service).exit_code == 5


def test_output_is_followed_while_it_comes(world: LocalWorld) -> None:
    service = world.start(shell("echo first; while [ ! -e {scratch}/go ]; do sleep 0.02; done; echo second"))
    world.until(lambda: world.output(service) == "first\n")
    assert not world.backend.logs(service, 6, 100).complete
    (world.settings.scratch_dir / service / "go").touch()
    world.ended(service)
    chunk = world.backend.logs(service, 6, 100)
    assert (chunk.data, chunk.complete) == (b"second\n", True)


def test_output_that_is_moved_to_the_kept_while_it_is_read_is_whole(
    world: LocalWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = world.start(shell("echo all"))
    world.ended(service)
    pieces = outputs._pieces

    def pieces_after_the_move(directory: Path) -> list[tuple[int, int, Path]]:
        world.backend.forget([service])
        world.until(lambda: not directory.parent.is_dir())
        monkeypatch.undo()
        return pieces(directory)

    monkeypatch.setattr(outputs, "_pieces", pieces_after_the_move)
    chunk = world.backend.logs(service, 0, 100)
    assert (chunk.data, chunk.complete) == (b"all\n", True)


@pytest.fixture
def full_disk() -> Iterator[LocalWorld]:
    """A state directory on a file system of its own that has no room left but what a test frees."""
    made = LocalWorld(output_bytes_max=MIB)
    state = made.base / "state"
    state.mkdir(mode=0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(state)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        shutil.rmtree(made.base)
        pytest.skip("privilege: no small file system can be mounted")
    try:
        yield made
        (state / "filler").unlink(missing_ok=True)
        made.until(lambda: True)
        made.backend.stop([o.service_id for o in made.backend.observe()])
        made.until(lambda: all(o.state is ObservedState.ENDED for o in made.backend.observe()))
        made.backend.forget([o.service_id for o in made.backend.observe()])
        made.until(lambda: not made.traces())
    finally:
        made.close()
        subprocess.run(["umount", "--lazy", str(state)], check=True)
        made.finish()


def fill_up(directory: Path) -> None:
    with (directory / "filler").open("ab", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 1024)
        except OSError:
            return


def test_a_full_disk_drops_output_and_nothing_else(full_disk: LocalWorld) -> None:
    world = full_disk
    script = "echo before; while [ ! -e {workspace}/go ]; do echo x; sleep 0.02; done; echo after; exit 6"
    service = world.start(shell(script))
    world.until(lambda: "before" in world.output(service))
    fill_up(world.base / "state")
    size = len(world.output(service))
    record = world.backend._records[service]
    world.until(lambda: world.state(service) is ObservedState.READY)
    (world.settings.workspaces_dir / "tenant" / "ann" / "go").touch()
    supervisor = record.status["shim_pid"] if record.status else 0
    world.until(lambda: not has_children(supervisor))
    (world.base / "state" / "filler").unlink()
    found = world.ended(service)
    assert (found.exit_code, found.cause) == (6, Cause.EXITED)
    chunk = world.backend.logs(service, size, 10_000)
    assert chunk.complete


def has_children(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text().strip())
    except FileNotFoundError:
        return False


def test_a_component_that_fills_the_disk_with_output_runs_on(full_disk: LocalWorld) -> None:
    """The bound is larger than the disk: its own oldest output makes room for the newest and for the status."""
    world = full_disk
    world.backend.observe()
    with (world.base / "state" / "filler").open("wb") as file:
        file.write(b"x" * (MIB // 2))
    count = 60_000
    program = f"import os\nfor n in range({count}): os.write(1, b'%011d\\n' % n)\nraise SystemExit(8)"
    service = world.start(python(program))
    found = world.ended(service)
    assert found.exit_code == 8
    data, offset, complete = b"", 0, False
    while not complete:
        chunk = world.backend.logs(service, offset, 50_000)
        check_numbers(chunk.data, chunk.offset)
        data, offset, complete = data + chunk.data, chunk.next_offset, chunk.complete
    assert offset == count * LINE_BYTES
    assert len(data) < offset


def test_a_start_on_a_full_disk_says_so(full_disk: LocalWorld) -> None:
    world = full_disk
    world.backend.observe()
    fill_up(world.base / "state")
    service = world.start(shell("exit 0"))
    found = world.ended(service)
    assert found.cause is Cause.DISK_FULL
    assert os.strerror(28) in found.message
