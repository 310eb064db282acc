"""Settings of all processes: environment variables with the prefix ZOE_, or the TOML file in ZOE_CONFIG."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from zoe_lib.settings.api import ApiSettings
from zoe_lib.settings.backend import BackendSettings
from zoe_lib.settings.common import CommonSettings
from zoe_lib.settings.engine import FORMER_NAMES, EngineBackendSettings
from zoe_lib.settings.master import MasterSettings
from zoe_lib.settings.notifications import NotificationSettings
from zoe_lib.settings.storage import StorageSettings
from zoe_lib.settings.swarm import SwarmBackendSettings


# Fields are in the order of the base classes from last to first, which the reference page keeps.
class Settings(
    NotificationSettings,
    StorageSettings,
    SwarmBackendSettings,
    EngineBackendSettings,
    BackendSettings,
    MasterSettings,
    ApiSettings,
    CommonSettings,
):
    """Define every setting with a default that suits one machine; docs/reference/settings.md is generated from this."""

    file_variable: ClassVar[str] = "ZOE_CONFIG"
    former_names: ClassVar[Mapping[str, str]] = FORMER_NAMES
    basic: ClassVar[tuple[str, ...]] = (
        "database_url",
        "keys_dir",
        "api_host",
        "api_port",
        "public_url",
        "apps_domain",
        "backend",
        "local_nodes",
        "local_images",
        "swarm_managers",
        "engine_images",
        "engine_workspaces_dir",
        "storage_url",
        "storage_services",
    )
    """Settings that most installations change; all others are advanced."""
    model_config = SettingsConfigDict(env_prefix="ZOE_", env_nested_delimiter="__", extra="forbid")

    log_format: Literal["json", "console"] = Field(
        default="json", description="Log format: JSON for programs, text for people."
    )
    log_file_bytes_max: int = Field(
        default=10 << 20, gt=0, description="Maximum size of one log file of `make serve` and `make demo`, in bytes."
    )
    log_files_max: int = Field(default=3, gt=0, description="Number of log files kept for each program.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest level that is logged."
    )

    @classmethod
    def from_file(cls, path: Path) -> Settings:
        """Read the settings of a TOML file, and ignore the environment."""
        with path.open("rb") as file:
            return cls(**tomllib.load(file))
