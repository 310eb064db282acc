"""Work on one service outside the master's thread."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.local.files import directories
from zoe_master.backends.local.files.users import write_accounts
from zoe_master.backends.local.files.volumes import write_keys
from zoe_master.backends.local.services.launch import ForkServer, ask_to_stop
from zoe_master.backends.local.services.layout import StatePaths
from zoe_master.backends.local.services.records import FINAL_STATES, Record, RecordStage, ended_status, observation_of
from zoe_master.backends.local.services.rescue import end_leftovers
from zoe_master.backends.local.services.specification import specify
from zoe_master.backends.local.supervisor import files, left_files
from zoe_master.backends.services.failures import CannotStartError

KILLED_EXIT_CODE = 137
ERRORS_BYTES_MAX = 500
_log = logging.getLogger(__name__)


class ServiceWorker:
    """Each method keeps the record equal to the service's directory, and never raises."""

    def __init__(self, layout: StatePaths, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._layout = layout
        self._fork_server = ForkServer()

    def close(self) -> None:
        """Start no more supervisors; those that run go on."""
        self._fork_server.close()

    def start(self, record: Record, start: ServiceStart) -> None:
        """Write the specification, then start the service's supervisor."""
        try:
            record.directory.mkdir(mode=0o700, exist_ok=True)
            if self._layout.kept_directory(record.service_id).exists():
                self._leave(record)
                return
            spec = specify(start, self._layout.around, self._clock)
            write_keys(start, self._layout.settings)
            owner = self._layout.around.users.user_for(start.system_user)
            if owner is not None and spec["user"] and write_accounts(record.directory, start, owner, spec["scratch"]):
                spec["user"]["accounts"] = str(record.directory)
            if "python_environment" in spec:
                record.python_environment = Path(spec["python_environment"])
            files.write_json(str(record.directory / files.START), dict(spec))
        except CannotStartError as error:
            self._end(record, error.cause, str(error))
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            self._end(record, Cause.DISK_FULL if full else Cause.START_FAILED, str(error))
        except Exception as error:
            _log.exception("cannot make the specification of service %s", record.service_id)
            self._end(record, Cause.START_FAILED, repr(error))
        else:
            self.launch(record)

    def _leave(self, record: Record) -> None:
        """Leave a service alone that another master ran and archived after we had looked for it.

        Archiving moves its directory in one step, so from the first start on it is in one of the two places. After
        creating the first, we therefore have to check the second.
        """
        directories.remove(record.directory)
        record.lose("another master ran it", self._clock.now_s())
        record.forgotten = True

    def launch(self, record: Record) -> None:
        """Start the supervisor of a service whose start.json is written."""
        if record.stop_asked:
            self._end(record, Cause.STOPPED, "")
            return
        try:
            record.child = self._fork_server.launch(record.directory)
        except OSError as error:
            self._end(record, Cause.START_FAILED, f"cannot start its supervisor: {error}")
            return
        record.stage = RecordStage.SUPERVISED

    def stop(self, record: Record) -> None:
        """Ask the supervisor to end the service."""
        status = record.status or {}
        signalled = ask_to_stop(record.directory, status.get("shim_pid"), status.get("shim_start_ticks"))
        if not signalled and record.stage is RecordStage.SUPERVISED:
            record.stop_asked = False  # the master repeats the request

    def lock_of_dead(self, record: Record) -> int | None:
        """Return the supervisor's lock if the supervisor died before its service ended; None otherwise."""
        if record.child is not None:
            if not record.child.has_ended:
                return None
            record.child = None
        if record.final:
            record.stage = RecordStage.FINISHED
            return None
        if not record.directory.is_dir():
            record.lose("its state directory was removed", self._clock.now_s())
            return None
        lock = files.take_lock(str(record.directory / files.LOCK))
        if lock is None:
            return None
        record.look()
        if record.observation.state not in FINAL_STATES:
            return lock
        os.close(lock)
        return None

    def rescue(self, record: Record, lock: int) -> None:
        """End the processes of a dead supervisor, and report the service."""
        try:
            gone = end_leftovers(record.service_id, record.directory)
            message = "its supervisor was killed" + ("" if gone else "; some of its processes cannot be ended")
            began = bool((record.status or {}).get("pid"))
            left = left_files.left_files(str(self._layout.scratch(record.service_id)))
            record.status = {**(record.status or {}), **({"left_files": left} if left else {})}
            if not began:
                message = f"its supervisor ended before the component ran: {_errors(record.directory)}".rstrip(": ")
            self._end(
                record, Cause.KILLED if began else Cause.START_FAILED, message, KILLED_EXIT_CODE if began else None
            )
        except Exception:
            _log.exception("cannot end what service %s left behind", record.service_id)
            record.stage = RecordStage.SUPERVISED  # retried at the next poll
        finally:
            os.close(lock)

    def archive(self, record: Record) -> bool:
        """Keep only output and status of a forgotten service; return False while its supervisor still cleans up."""
        if record.child is not None:
            if not record.child.has_ended:
                return False
            record.child = None
        if record.directory.is_dir():
            lock = files.take_lock(str(record.directory / files.LOCK))
            if lock is None:
                return False
            self._keep(record)
            os.close(lock)
        directories.remove(self._layout.scratch(record.service_id))
        return True

    def _keep(self, record: Record) -> None:
        for name in (files.START, files.USAGE, files.STOP, files.ERRORS, files.LOCK):
            (record.directory / name).unlink(missing_ok=True)
        os.utime(record.directory)
        kept = self._layout.kept_directory(record.service_id)
        directories.remove(kept)
        record.directory.rename(kept)

    def _end(self, record: Record, cause: Cause, message: str, exit_code: int | None = None) -> None:
        """Report an end that no supervisor reports; if it cannot be written, keep it in memory."""
        status = ended_status(record, cause, message, exit_code, self._clock)
        directories.remove(self._layout.scratch(record.service_id))
        try:
            start = record.directory / files.START
            if not start.exists():
                files.write_json(str(start), {**status, "created_at_s": status["at_s"]})
            files.write_json(str(record.directory / files.STATUS), status)
        except OSError as error:
            _log.warning("cannot write the end of service %s: %s", record.service_id, error)
        record.status, record.observation = status, observation_of(status)
        record.stage = RecordStage.FINISHED


def _errors(directory: Path) -> str:
    """Return the last error output of a supervisor."""
    try:
        data = (directory / files.ERRORS).read_bytes()
    except OSError:
        return ""
    return data[-ERRORS_BYTES_MAX:].decode(errors="replace").strip()
