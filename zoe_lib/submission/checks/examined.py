"""A description with the facts about the installation that its checks need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.values.volumes import UserVolumes
from zoe_lib.settings.config import Settings


@dataclass(frozen=True, slots=True)
class Examined:
    """A description as its user wrote it, its application, and all findings."""

    document: dict[str, Any]
    application: Application
    settings: Settings
    platform: Platform
    faults: Sequence[Finding] = ()
    volumes: UserVolumes = field(default_factory=UserVolumes)
