"""Attach and detach a volume. Nothing is remembered: what is there is found by the volume's own files."""

from __future__ import annotations

import contextlib
import os
import signal
import time

from ..processes import start_ticks
from . import backing, mounts
from .backing import DATA, FORMATTED, MOUNT, RUN, SERVED, VolumeRefused
from .chain import FILE_PLUGIN, PID_FILE, RATE_FILE, client_command, disk_of, rate_text, server_command
from .programs import ProgramFailed, run, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..spec import VolumeSpec

START_S, END_S, BUSY_S = 20.0, 10.0, 10.0
_OPTIONS = "nosuid,nodev,noatime,errors=remount-ro"
_MODE = 0o700


def attach(volume: VolumeSpec, key: str, plugin: tuple[str, ...] = FILE_PLUGIN) -> None:
    """Serve, show and mount a volume; an earlier attachment is ended first. VolumeRefused, leaving nothing.

    Not to be called by a subreaper: the processes of the volume would become its children.
    """
    directory, epoch = volume["directory"], volume["epoch"]
    if not os.path.exists(f"{directory}/{DATA}"):
        raise VolumeRefused("its backing is missing on this machine")
    with backing.turn(directory):
        backing.enter_epoch(directory, epoch)
        _end_all(directory, busy_s=0.0)
        try:
            _serve(volume, key, plugin)
            _show(directory, epoch)
            _mount(volume)
        except (OSError, ProgramFailed, VolumeRefused) as error:
            _end_all(directory, busy_s=0.0)
            raise error if isinstance(error, VolumeRefused) else VolumeRefused(str(error)) from error


def detach(directory: str, epoch: int, busy_s: float = BUSY_S) -> bool:
    """End an attachment unless the volume has a newer one; return False if it had to be forced, since the mount was in
    use: then data that was not flushed is lost.
    """
    if not os.path.isdir(directory):
        return True
    with backing.turn(directory):
        return backing.read_epoch(directory) > epoch or _end_all(directory, busy_s)


def processes_of(directory: str) -> set[tuple[int, int | None]]:
    """Return server and client of a volume, with the clock ticks at which they began."""
    return {(pid, start_ticks(pid)) for pid in holders(directory) | clients(directory)}


def _serve(volume: VolumeSpec, key: str, plugin: tuple[str, ...]) -> None:
    directory, filters = volume["directory"], volume["filters"]
    os.makedirs(f"{directory}/{RUN}", mode=0o700, exist_ok=True)
    lock = _wait_for_lock(directory)
    read = write = None
    try:
        if (rate := rate_text(filters)) is not None:
            with open(f"{directory}/{RUN}/{RATE_FILE}", "w") as file:
                file.write(rate)
        if backing.ENCRYPTION in filters:
            read, write = os.pipe()
            os.write(write, key.encode())
            os.close(write)
        log = f"{directory}/{RUN}/server.log"
        command = server_command(directory, volume["epoch"], filters, read, plugin)
        start(command, log, (lock,) if read is None else (lock, read))
    finally:
        os.close(lock)
        if read is not None:
            os.close(read)
    # Its file says that it accepts connections: one that ends at once, as a probe, has ended servers.
    _until(lambda: os.path.exists(f"{directory}/{RUN}/{PID_FILE}"), lambda: bool(holders(directory)), "the server", log)


def _wait_for_lock(directory: str, first: signal.Signals = signal.SIGKILL) -> int:
    """Return the lock of the volume's servers, after a signal to the present one; VolumeRefused if it cannot be ended.

    Only the lock says that it has ended: a process disappears before its last thread does.
    """
    number, began_s = first, time.monotonic()
    while (lock := backing.try_lock(f"{directory}/{SERVED}")) is None:
        waited_s = time.monotonic() - began_s
        if waited_s >= 2 * END_S:
            raise VolumeRefused(f"its earlier server cannot be ended (processes {sorted(holders(directory))})")
        if waited_s >= END_S:
            number = signal.SIGKILL
        _signal(holders(directory), number)
        time.sleep(0.02)
    return lock


