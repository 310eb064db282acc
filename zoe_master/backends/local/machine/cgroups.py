"""Find where control groups for services can be created, if anywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.local.supervisor.spec import CgroupSpec

# A supervisor removes its group within milliseconds of its last report.
REMOVE_S_MAX = 2.0
_CONTROLLERS_V2 = ("memory", "pids")
_WANTED_V2 = "cpu"  # seldom delegated to a user's session, and memory limits do not depend on it
# Files that exist if a directory has the controller.
_FILES_V1 = {"memory": "memory.limit_in_bytes", "pids": "cgroup.procs", "cpu": "cpu.cfs_quota_us"}


@dataclass(frozen=True, slots=True)
class CgroupParent:
    """The directories that hold one group per service; in version 2 all are the same. None: the controller is
    missing.
    """

    version: int
    memory: Path
    pids: Path | None
    cpu: Path | None = None

    def spec(self, name: str) -> CgroupSpec:
        """Return the group of one service."""
        return {
            "version": self.version,
            "memory": str(self.memory / name),
            "pids": str(self.pids / name) if self.pids else None,
            "cpu": str(self.cpu / name) if self.cpu else None,
        }

    def remove(self, timeout_s: float = REMOVE_S_MAX, clock: Clock = SYSTEM_CLOCK) -> None:
        """Remove the parents unless a service continues in them; supervisors may still be removing theirs."""
        give_up_s = clock.monotonic_s() + timeout_s
        for directory in {self.memory, self.pids or self.memory, self.cpu or self.memory}:
            while not _remove_group(directory) and not _has_processes(directory) and clock.monotonic_s() < give_up_s:
                clock.sleep(0.01)


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mounted hierarchy: its type, its mount point, the mounted directory of it, and its controllers."""

    kind: str
    point: Path
    root: str
    controllers: frozenset[str]


def _remove_group(directory: Path) -> bool:
    with contextlib.suppress(OSError):
        directory.rmdir()
    return not directory.exists()


def _has_processes(parent: Path) -> bool:
    """Return whether a process is in one of its groups."""
    for procs in parent.glob("*/cgroup.procs"):
        with contextlib.suppress(OSError):
            if procs.read_text():
                return True
    return False


def find_parent(name: str, proc: Path = Path("/proc/self")) -> CgroupParent | None:
    """Return a usable parent of that name, created if needed; None if the kernel does not permit it."""
    mounts = list(_mounts(proc))
    own = _own_groups(proc)
    return _find_v1(name, mounts, own) or _find_v2(name, mounts, own)


def _find_v1(name: str, mounts: list[_Mount], own: dict[str, str]) -> CgroupParent | None:
    found = {controller: _make_v1(name, controller, mounts, own) for controller in _FILES_V1}
    memory = found["memory"]
    return CgroupParent(1, memory, found["pids"], found["cpu"]) if memory is not None else None


def _make_v1(name: str, controller: str, mounts: list[_Mount], own: dict[str, str]) -> Path | None:
    for mount in mounts:
        if mount.kind == "cgroup" and controller in mount.controllers:
            parent = _inside(mount, own.get(controller, "/")) / name
            with contextlib.suppress(OSError):
                parent.mkdir(exist_ok=True)
                if (parent / _FILES_V1[controller]).exists():
                    return parent
    return None


def _find_v2(name: str, mounts: list[_Mount], own: dict[str, str]) -> CgroupParent | None:
    """Search beside our own group or above it: a group that contains processes cannot delegate controllers."""
    for mount in mounts:
        if mount.kind != "cgroup2":
            continue
        start = _inside(mount, own.get("", "/"))
        for ancestor in (start, *start.parents):
            if not ancestor.is_relative_to(mount.point):
                break
            parent = _make_v2(ancestor, name)
            if parent is not None:
                return parent
    return None


def _make_v2(ancestor: Path, name: str) -> CgroupParent | None:
    parent = ancestor / name
    existed = parent.is_dir()
    try:
        parent.mkdir(exist_ok=True)
        _hand_on(ancestor)
        if (parent / "memory.max").exists():
            _hand_on(parent)
            return CgroupParent(2, parent, parent, parent if _hands_on_cpu(ancestor, parent) else None)
    except OSError:
        pass
    if not existed:
        with contextlib.suppress(OSError):
            parent.rmdir()
    return None


def _hand_on(group: Path, controllers: tuple[str, ...] = _CONTROLLERS_V2) -> None:
    """Delegate the controllers to children of the group; OSError if not permitted."""
    switch = group / "cgroup.subtree_control"
    missing = [c for c in controllers if c not in switch.read_text().split()]
    if missing:
        switch.write_text(" ".join(f"+{controller}" for controller in missing))


def _hands_on_cpu(*groups: Path) -> bool:
    try:
        for group in groups:
            _hand_on(group, (_WANTED_V2,))
    except OSError:
        return False
    return True


def _inside(mount: _Mount, group: str) -> Path:
    """Return the group's directory below the mount; a container may see only part of the hierarchy."""
    relative = group.removeprefix(mount.root) if mount.root != "/" else group
    directory = mount.point / relative.lstrip("/")
    return directory if directory.is_dir() else mount.point


def _mounts(proc: Path) -> Iterator[_Mount]:
    try:
        lines = (proc / "mountinfo").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            fields = left.split(" ")
            yield _Mount(kind, Path(fields[4]), fields[3], frozenset(options.split(",")))


def _own_groups(proc: Path) -> dict[str, str]:
    """Return our own group by controller; the key of version 2 is the empty string."""
    try:
        lines = (proc / "cgroup").read_text().splitlines()
    except OSError:
        return {}
    groups: dict[str, str] = {}
    for line in lines:
        _, controllers, group = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), group))
    return groups
