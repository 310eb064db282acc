"""The shape of `start.json`; imported only by type checkers and the back-end, since the supervisor reads the plain
dict.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ProbeSpec(TypedDict):
    """The readiness probe, with its port's name and number; version 0.1.0 wrote no name."""

    kind: str
    name: NotRequired[str]
    port: int
    path: str
    interval_s: float
    timeout_s: float


class CgroupSpec(TypedDict):
    """Where to create the service's control group."""

    version: int
    memory: str
    pids: str | None
    cpu: str | None


class UserSpec(TypedDict):
    """The user of the component; `accounts`: directory of `passwd` and `group` files with its name, if the machine has
    none. `umask`: mask of new files.
    """

    uid: int
    gid: int
    accounts: NotRequired[str]
    umask: NotRequired[int]


class PrepareProcess(TypedDict):
    """A program that runs before the component, as its user and in its place; `message` describes it.

    withheld: directories that it cannot enter. disk_full: its exit code on a full disk.
    """

    argv: list[str]
    environment: dict[str, str]
    message: str
    timeout_s: float
    withheld: list[str]
    disk_full: int


class VolumeSpec(TypedDict):
    """A volume to attach: its directory, the epoch of this attachment, its filters (the first nearest to the client),
    the file with its key, and uid and gid of its owner.
    """

    name: str
    directory: str
    epoch: int
    filters: list[str]
    key_file: str
    user: list[int] | None


class ProcessSpec(TypedDict):
    """Everything that the supervisor needs: templates filled, paths of this machine.

    owner: tenant and user. secret_variables: the file with the value of each variable that only the component's process
    may know. cores_milli: the reserved cores; promised: whether they are promised. read_only: directories that it can
    only read, where mounts are permitted. python_environment: the directory of its installed packages. volumes_base:
    the directory of all volumes, which services do not see except their own.
    """

    service_id: str
    execution_id: str
    node: str
    boot_id: str
    created_at_s: float
    owner: NotRequired[list[str]]
    cause_id: str
    argv: list[str]
    environment: dict[str, str]
    secret_variables: NotRequired[dict[str, str]]
    prepare: NotRequired[list[PrepareProcess]]
    python_environment: NotRequired[str]
    read_only: NotRequired[list[str]]
    volumes: NotRequired[list[VolumeSpec]]
    volumes_base: NotRequired[str]
    work_dir: str
    make_work_dir: bool
    scratch: str
    user: UserSpec | None
    memory_limit_bytes: int | None
    cores_limit_milli: int | None
    cores_milli: NotRequired[int]
    promised: NotRequired[bool]
    cgroup: CgroupSpec | None
    ports: dict[str, int]
    probe: ProbeSpec | None
    stop_grace_s: float
    output_bytes_max: int
    hint: str
