"""Executions as rows and lines."""

from __future__ import annotations

from typing import cast

from zoe_cli.commands.words.views import left_files_text
from zoe_client.quick.plain import Execution


def test_left_files_are_shown_by_service() -> None:
    services = [
        {"name": "main-0", "left_files": "model.bin (3 KiB)"},
        {"name": "worker-0", "left_files": ""},
        {"name": "old-0"},
    ]
    [told] = left_files_text(cast(Execution, {"services": services}))
    assert told == "scratch directory of main-0 with model.bin (3 KiB); keep files in the workspace"
