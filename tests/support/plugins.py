"""Distributions that consist of metadata only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(site: Path, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write a distribution with these entry points into a directory of the path."""
    metadata = site / f"{name.replace('-', '_')}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    sections = [
        "\n".join([f"[{group}]", *(f"{entry} = {place}" for entry, place in entries.items())])
        for group, entries in groups.items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(sections))
