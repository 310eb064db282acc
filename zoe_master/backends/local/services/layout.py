"""Directories of the back-end and of its services."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.files import directories
from zoe_master.backends.local.files.users import ComponentUsers
from zoe_master.backends.local.machine import cgroups
from zoe_master.backends.local.machine.hints import hint_name
from zoe_master.backends.local.machine.ports import PortBook, below_ephemeral
from zoe_master.backends.local.services.records import Record, found_record
from zoe_master.backends.local.services.specification import BackendContext
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.local.supervisor import files

# A refused directory of another master is removed after this time; the service can then no longer begin.
_BEGIN_S = 60.0
_SPARES = 64


class StatePaths:
    """Paths below state_dir: `services/ID` while known, `kept/ID` once forgotten, `ports/EXECUTION.json`,
    `files/TENANT+USER.json`, and empty directories in `spares`.
    """

    def __init__(self, settings: LocalSettings) -> None:
        self.settings = settings
        state_dir = settings.state_dir
        self.services_dir = state_dir / "services"
        self.kept_dir = state_dir / files.KEPT
        self.files_dir = state_dir / "files"
        self.spares_dir = state_dir / "spares"
        directories.make_base(state_dir, 0o700)
        for directory in (self.services_dir, self.kept_dir, self.files_dir, self.spares_dir, state_dir / "ports"):
            directories.make_base(directory, 0o700)
        self.environments_dir = settings.environments_dir or settings.absolute().environments_dir
        assert self.environments_dir is not None
        for directory in (
            settings.scratch_dir,
            settings.workspaces_dir,
            settings.volumes_dir,
            self.environments_dir,
        ):
            directories.take_base(directory)
        self.make_spares()
        self.hint = hint_name(state_dir)
        first, last = below_ephemeral(settings.port_first, settings.port_last)
        self.ports = PortBook(state_dir / "ports", first, last)
        # One parent for each state directory, so that two installations do not share a group.
        self._cgroups = cgroups.find_parent(self.hint) if settings.cgroups else None
        self.around = BackendContext(
            settings, self.ports, ComponentUsers(settings.run_as_user), self._cgroups, self.hint
        )

    def service(self, service: ServiceId) -> Path:
        """Return the directory of a known service."""
        return self.services_dir / service

    def kept_directory(self, service: ServiceId) -> Path:
        """Return the directory of a forgotten service."""
        return self.kept_dir / service

    def scratch(self, service: ServiceId) -> Path:
        """Return the private directory of a service."""
        return self.settings.scratch_dir / service

    def find(self, service: ServiceId) -> Path | None:
        """Return the directory of a service, known or forgotten."""
        if not directories.is_safe_name(service):
            return None
        return next((path for path in (self.service(service), self.kept_directory(service)) if path.is_dir()), None)

    def found_records(self) -> Iterator[Record]:
        """Yield services of earlier back-ends; remove those without a start.json, which were never handed over."""
        for directory in sorted(self.services_dir.iterdir()):
            record = found_record(directory)
            if record is not None:
                yield record
            else:
                directories.remove(directory)

    def unknown_records(self, known: Collection[ServiceId]) -> Iterator[Record]:
        """Yield unknown services with a directory."""
        for directory in self.services_dir.iterdir():
            if directory.name in known:
                continue
            record = found_record(directory)
            if record is not None:
                yield record
            elif self.kept_directory(directory.name).exists() and _is_old(directory):
                directories.remove(directory)

    def refuse(self, service: ServiceId) -> None:
        """Keep another master from running a service that was stopped before this one knew of it.

        The other master makes the service's directory, then checks the kept ones; this one does the reverse. So one of
        them sees the other, and so does a supervisor started in between. Steps that a full disk refuses are skipped:
        the directory among the kept ones is enough.
        """
        if not directories.is_safe_name(service) or self.kept_directory(service).exists():
            return
        with contextlib.suppress(OSError):
            self._make_kept_directory(service)
        with contextlib.suppress(OSError):
            if self.service(service).exists():
                (self.service(service) / files.STOP).touch()
        with contextlib.suppress(OSError):
            files.write_json(str(self.kept_directory(service) / files.STATUS), {"state": str(ObservedState.ENDED)})

    def mark_promised(self, promised: bool) -> None:
        """Tell supervisors whether a service with promised cores is running."""
        place = self.settings.state_dir / files.PROMISED
        with contextlib.suppress(OSError):  # a full disk: repeated at the next poll
            if promised:
                place.touch()
            else:
                place.unlink(missing_ok=True)

    def _make_kept_directory(self, service: ServiceId) -> None:
        """Make the directory. A full disk may refuse a new directory, but allows a rename."""
        try:
            self.kept_directory(service).mkdir(mode=0o700)
        except FileExistsError:
            pass
        except OSError:
            next(self.spares_dir.iterdir()).rename(self.kept_directory(service))

    def make_spares(self) -> None:
        """Make spare directories for a full disk, as far as possible now."""
        with contextlib.suppress(OSError):
            for number in range(_SPARES):
                (self.spares_dir / str(number)).mkdir(mode=0o700, exist_ok=True)

    def sweep(self, records: Collection[Record]) -> None:
        """Remove scratch directories and ports of unknown services, and replace used spare directories."""
        self.make_spares()
        living = {record.service_id for record in records if not record.final}
        for path in self.settings.scratch_dir.iterdir():
            if path.name not in living:
                directories.remove(path)
        executions = {record.execution_id for record in records}
        for execution in self.ports.executions():
            if execution not in executions:
                self.ports.release(execution)

    def close(self) -> None:
        """Remove empty control groups."""
        if self._cgroups is not None:
            self._cgroups.remove()


def _is_old(path: Path, clock: Clock = SYSTEM_CLOCK) -> bool:
    try:
        return path.stat().st_mtime < clock.now_s() - _BEGIN_S
    except OSError:
        return False
