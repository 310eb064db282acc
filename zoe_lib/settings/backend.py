"""Settings of all back-ends, and of the local one."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from zoe_lib.plugins import BACKENDS, PluginKind, usable_names
from zoe_lib.settings.file_settings import FileSettings


class NodeSettings(BaseModel):
    """A virtual node of the local back-end."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Name shown in `zoe nodes`.")
    cores: float = Field(gt=0, le=4096, description="Cores that services may reserve on the node.")
    memory_bytes: int = Field(gt=0, description="Memory that services may reserve on the node.")
    labels: dict[str, str] = Field(default={}, description="Labels that components may require.")
    devices: dict[str, int] = Field(default={}, description="Number of devices by kind, such as gpu.")


class ImageSettings(BaseModel):
    """The local back-end's substitute for an image: directories for PATH, and variables."""

    model_config = ConfigDict(extra="forbid")

    path: list[str] = Field(default=[], description="Directories for PATH.")
    environment: dict[str, str] = Field(
        default={}, description="Environment variables of every service that uses the runtime."
    )
    install: list[str] = Field(
        default=[],
        description="Program that installs the runtime at the first use of the image: it prints its progress, and at "
        "its end one line of JSON with `path` and `environment`.",
    )
    installs: str = Field(default="", description="What `install` installs, and its size, for users.")


class BackendSettings(FileSettings):
    """The choice of a back-end, and the local back-end."""

    backend: str = Field(
        default="local",
        max_length=64,
        description="Back-end that runs services: `local` (processes), `docker` or `podman` (containers of this "
        "machine), `swarm`, or the back-end of a plugin by its name.",
    )
    backend_options: dict[str, str] = Field(default={}, description="Settings of the back-end of a plugin.")
    insecure: bool = Field(
        default=False, description="Let the local back-end serve more than one trusted person on loopback."
    )
    local_state_dir: Path = Field(
        default=Path("/var/lib/zoe/state/local"),
        description="Directory for the local back-end's records of services, including logs.",
    )
    local_scratch_dir: Path = Field(
        default=Path("/var/lib/zoe/scratch"),
        description="Directory for the scratch directories of services ({scratch}).",
    )
    local_workspaces_dir: Path = Field(
        default=Path("/var/lib/zoe/workspaces"),
        description="Directory that holds one directory for each tenant ({workspace}).",
    )
    kept_logs_bytes_max: int = Field(
        default=4 << 30,
        ge=0,
        description="Maximum output kept of all ended services together, in bytes; the oldest is removed first, and "
        "each service counts as at least 64 KiB.",
    )
    kept_logs_age_max_s: float = Field(
        default=7 * 86400.0, gt=0, description="How long output is kept after the end of its service."
    )
    local_volumes_dir: Path = Field(
        default=Path("/var/lib/zoe/volumes"), description="Directory for the named volumes of tenants."
    )
    local_block_volumes_dir: Path = Field(
        default=Path("/var/lib/zoe/blocks"), description="Directory for volumes of blocks (`zoe volume create`)."
    )
    local_log_bytes_max: int = Field(
        default=16 << 20, gt=0, description="Maximum output kept of one service, in bytes."
    )
    local_user: str = Field(
        default="",
        description="One system user for all components when Zoe runs as root (default: one for each user of Zoe, so "
        "that their programs cannot read each other's files).",
    )
    user_ids_first: int = Field(
        default=400_000,
        ge=1000,
        lt=2**31,
        description="First number for the system users of components; nothing else on the machines may use the range.",
    )
    user_ids_last: int = Field(
        default=499_999,
        ge=1000,
        lt=2**31,
        description="Last number for the system users (one for each user of Zoe) and groups (one for each tenant) of "
        "components. A number is never given twice.",
    )
    files_upload_bytes_max: int = Field(
        default=64 << 30, gt=0, description="Maximum size of an uploaded file, in bytes."
    )
    files_free_bytes_min: int = Field(
        default=1 << 30, ge=0, description="Free disk space that uploads to workspaces leave, in bytes."
    )
    local_environments_dir: Path = Field(
        default=Path("/var/lib/zoe/environments"),
        description="Directory for the environments that `requirements` of components need.",
    )
    environment_index_url: str = Field(
        default="",
        description="Package index for `requirements` (default: as pip's own configuration says). Components can read "
        "it, with any password in it.",
    )
    environment_wheelhouse: str = Field(
        default="",
        description="Directory of wheels for `requirements`, which all users can read; no index is asked then. On "
        "Docker Swarm: a directory with this path on every node, or a URL.",
    )
    environment_build_s_max: float = Field(
        default=1800.0, gt=0, description="How long it may take to make one environment."
    )
    environment_bytes_max: int = Field(default=8 << 30, gt=0, description="Maximum size of one environment, in bytes.")
    environments_bytes_max: int = Field(
        default=32 << 30,
        ge=0,
        description="Maximum size of all environments together, in bytes; the least recently used are removed first.",
    )
    environments_age_max_s: float = Field(
        default=30 * 86400.0, gt=0, description="How long an environment is kept after its last use."
    )
    source_s_max: float = Field(
        default=600.0, gt=0, description="How long it may take to clone the `sources` of a component."
    )
    source_bytes_max: int = Field(
        default=4 << 30, gt=0, description="Maximum size of a cloned repository with its files, in bytes."
    )
    local_host_paths: list[str] = Field(default=[], description="Host paths that descriptions may mount.")
    local_nodes: list[NodeSettings] = Field(
        default=[], description="Virtual nodes (default: one of the machine's size)."
    )
    local_images: dict[str, ImageSettings] = Field(default={}, description="Runtimes by image name.")
    local_image_hints: dict[str, str] = Field(
        default={}, description="Hints for users of images without a runtime, by image name."
    )

    def missing_wheelhouse(self) -> str | None:
        """Return the fault of this machine's directory of wheels; None if it has none."""
        place = self.environment_wheelhouse
        if not place or "://" in place or Path(place).is_dir():
            return None
        return f"setting environment_wheelhouse (ZOE_ENVIRONMENT_WHEELHOUSE): {place} is not a directory"

    @field_validator("backend")
    @classmethod
    def _check_backend(cls, name: str) -> str:
        if name not in BACKENDS and name not in (names := usable_names(PluginKind.BACKEND)):
            raise ValueError(f"back-end {name!r} is not installed; there are: {', '.join(sorted(names))}")
        return name
