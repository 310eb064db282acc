"""The process that answers a what-if."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from zoe_api.cluster.replays import _command
from zoe_client.wire import ReplayRequest
from zoe_lib.settings.config import Settings


def test_a_replay_is_bounded_in_memory_and_cpu_time() -> None:
    settings = Settings(database_url=SecretStr("postgresql://x"), replay_memory_bytes_max=123 << 20, replay_cpu_s_max=7)
    command = _command(settings, ReplayRequest(from_s=1.5, add_nodes=["a", "b"]), 9.0, Path("p.svg"))
    assert {f"--memory-bytes-max={123 << 20}", "--cpu-s-max=7", "--from-s=1.5", "--to-s=9.0"} <= set(command)
    assert command[-3:] == ["--add-node=a", "--add-node=b", "--picture=p.svg"]
