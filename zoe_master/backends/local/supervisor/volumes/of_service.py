"""The volumes of one service: attached before its component, and detached after its last process."""

from __future__ import annotations

import contextlib
import os

from ..processes import start_ticks
from .attachment import attach, detach, processes_of
from .backing import VolumeRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..spec import VolumeSpec


class ServiceVolumes:
    """Attaches all volumes of a service, or none."""

    def __init__(self, volumes: list[VolumeSpec]) -> None:
        self._volumes = volumes
        self._processes: dict[str, set[tuple[int, int | None]]] = {}

    def attach(self) -> str:
        """Attach the volumes, and remove the files of their keys; return why it failed, or an empty text."""
        refused = ""
        for volume in self._volumes:
            try:
                with open(volume["key_file"], encoding="ascii") as file:
                    key = file.read()
                attach(volume, key)
                self._processes[volume["name"]] = processes_of(volume["directory"])
            except (OSError, VolumeRefused) as error:
                refused = f"volume {volume['name']}: {error}"
                self.detach()
                break
        for volume in self._volumes:
            with contextlib.suppress(OSError):
                os.unlink(volume["key_file"])
        return refused

    def lost(self) -> str:
        """Return which volume's server or client has ended, as a sentence; an empty text if all run."""
        names = [
            name for name, some in self._processes.items() if any(start_ticks(pid) != ticks for pid, ticks in some)
        ]
        return f"the server of volume {', '.join(names)} has ended; data that was flushed is kept" if names else ""

    def detach(self) -> str:
        """Detach the volumes; return which ones were still in use, as a sentence, or an empty text."""
        forced = []
        for volume in self._volumes:
            try:
                clean = detach(volume["directory"], volume["epoch"])
            except (OSError, VolumeRefused) as error:
                forced.append(f"{volume['name']} ({error})")
            else:
                forced += [] if clean else [volume["name"]]
        return f"volume {', '.join(forced)} was still in use and was cut off" if forced else ""
