"""Executions as rows and lines."""

from __future__ import annotations

from typing import cast

from zoe_cli.commands.words.views import left_files_text
from zoe_client.quick.plain import Execution


def test_what_services_left_behind_is_named_by_service_and_servers_of_before_name_nothing() -> None:
    services = [
        {"name": "main-0", "left_files": "model.bin (3 KiB)"},
        {"name": "worker-0", "left_files": ""},
        {"name": "old-0"},
    ]
    [told] = left_files_text(cast(Execution, {"services": services}))
    assert told == "scratch directory of main-0 with model.bin (3 KiB); keep files in the workspace"
