"""The settings of any engine, from those of the installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zoe_lib.settings.config import Settings
from zoe_master.backends.engine.settings import EnvironmentSettings, SourceSettings
from zoe_master.backends.file_task import file_limits
from zoe_master.backends.terminal.sessions import listening_host


def engine_arguments(settings: Settings) -> dict[str, Any]:
    """Return the arguments of EngineSettings."""
    return {
        "state_dir": settings.engine_state_dir,
        "installation": settings.engine_installation,
        "images": tuple(settings.engine_images),
        "pull_images": settings.engine_pull_images,
        "user": settings.engine_user,
        "tenant_users": settings.engine_tenant_users,
        "workspaces_dir": settings.engine_workspaces_dir,
        "host_paths_allowed": tuple(Path(path) for path in settings.engine_host_paths),
        "ulimits_max": {str(name): most for name, most in settings.engine_ulimits_max.items()},
        "output_bytes_max": settings.engine_log_bytes_max,
        "kept_logs_bytes_max": settings.kept_logs_bytes_max,
        "kept_logs_age_max_s": settings.kept_logs_age_max_s,
        "processes_max": settings.engine_processes_max,
        "files": file_limits(settings),
        "environments": EnvironmentSettings(
            settings.environment_index_url,
            settings.environment_wheelhouse,
            settings.environment_build_s_max,
            settings.environment_bytes_max,
            settings.environments_bytes_max,
            settings.environments_age_max_s,
        ),
        "sources": SourceSettings(settings.source_s_max, settings.source_bytes_max),
        "terminals_host": listening_host(settings.master_endpoint),
    }
