"""Files that are generated from the code: the pages of docs/reference, and a module of the SDK."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scripts.reference.access import access_page
from scripts.reference.awaited_calls import awaited_calls
from scripts.reference.cli import cli_page
from scripts.reference.lifecycle import lifecycle_page
from scripts.reference.policy import policy_page
from scripts.reference.settings import settings_page
from scripts.reference.shared_bounds import bounds_page

ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = ROOT / "docs" / "reference"


def pages() -> Mapping[Path, str]:
    """Return the text of each file."""
    return {
        DIRECTORY / "access.md": access_page(),
        DIRECTORY / "bounds.md": bounds_page(),
        DIRECTORY / "cli.md": cli_page(),
        DIRECTORY / "lifecycle.md": lifecycle_page(),
        DIRECTORY / "policy.md": policy_page(),
        DIRECTORY / "settings.md": settings_page(),
        ROOT / "zoe_client/calls/asynchronous.py": awaited_calls(),
    }
