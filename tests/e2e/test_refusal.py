"""The local back-end is for one trusted person: the master refuses anything else without the setting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zoe_lib.store.postgres.store import PostgresStore


def start_master(
    tmp_path: Path, postgres_url: str, *arguments: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a master that either refuses at once or is ended by its crash point at the first observation."""
    environment = {
        **os.environ,
        "ZOE_DATABASE_URL": postgres_url,
        "ZOE_KEYS_DIR": str(tmp_path / "keys"),
        "ZOE_MASTER_ENDPOINT": f"ipc://{tmp_path}/m.sock",
        "ZOE_LOCAL_STATE_DIR": str(tmp_path / "state"),
        "ZOE_LOCAL_SCRATCH_DIR": str(tmp_path / "scratch"),
        "ZOE_LOCAL_WORKSPACES_DIR": str(tmp_path / "workspaces"),
        "ZOE_LOCAL_VOLUMES_DIR": str(tmp_path / "volumes"),
        "ZOE_CRASH_AT": "observed",
        **settings,
    }
    return subprocess.run(
        [sys.executable, "-m", "zoe_master.main", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("second_tenant", [False, True])
def test_strangers_are_refused_with_what_helps(tmp_path: Path, postgres_url: str, second_tenant: bool) -> None:
    settings = {} if second_tenant else {"ZOE_API_HOST": "0.0.0.0"}
    store = PostgresStore(postgres_url)
    store.accounts.ensure_member("ada", "default", "admin")
    if second_tenant:
        store.accounts.ensure_member("bob", "other", "user")
    store.close()
    refused = start_master(tmp_path, postgres_url, **settings)
    assert refused.returncode == 2
    assert "for one trusted person" in refused.stderr
    assert "--insecure" in refused.stderr
    assert start_master(tmp_path, postgres_url, "--insecure", **settings).returncode == -9


def test_one_person_on_loopback_is_served(tmp_path: Path, postgres_url: str) -> None:
    assert start_master(tmp_path, postgres_url).returncode == -9
