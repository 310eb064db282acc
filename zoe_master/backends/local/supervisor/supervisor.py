"""The life of one service, from its process to the last cleanup."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

from . import component, files, kernel, processes
from .cgroup import Cgroup
from .group import ProcessGroup, UsageMeter
from .output import BoundedOutput
from .readiness import ReadinessProbe
from .status import ServiceStatus
from .withheld import withhold_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .spec import PrepareProcess, ProcessSpec
    from .volumes.of_service import ServiceVolumes

TICK_S = 1.0
# Early ticks are quicker, for the figures and limits of short services.
FIRST_TICK_S = 0.02
READ_BYTES = 65536
LINE_BYTES_MAX = 2000
KILLED_EXIT_CODE = 128 + signal.SIGKILL
_OF_PEOPLE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


class Supervisor:
    """Runs the component of one service directory, until no process of it is left."""

    def __init__(self, directory: str, spec: ProcessSpec) -> None:
        self._directory = directory
        self._spec = spec
        os.makedirs(f"{directory}/{files.OUTPUT}", mode=0o700, exist_ok=True)
        self._output = BoundedOutput(f"{directory}/{files.OUTPUT}", spec["output_bytes_max"])
        self._status = ServiceStatus(directory, spec, self._output.free_space)
        self._cgroup = self._make_cgroup()
        self._group = ProcessGroup(self._cgroup)
        self._usage = UsageMeter(self._group)
        self._readiness: ReadinessProbe | None = None
        self._pid = 0
        self._wait_status: int | None = None
        self._volumes: ServiceVolumes | None = None
        # Why the supervisor ends it; None while it may end by itself.
        self._cause: str | None = None
        self._message = ""
        self._kill_at_s = float("inf")
        self._asked: str | None = None
        self._prepare_s_max = self._prepared_by_s = float("inf")
        # The last output of preparing programs; None at other times.
        self._tail: bytes | None = None
        self._output_read, self._output_write = os.pipe()
        self._wakeup_read, self._wakeup_write = os.pipe()

    def run(self) -> None:
        """Run the service; return when its end is written and everything is removed."""
        self._listen_to_signals()
        self._status.write()
        if self._stop_is_requested() or self._is_refused():
            self._report_end(None, "stopped", "")
        elif self._attach_volumes() and self._start():
            self._watch()
            self._finish()
        self._clean()

    def abandon(self, message: str) -> None:
        """End the service after an error of the supervisor itself: no process may continue unsupervised."""
        self._group.end()
        self._report_end(KILLED_EXIT_CODE if self._pid else None, "killed", message)
        self._clean()

    # Start

    def _attach_volumes(self) -> bool:
        """Attach the volumes; return False if the service has ended with one."""
        if self._spec.get("volumes"):
            from .volumes.of_service import ServiceVolumes  # few services have any

            self._volumes = ServiceVolumes(self._spec["volumes"])
            self._status.change("starting", message="attaching volumes")
            if refused := self._volumes.attach():
                self._report_end(None, "start_failed", refused)
                return False
        kernel.adopt_orphans()  # only now, since the servers of volumes must not become children
        return True

    def _make_cgroup(self) -> Cgroup | None:
        cgroup = Cgroup.from_document(dict(self._spec["cgroup"]) if self._spec["cgroup"] else None)
        if cgroup is None:
            return None
        try:
            self._create(cgroup)
        except OSError as error:
            self._do_without(cgroup, error)
            return None
        return cgroup

    def _create(self, cgroup: Cgroup) -> None:
        spec = self._spec
        limits = spec["memory_limit_bytes"], spec.get("cores_limit_milli")
        cgroup.create(*limits, spec.get("cores_milli"), spec.get("promised", False))

    @staticmethod
    def _do_without(cgroup: Cgroup, error: Exception) -> None:
        print(f"no control group, memory is sampled: {error}", file=sys.stderr)
        cgroup.remove(timeout_s=0.0)

    def _listen_to_signals(self) -> None:
        os.set_blocking(self._wakeup_read, False)
        os.set_blocking(self._wakeup_write, False)
        os.set_blocking(self._output_read, False)
        signal.set_wakeup_fd(self._wakeup_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGUSR1, lambda *_: self._ask("stopped"))
        signal.signal(signal.SIGTERM, lambda *_: self._ask("killed"))
        for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(ignored, signal.SIG_IGN)
        # The back-end starts the supervisor with these blocked, so that none arrives before there is a handler.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    def _start(self) -> bool:
        try:
            if not self._prepare():
                return False
            self._usage.begin()
            self._pid = self._start_process(self._spec)
        except component.ComponentStartFailed as failed:
            self._report_end(None, failed.cause, failed.message)
            return False
        finally:
            os.close(self._output_write)
        now_s = time.time()
        self._status.note(
            pid=self._pid,
            pid_start_ticks=processes.start_ticks(self._pid),
            cgroup=self._cgroup.document() if self._cgroup else None,
            started_at_s=now_s,
        )
        probe = self._spec["probe"]
        if probe is not None:
            self._readiness = ReadinessProbe(probe, time.monotonic())
        self._status.change("started" if probe is not None else "ready", message="")
        return True

    def _prepare(self) -> bool:
        """Run the programs before the component; return False if the service has ended with one."""
        return all(self._prepare_by(prepare) for prepare in self._spec.get("prepare", ()))

    def _prepare_by(self, prepare: PrepareProcess) -> bool:
        self._status.note(cgroup=self._cgroup.document() if self._cgroup else None)
        self._status.change("starting", message=prepare["message"])
        program: ProcessSpec = {
            **self._spec,
            "argv": prepare["argv"],
            "environment": prepare["environment"],
            "work_dir": self._spec["scratch"],
            "secret_variables": {},
            "read_only": [],
        }
        with withhold_secrets(self._spec, prepare):
            self._pid = self._start_process(program)
            self._prepare_s_max = prepare["timeout_s"]
            self._prepared_by_s, self._tail = time.monotonic() + self._prepare_s_max, b""
            self._watch()
            self._prepared_by_s = float("inf")
            self._group.end()
            while self._read_output():
                pass
        assert self._wait_status is not None
        exit_code = os.waitstatus_to_exitcode(self._wait_status)
        self._pid, self._wait_status = 0, None
        if self._cause is None and exit_code == 0 and self._asked is None:
            if self._cgroup is not None:  # ending leftovers may have forbidden new processes
                self._create(self._cgroup)
            self._tail = None
            return True
        self._report_unprepared(prepare, exit_code)
        return False

    def _report_unprepared(self, prepare: PrepareProcess, exit_code: int) -> None:
        cause = self._cause or self._asked
        if cause is None:
            cause = self._cause_and_message(128 - exit_code if exit_code < 0 else exit_code)[0]
            cause = "disk_full" if exit_code == prepare["disk_full"] else "start_failed" if cause == "exited" else cause
            last = (self._tail or b"").rstrip().rpartition(b"\n")[2].decode(errors="replace")
            reason = "".join(character if character.isprintable() else " " for character in last)
            self._message = reason.strip() or f"exit code {exit_code}"
        if cause == "stopped":
            self._report_end(None, cause, "")
        else:
            self._report_end(None, cause, f"{prepare['message']} failed: {self._message}")

    def _start_process(self, spec: ProcessSpec) -> int:
        try:
            return component.start(spec, self._output_write, self._cgroup)
        except component.CannotJoin as error:
            assert self._cgroup is not None
            self._do_without(self._cgroup, error)
            self._cgroup, self._group = None, ProcessGroup(None)
            self._usage = UsageMeter(self._group)
            return component.start(spec, self._output_write, None)

    # While it runs

    def _watch(self) -> None:
        tick_at_s, pause_s = time.monotonic(), FIRST_TICK_S
        while self._wait_status is None:
            now_s = time.monotonic()
            if now_s >= tick_at_s:
                self._tick()
                tick_at_s, pause_s = now_s + pause_s, min(2 * pause_s, TICK_S)
            self._poll(min(tick_at_s, self._kill_at_s, self._probe_at_s()))
            self._look_at_requests()
            self._look_at_readiness()
            if time.monotonic() >= self._prepared_by_s and self._cause is None:
                message = f"not done within {self._prepare_s_max:g} s, the site's limit"
                self._terminate("start_failed", message, grace_s=0.0)
            if time.monotonic() >= self._kill_at_s:
                self._kill_at_s = float("inf")
                self._message = self._message or f"did not end within {self._spec['stop_grace_s']:g} s, killed"
                self._group.kill()

    def _poll(self, until_s: float) -> None:
        poll = select.poll()
        poll.register(self._wakeup_read, select.POLLIN)
        if self._output_read >= 0:
            poll.register(self._output_read, select.POLLIN)
        probe = self._readiness.descriptor if self._readiness else None
        if probe is not None and self._readiness is not None:
            poll.register(probe, self._readiness.events)
        for descriptor, _ in poll.poll(max(0.0, until_s - time.monotonic()) * 1000):
            if descriptor == self._wakeup_read:
                self._reap()
            elif descriptor == self._output_read:
                self._read_output()

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wakeup_read, READ_BYTES)
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, wait_status = self._group.reap()
                if pid == 0:
                    return
                if pid == self._pid:
                    self._wait_status = wait_status

    def _read_output(self) -> bool:
        """Read once; return False if there is no output now, or no more follows."""
        try:
            data = os.read(self._output_read, READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            os.close(self._output_read)
            self._output_read = -1
            return False
        self._output.write(data)
        if self._tail is not None:
            self._tail = (self._tail + data)[-LINE_BYTES_MAX:]
        return True

    def _tick(self) -> None:
        self._status.write_usage(*self._usage.sample())
        if self._status.unwritten:
            self._status.write()
        if self._cause is None and self._group.exceeds(self._spec["memory_limit_bytes"]):
            self._terminate("out_of_memory", self._memory_message(), grace_s=0.0)
        if self._cause is None and self._volumes is not None and (lost := self._volumes.lost()):
            self._terminate("killed", lost, grace_s=0.0)
        if self._must_yield():
            self._group.yield_cores()
        if self._stop_is_requested():
            self._ask("stopped")

    def _must_yield(self) -> bool:
        """Return whether promised services run on the machine, and no control group ranks this one below them."""
        if self._spec.get("promised") or (self._cgroup is not None and self._cgroup.cpu_directory is not None):
            return False
        return os.path.exists(f"{os.path.dirname(os.path.dirname(self._directory))}/{files.PROMISED}")

    def _stop_is_requested(self) -> bool:
        return os.path.exists(f"{self._directory}/{files.STOP}")

    def _is_refused(self) -> bool:
        """Return whether another master has refused the service before it began: it is among the kept ones then."""
        services, name = os.path.split(self._directory)
        return os.path.exists(f"{os.path.dirname(services)}/{files.KEPT}/{name}")

    def _ask(self, cause: str) -> None:
        self._asked = self._asked or cause

    def _look_at_requests(self) -> None:
        if self._asked is not None and self._cause is None:
            message = "" if self._asked == "stopped" else "another program stopped its supervisor"
            self._terminate(self._asked, message, self._spec["stop_grace_s"])

    def _probe_at_s(self) -> float:
        return self._readiness.due_at_s if self._readiness is not None else float("inf")

    def _look_at_readiness(self) -> None:
        if self._readiness is None:
            return
        now_s = time.monotonic()
        self._readiness.advance(now_s)
        if self._readiness.ready:
            self._readiness = None
            self._status.change("ready", ready_at_s=time.time())
        elif self._readiness.late(now_s):
            probe = self._spec["probe"]
            assert probe is not None
            problem = self._readiness.problem
            port = probe.get("name", probe["port"])  # version 0.1.0 wrote no name
            message = f"port {port} did not answer within {probe['timeout_s']:g} s: {problem}"
            self._terminate("never_ready", message, self._spec["stop_grace_s"])

    def _terminate(self, cause: str, message: str, grace_s: float) -> None:
        """Send SIGTERM to the process group, and SIGKILL to the rest after the grace period."""
        self._cause, self._message = cause, message
        if self._readiness is not None:
            self._readiness.close()
            self._readiness = None
        self._kill_at_s = time.monotonic() + grace_s
        self._status.change("stopping")
        if grace_s > 0:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGTERM)

    def _memory_message(self) -> str:
        limit = (self._spec["memory_limit_bytes"] or 0) / 2**20
        return f"used more memory than its limit of {limit:.4g} MiB"

    # End

    def _finish(self) -> None:
        assert self._wait_status is not None
        left = self._group.end()
        while self._output_read >= 0 and self._read_output():
            pass
        exit_code = os.waitstatus_to_exitcode(self._wait_status)
        if exit_code < 0:
            exit_code = 128 - exit_code
        cause, message = self._cause_and_message(exit_code)
        if left:
            message = f"{message}; processes {left} cannot be ended".lstrip("; ")
        self._note_left_files()
        self._report_end(exit_code, cause, message)

    def _note_left_files(self) -> None:
        from . import left_files  # not needed during a service's start

        if (left := left_files.left_files(self._spec["scratch"])) is not None:
            self._status.note(left_files=left)

    def _cause_and_message(self, exit_code: int) -> tuple[str, str]:
        if self._cause is not None:
            return self._cause, self._message
        # Whatever the exit code: a shell may continue after its program was killed, with half of the results.
        if self._cgroup is not None and self._cgroup.out_of_memory_kills():
            return "out_of_memory", self._memory_message()
        if exit_code > 128:
            with contextlib.suppress(ValueError):
                number = signal.Signals(exit_code - 128)
                return "exited", f"ended by {number.name}{', which Zoe did not send' if number in _OF_PEOPLE else ''}"
        return "exited", ""

    def _report_end(self, exit_code: int | None, cause: str, message: str) -> None:
        self._output.close()
        if self._volumes is not None and (forced := self._volumes.detach()):
            message = f"{message}; {forced}".lstrip("; ")
        self._status.note(
            exit_code=exit_code,
            cause=cause,
            message=message,
            output_bytes=self._output.offset,
            output_dropped_bytes=self._output.dropped_bytes,
            cpu_s=round(self._usage.total_cpu_s(), 3),
            memory_bytes_max=self._usage.peak_bytes(),
        )
        self._status.change("ended")
        self._status.write_for_certain()

    def _clean(self) -> None:
        if self._cgroup is not None and not self._cgroup.remove():
            print("the control group cannot be removed", file=sys.stderr)
        self._remove_scratch()
        self._status.hint()

    def _remove_scratch(self) -> None:
        try:
            os.rmdir(self._spec["scratch"])
        except OSError:  # not empty; importing this takes longer than the removal
            import shutil

            shutil.rmtree(self._spec["scratch"], ignore_errors=True)
