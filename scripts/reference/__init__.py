"""The pages of docs/reference that are generated from the code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from scripts.reference.access import access_page
from scripts.reference.cli import cli_page
from scripts.reference.lifecycle import lifecycle_page
from scripts.reference.policy import policy_page
from scripts.reference.settings import settings_page
from scripts.reference.shared_bounds import bounds_page

DIRECTORY = Path(__file__).resolve().parents[2] / "docs" / "reference"


def pages() -> Mapping[Path, str]:
    """Every page by its file."""
    return {
        DIRECTORY / "access.md": access_page(),
        DIRECTORY / "bounds.md": bounds_page(),
        DIRECTORY / "cli.md": cli_page(),
        DIRECTORY / "lifecycle.md": lifecycle_page(),
        DIRECTORY / "policy.md": policy_page(),
        DIRECTORY / "settings.md": settings_page(),
    }