def _show(directory: str, epoch: int) -> None:
    disk, log = disk_of(directory), f"{directory}/{RUN}/client.log"
    with open(disk, "a"):
        pass
    start(client_command(directory, epoch), log)
    server_log = f"{directory}/{RUN}/server.log"
    _until(lambda: os.stat(disk).st_size > 0, lambda: bool(clients(directory)), "the client", server_log, log)


def _mount(volume: VolumeSpec) -> None:
    directory = volume["directory"]
    disk, place = disk_of(directory), f"{directory}/{MOUNT}"
    if not os.path.exists(f"{directory}/{FORMATTED}"):
        run(["mkfs.ext4", "-q", "-F", "-m", "0", disk])
        backing.mark_formatted(directory)
    try:
        loop = run(["losetup", "--find", "--show", disk]).strip()
    except ProgramFailed as error:
        raise VolumeRefused(f"no loop device is free on this machine: {error}") from error
    run(["mount", "-t", "ext4", "-o", _OPTIONS, loop, place])
    if volume["user"] is not None and os.stat(place).st_uid != volume["user"][0]:  # a new one, or handed over
        run(["chown", "--recursive", "--no-dereference", "{}:{}".format(*volume["user"]), place])
    os.chmod(place, _MODE)


def _end_all(directory: str, busy_s: float) -> bool:
    """Unmount, and end client and server; return False if the mount stayed in use so that they were killed."""
    disk, place = disk_of(directory), f"{directory}/{MOUNT}"
    loops = mounts.loops_of(disk)
    clean = _unmount(place, loops, busy_s)
    for loop in loops:
        with contextlib.suppress(ProgramFailed):
            run(["losetup", "--detach", f"/dev/{loop}"])
    if not clean:
        _signal(clients(directory) | holders(directory), signal.SIGKILL)
    for point, _ in mounts.mounts_below(f"{directory}/{RUN}"):
        mounts.unmount(point, lazily=True)
    _end_client(directory)
    os.close(_wait_for_lock(directory, signal.SIGTERM))
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(f"{directory}/{RUN}"):
            os.unlink(f"{directory}/{RUN}/{name}")
    return clean


def _unmount(place: str, loops: list[str], busy_s: float) -> bool:
    """Unmount a volume; return False if it is in use until the end, and only taken out of sight."""
    deadline_s = time.monotonic() + busy_s
    while True:
        gone = all(mounts.unmount(point) for point, _ in mounts.mounts_below(place))
        if gone and not any(mounts.is_in_use(loop) for loop in loops):
            return True
        if time.monotonic() >= deadline_s:
            break
        time.sleep(0.02)
    for point, _ in mounts.mounts_below(place):
        mounts.unmount(point, lazily=True)
    return not loops


def _end_client(directory: str) -> None:
    """Wait until the client has ended by its unmount; kill it if it does not."""
    deadline_s = time.monotonic() + END_S
    while (found := clients(directory)) and time.monotonic() < deadline_s + END_S:
        if time.monotonic() >= deadline_s:
            _signal(found, signal.SIGKILL)
        time.sleep(0.01)


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def holders(directory: str) -> set[int]:
    """Return the processes that hold the lock of the volume's servers open."""
    place, found = f"{directory}/{SERVED}", set[int]()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{name}/fd"):
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{name}/fd/{descriptor}") == place:
                        found.add(int(name))
                        break
    return found


def clients(directory: str) -> set[int]:
    """Return the clients that show the volume, by their command lines."""
    place, found = os.fsencode(disk_of(directory)), set[int]()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
                if words[0].rpartition(b"/")[2] == b"nbdfuse" and place in words:
                    found.add(int(name))
    return found


def _until(ready: Callable[[], bool], alive: Callable[[], bool], subject: str, *logs: str) -> None:
    """Wait until something is ready; VolumeRefused with the last line of a log if it ends before, or is late."""
    deadline_s, began_s = time.monotonic() + START_S, time.monotonic()
    while not ready():
        now_s = time.monotonic()
        if now_s >= deadline_s or (now_s > began_s + 0.5 and not alive()):
            why = next(filter(None, map(_last_line, logs)), "it wrote nothing")
            raise VolumeRefused(f"{subject} of the volume does not start: {why}")
        time.sleep(0.01)


def _last_line(log: str) -> str:
    with contextlib.suppress(OSError), open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().strip().splitlines()
        return lines[-1] if lines else ""
    return ""
