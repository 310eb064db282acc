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
    """The user that the component runs as; `accounts` is where `passwd` and `group` are that name it, if nothing else
    does. `umask`: what new files are closed to.
    """

    uid: int
    gid: int
    accounts: NotRequired[str]
    umask: NotRequired[int]


class ProcessSpec(TypedDict):
    """Everything that the supervisor needs: all templates are filled, all paths are of this machine.

    secret_variables: the file with the value of each variable that only the component's process may know.
    """

    service_id: str
    execution_id: str
    node: str
    boot_id: str
    created_at_s: float
    cause_id: str
    argv: list[str]
    environment: dict[str, str]
    secret_variables: NotRequired[dict[str, str]]
    work_dir: str
    make_work_dir: bool
    scratch: str
    user: UserSpec | None
    memory_limit_bytes: int | None
    cores_limit_milli: int | None
    cgroup: CgroupSpec | None
    ports: dict[str, int]
    probe: ProbeSpec | None
    stop_grace_s: float
    output_bytes_max: int
    hint: str
