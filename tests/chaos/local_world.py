"""The local back-end: supervisors are killed, and the disk of their state is filled."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tests.chaos.applications import Store
from tests.chaos.disk import SmallDisk
from tests.chaos.world import After, Blow
from tests.support.installation import TENANT, Installation


class LocalWorld:
    """With a `small_disk`, services have their state on a file system that can be filled, which this process mounts."""

    # Ended executions must not fill the small disk for good.
    settings: Mapping[str, Any] = {"kept_logs_bytes_max": 16 * 2**20}
    clean_within_s = 60.0
    stores: Sequence[Store] = (Store.NONE,)
    programs_know_their_service = True

    def __init__(self, small_disk: bool) -> None:
        self._small_disk = small_disk
        self._disk: SmallDisk | None = None
        self._installation: Installation | None = None

    def begin(self, installation: Installation) -> None:
        """Mount the disk."""
        self._installation = installation
        if self._small_disk:
            state = installation.base / "state"
            state.mkdir(mode=0o711)
            self._disk = SmallDisk(state)
            installation.exits.callback(self._disk.close)

    def blows(self, chance: random.Random, after: After) -> Mapping[str, Blow]:
        """Return those of supervisors and of the disk."""

        def kill_supervisor() -> bool:
            found = [process for process in psutil.process_iter(["cmdline"]) if self._supervises(process)]
            if not found:
                return False
            with suppress(psutil.NoSuchProcess):
                chance.choice(sorted(found, key=lambda process: process.pid)).kill()
            return True

        def fill_disk() -> bool:
            assert self._disk is not None
            self._disk.fill()
            after(chance.uniform(0.2, 3), self._disk.clear)
            return True

        disk = {"disk filled": Blow(2, fill_disk)} if self._disk is not None else {}
        return {"supervisor killed": Blow(3, kill_supervisor), **disk}

    def mend(self) -> None:
        """Free the disk."""
        if self._disk is not None:
            self._disk.clear()

    def shared(self) -> Path:
        """Return the installation's."""
        return self._known.workspaces / TENANT / "shared"

    def left(self) -> list[str]:
        """Return processes, scratch directories and control groups."""
        return self._known.traces()

    def credential(self) -> Mapping[str, str] | None:
        """Return None: there is no object store."""
        return None

    def programs(self) -> Mapping[str, int]:
        """Return none: masters and APIs are all."""
        return {}

    def close(self) -> None:
        """Nothing is left to be done."""

    @property
    def _known(self) -> Installation:
        assert self._installation is not None
        return self._installation

    def _supervises(self, process: psutil.Process) -> bool:
        words = " ".join(process.info["cmdline"] or ())
        return "supervisor" in words and str(self._known.base) in words
