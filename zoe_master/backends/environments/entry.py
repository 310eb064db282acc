"""The first program of a container whose component has sources or requirements: `python3 -I ARCHIVE TASK COMMAND...`.

It clones the repositories, makes the environment if it does not exist, removes unused ones, and becomes the command.
Standard library only. A service that uses an environment holds its lock, shared, until its last process has ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time

from zoe_master.backends.environments.build import FAILED, MARKER, remove, say, site_packages
from zoe_master.backends.environments.build import main as build
from zoe_master.backends.environments.source_clone import main as clone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Task = dict[str, Any]

_FORMAT = 1
_ROUNDS_MAX = 5
_CANNOT_RUN = 127


def main() -> int:
    """Become the command; return the exit code if a source or package is unavailable."""
    part = {"--build": build, "--clone": clone}.get(sys.argv[1])
    if part is not None:
        del sys.argv[1]
        return part()
    task, command = json.loads(sys.argv[1]), sys.argv[2:]
    if "sources" in task:
        code = _run_clone(task["sources"])
        if code != 0:
            return code
    if "environment" not in task:
        _exec(command, dict(os.environ))
    return _run_in(task["environment"], command)


def _run_clone(task: Task) -> int:
    """Run the cloning program; return its exit code."""
    git = shutil.which("git")
    if git is None:
        say("zoe: the image has no git, which sources need")
        return _CANNOT_RUN
    late = f"zoe: the sources were not cloned within {task['seconds_max']:g} s, which is the site's limit"
    return _apart("--clone", {**task, "git": git}, task["seconds_max"], late)


def _run_in(task: Task, command: list[str]) -> int:
    """Become the command in its environment; return the exit code if that cannot be made."""
    try:
        os.makedirs(task["base"], mode=0o700, exist_ok=True)
        directory = os.path.join(task["base"], _key(task))
        for _ in range(_ROUNDS_MAX):
            if _hold(directory):
                _sweep(task, directory)
                _become(command, directory)
            code = _run_build(task, directory)
            if code != 0:
                return code
    except OSError as error:
        say(f"zoe: no environment can be made: {error}")
        return FAILED
    say("zoe: the environment was removed again and again while it was made")
    return FAILED


def _key(task: Task) -> str:
    """Return the name shared by equal lists on equal Pythons from the same source."""
    python = (sys.version, sysconfig.get_platform(), platform.libc_ver(), os.path.realpath(sys.executable))
    facts = (_FORMAT, task["user"], task["requirements"], python, task["index_url"], task["wheelhouse"])
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _hold(directory: str) -> bool:
    """Return whether the environment is complete; then this process and its successors hold its lock."""
    lock = os.open(directory + ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        say("zoe: another service makes the same environment; waiting for it")
        fcntl.flock(lock, fcntl.LOCK_SH)
    with contextlib.suppress(FileNotFoundError):  # removed by a sweep meanwhile
        same = os.path.samestat(os.fstat(lock), os.lstat(directory + ".lock"))
        if same and os.path.exists(os.path.join(directory, MARKER)):
            os.utime(lock)
            os.set_inheritable(lock, True)
            return True
    os.close(lock)
    return False


def _run_build(task: Task, directory: str) -> int:
    """Run the build; return its exit code."""
    late = f"zoe: the environment was not made within {task['seconds_max']:g} s, which is the site's limit"
    return _apart("--build", {**task, "directory": directory}, task["seconds_max"], late)


def _apart(part: str, task: Task, seconds_max: float, late: str) -> int:
    """Run a part of this program without the component's variables; return its exit code."""
    scratch = tempfile.mkdtemp(prefix="zoe-build-")
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8"}
    words = [sys.executable, "-I", sys.argv[0], part, json.dumps(task)]
    process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(seconds_max)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        say(late)
        return FAILED
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _sweep(task: Task, used: str) -> None:
    """Remove unused environments: those beyond the age, and the oldest beyond the total size."""
    found = []
    for name in os.listdir(task["base"]):
        path = os.path.join(task["base"], name.removesuffix(".lock"))
        if name.endswith(".lock"):
            with contextlib.suppress(OSError):
                found.append((os.lstat(path + ".lock").st_mtime, path, _bytes_of(path)))
    total = sum(size for _, _, size in found)
    for used_s, path, size in sorted(found):
        too_old = used_s < time.time() - task["age_s_max"]
        if path != used and (too_old or total > task["bytes_of_all_max"]) and _remove_unused(path):
            total -= size


def _bytes_of(path: str) -> int:
    try:
        with open(os.path.join(path, MARKER)) as file:
            return int(file.read(20))
    except (OSError, ValueError):
        return 0


def _remove_unused(path: str) -> bool:
    lock = os.open(path + ".lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(path)
        os.unlink(path + ".lock")
        return True
    except OSError:
        return False
    finally:
        os.close(lock)


def _become(command: list[str], directory: str) -> NoReturn:
    """Become the command, as if the environment were activated. The image's own programs find the packages, too."""
    environment = dict(os.environ)
    environment["PATH"] = os.path.join(directory, "bin") + os.pathsep + environment.get("PATH", os.defpath)
    modules = [site_packages(directory), *filter(None, [environment.get("PYTHONPATH")])]
    environment |= {
        "VIRTUAL_ENV": directory, "PYTHONPATH": os.pathsep.join(modules), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    _exec(command, environment)


def _exec(command: list[str], environment: dict[str, str]) -> NoReturn:
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        say(f"zoe: cannot run {command[0]!r}: {error.strerror}")
        os._exit(_CANNOT_RUN)


if __name__ == "__main__":
    sys.exit(main())
