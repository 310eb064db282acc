"""Run a command with at most a share of a core, whatever the kernel permits.

    python core_share.py SHARE COMMAND [ARGUMENT...]

The command gets a process group of its own. Its CPU time is added up 20 times a second, and while it has used more than
its share the whole group is stopped (SIGSTOP), as `cpulimit` does it. That needs no control group and no privileges.
Within a control group that limits it to the same share, it is never stopped for long.

Processes that leave the group are neither counted nor stopped. The exit code is the command's.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

LOOK_S = 0.05
BURST_S = 0.1
"""CPU seconds that the command may use at once after a pause."""
STOP_S_MAX = 10.0
_MEMBERS_EVERY = 10  # readings; scanning all of /proc each time would use a tenth of a core
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_GROUP, _USER, _SYSTEM = 2, 11, 12  # fields of /proc/PID/stat after the name


class Pace:
    """Token bucket of CPU time: it fills with `share` seconds each second, up to BURST_S, and tells how long to stop
    the group.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._left_s = BURST_S

    def stop_s(self, passed_s: float, used_s: float) -> float:
        """Return for how many seconds to stop the group after it used `used_s` CPU seconds in `passed_s`; 0: do not
        stop it.
        """
        self._left_s = min(self._left_s + self._share * passed_s, BURST_S) - used_s
        return min(max(-self._left_s / self._share, 0.0), STOP_S_MAX)


class GroupUse:
    """CPU seconds of a process group, including processes that have ended."""

    def __init__(self, group: int, proc: Path = Path("/proc")) -> None:
        self._group = str(group)
        self._proc = proc
        self._looks = 0
        self._used_s: dict[str, float] = {}
        self._members: list[str] = []

    def total_s(self) -> float:
        """Return the CPU seconds so far."""
        if self._looks % _MEMBERS_EVERY == 0:
            self._members = [
                path.name for path in self._proc.iterdir() if path.name.isdigit() and self._look(path.name)
            ]
        else:
            self._members = [member for member in self._members if self._look(member)]
        self._looks += 1
        return sum(self._used_s.values())

    def _look(self, pid: str) -> bool:
        try:
            fields = (self._proc / pid / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return False
        if fields[_GROUP] != self._group:
            return False
        self._used_s[pid] = (int(fields[_USER]) + int(fields[_SYSTEM])) * _TICK_S
        return True


def run(share: float, command: list[str]) -> int:
    """Run the command until it ends; return its exit code, as a shell would."""
    try:
        child = subprocess.Popen(command, process_group=0)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 127
    ended = [False]

    def end(number: int, _frame: object) -> None:
        ended[0] = True  # let the group continue, so that it can end
        _signal(child.pid, number)
        _signal(child.pid, signal.SIGCONT)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    pace, use = Pace(share), GroupUse(child.pid)
    before_s, before_used_s = time.monotonic(), 0.0
    while child.poll() is None:
        now_s, used_s = time.monotonic(), use.total_s()
        stop_s = pace.stop_s(now_s - before_s, used_s - before_used_s)
        before_s, before_used_s = now_s, used_s
        if stop_s and not ended[0]:
            _signal(child.pid, signal.SIGSTOP)
            time.sleep(stop_s)
            _signal(child.pid, signal.SIGCONT)
        time.sleep(LOOK_S)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # the process has just ended
        os.killpg(group, number)


def main() -> int:
    """Read the command line."""
    try:
        share, command = float(sys.argv[1]), sys.argv[2:]
    except (IndexError, ValueError):
        share, command = 0.0, []
    if not 0 < share <= 1 or not command:
        print("usage: core_share.py SHARE COMMAND..., SHARE from 0 to 1, such as 0.5", file=sys.stderr)
        return 2
    return run(share, command)


if __name__ == "__main__":
    sys.exit(main())
