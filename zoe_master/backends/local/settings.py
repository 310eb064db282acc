"""Settings of the local back-end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from zoe_master.backends.file_task import FileLimits


@dataclass(frozen=True, slots=True)
class Runtime:
    """Replacement of an image: directories for PATH, environment, and the command for components without one.

    install: the program that installs it at its first use; empty: it is there. installs: what that installs, for users.
    """

    path: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    installs: str = ""


@dataclass(frozen=True, slots=True)
class LocalNode:
    """A virtual node: a share of this machine. Devices are counted, but not assigned."""

    name: str
    cores_milli: int
    memory_bytes: int
    labels: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Settings of the local back-end.

    state_dir: for Zoe alone (mode 0700). scratch_dir, workspaces_dir, volumes_dir: components write below them, so
    their users must be able to enter them. images: image name to runtime; a name without a tag stands for all its tags.
    image_hints: what to do about images without a runtime. nodes: if empty, one node of the machine's size.
    host_paths_allowed: directories that volumes with a host path may mount, subdirectories included. run_as_user: one
    user for all components if Zoe is root; empty: users assigned by the master. If Zoe is not root, they run as Zoe's
    own user, and can read everything that user can. cgroups: False samples memory even if control groups are permitted.
    output_bytes_max: limit of the output kept of one service. kept_logs_bytes_max, kept_logs_age_max_s: limits of the
    output kept of forgotten services. port_first, port_last: ports for components, below the range that the kernel
    gives to clients. workers: services handed over at the same time, which takes milliseconds each; supervisors do the
    rest. look_interval_s: interval of polling everything; hints report changes earlier. terminals_max: open at once.
    insecure: see `refuse_reason`. files: limits of the program that serves a user's files. block_volumes_dir: for Zoe
    alone; one directory for each volume of blocks (default: beside volumes_dir). environments_dir: as volumes_dir
    (default: beside it). environment_index_url, environment_wheelhouse: sources of packages, instead of
    those in pip's configuration. environment_build_s_max, environment_bytes_max: limits of one environment;
    environments_bytes_max, environments_age_max_s: limits of all. source_s_max, source_bytes_max: limits of cloning the
    sources of a component.
    """

    state_dir: Path
    scratch_dir: Path
    workspaces_dir: Path
    volumes_dir: Path
    images: Mapping[str, Runtime] = field(default_factory=dict)
    image_hints: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[LocalNode, ...] = ()
    host_paths_allowed: tuple[Path, ...] = ()
    run_as_user: str = ""
    cgroups: bool = True
    output_bytes_max: int = 16 * 2**20
    kept_logs_bytes_max: int = 4 * 2**30
    kept_logs_age_max_s: float = 7 * 86400.0
    port_first: int = 20000
    port_last: int = 32767
    workers: int = 4
    look_interval_s: float = 1.0
    terminals_max: int = 64
    insecure: bool = False
    files: FileLimits = field(default_factory=FileLimits)
    block_volumes_dir: Path | None = None
    environments_dir: Path | None = None
    environment_index_url: str = ""
    environment_wheelhouse: str = ""
    environment_build_s_max: float = 1800.0
    environment_bytes_max: int = 8 * 2**30
    environments_bytes_max: int = 32 * 2**30
    environments_age_max_s: float = 30 * 86400.0
    source_s_max: float = 600.0
    source_bytes_max: int = 4 * 2**30

    @property
    def blocks_dir(self) -> Path:
        """Return the directory of volumes of blocks."""
        return (self.block_volumes_dir or self.volumes_dir.with_name(".blocks")).absolute()

    def absolute(self) -> LocalSettings:
        """Return the same settings with absolute directories, since supervisors have another working directory."""
        return replace(
            self,
            state_dir=self.state_dir.absolute(),
            scratch_dir=self.scratch_dir.absolute(),
            workspaces_dir=self.workspaces_dir.absolute(),
            volumes_dir=self.volumes_dir.absolute(),
            block_volumes_dir=self.blocks_dir,
            environments_dir=(self.environments_dir or self.volumes_dir.with_name(".environments")).absolute(),
        )
