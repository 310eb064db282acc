"""Settings of the master."""

from __future__ import annotations

import os
import re

from pydantic import Field, field_validator

from zoe_lib.settings.file_settings import FileSettings

_PORT = r"(\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])"
_ENDPOINT = re.compile(rf"ipc://.+|tcp://(\[[0-9a-fA-F:.%]+\]|[^\s:/]+):{_PORT}")


class MasterSettings(FileSettings):
    """Endpoints, leadership, metrics, retention and replays."""

    master_endpoint: str = Field(
        default="tcp://127.0.0.1:5101",
        max_length=256,
        description="ZeroMQ endpoint that the master binds and the API connects to.",
    )
    master_advertised_endpoint: str = Field(
        default="",
        max_length=256,
        description="ZeroMQ endpoint at which the API reaches this master while it leads; empty: `master_endpoint`, "
        "unless that is all addresses of a machine.",
    )
    master_lease_s: float = Field(
        default=5.0,
        ge=0.5,
        description="A standby master takes over from a leader that has not renewed its lease for this long; the same "
        "for all masters.",
    )
    master_hang_s: float = Field(
        default=60.0, gt=0, description="A leader whose loop has stood still for this long stops renewing its lease."
    )
    master_timeout_s: float = Field(
        default=2.0,
        gt=0,
        description="How long the API waits for the master to receive a question before it asks again.",
    )
    master_attempts_max: int = Field(
        default=3,
        gt=0,
        description="How often the API asks, each time on a new socket; an answer may take the sum of these waits.",
    )
    master_metrics_port: int = Field(
        default=0, ge=0, le=65535, description="Port of the master's metrics; 0 turns them off."
    )
    master_metrics_host: str = Field(
        default="127.0.0.1", description="Address of the master's metrics; anyone who can reach it can read them."
    )
    master_timer_s: float = Field(
        default=5.0, gt=0, description="Longest pause between ticks, which is how soon foreign use of nodes is noticed."
    )
    master_name: str = Field(
        default_factory=lambda: f"{os.uname().nodename}:{os.getpid()}",
        description="Name of this master in `zoe status` (default: host name and process id).",
    )
    usage_interval_s: float = Field(default=5.0, gt=0, description="Pause between samples of usage and bandwidth.")
    retention_s: float = Field(
        default=90 * 86400.0, gt=0, description="How long ended executions and samples of bandwidth are kept."
    )
    prometheus_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s]+$",
        description="Prometheus that components may be scaled by (`scaling.query`): users can learn any of its series.",
    )
    prologue: str = Field(
        default="",
        description="Program that runs beside the master before the first service of each attempt starts; empty: none.",
    )
    epilogue: str = Field(
        default="",
        description="Program that runs beside the master after the last service of each attempt; empty: none.",
    )
    prologue_epilogue_timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="A prologue or an epilogue that runs for longer is killed, and failed."
    )
    replay_s_max: float = Field(default=300.0, gt=0, description="Time limit of `zoe replay`.")
    replay_cpu_s_max: int = Field(default=240, gt=0, description="Maximum CPU time of a replay, in seconds.")
    replay_memory_bytes_max: int = Field(
        default=2 << 30, gt=0, description="Maximum memory of the process of a replay."
    )

    @field_validator("master_endpoint", "master_advertised_endpoint")
    @classmethod
    def _check_endpoint(cls, endpoint: str) -> str:
        if endpoint and not _ENDPOINT.fullmatch(endpoint):
            raise ValueError(f"{endpoint!r} is not a ZeroMQ endpoint; write tcp://HOST:PORT or ipc://PATH")
        return endpoint
