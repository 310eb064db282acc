"""The program that makes an environment, as its user: `python -I -c SOURCE TASK`, standard library only.

It prints pip's output, and the reason of a failure as the last line. The marker, written last, makes an environment
complete: the next build removes the rest of a killed one. It runs on the runtime's Python, which may be older than
Zoe's.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import threading
import time
import venv

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Task = dict[str, Any]

FAILED, DISK_FULL = 1, errno.ENOSPC
MARKER = "zoe-complete"
POLL_S = 0.5
_PIP = "import runpy, sys; sys.path.insert(0, {0!r}); sys.argv[0] = 'pip'; runpy.run_module('pip', run_name='__main__')"
_NO_ANSWER, _NO_PLACE = "after connection broken by", "is ignored: it is either a non-existing path"
_CONFLICT_LINES_MAX = 4


class BuildFailed(Exception):  # noqa: N818 - the name is the fact
    """The environment cannot be made."""


def main() -> int:
    """Make the environment of a task unless it exists; return the exit code."""
    task = json.loads(sys.argv[1])
    os.umask(0o022)
    directory = task["directory"]
    try:
        lock = _hold_lock(directory + ".lock")
        os.utime(lock)
        if os.path.exists(os.path.join(directory, MARKER)):
            return 0
        _make(task, directory)
    except BuildFailed as failed:
        say(str(failed))
        remove(directory)
        return DISK_FULL if os.strerror(DISK_FULL) in str(failed) else FAILED
    except OSError as error:
        say(str(error))
        remove(directory)
        return DISK_FULL if error.errno == DISK_FULL else FAILED
    return 0


def _make(task: Task, directory: str) -> None:
    remove(directory)
    say("zoe: making an environment of " + ", ".join(task["requirements"]))
    begun_s = time.monotonic()
    of_image = task["pip"] is None
    venv.EnvBuilder(with_pip=False, symlinks=True, system_site_packages=of_image).create(directory)
    packages = site_packages(directory)
    if (
        sys.prefix != sys.base_prefix and not of_image
    ):  # the runtime's packages are visible too, after those installed here
        with open(os.path.join(packages, "zoe-runtime.pth"), "w") as file:
            file.write(sysconfig.get_path("purelib") + "\n")
    _install(task, directory)
    size = _seal(directory)
    _check_size(size, task["bytes_max"])
    os.sync()
    with open(os.path.join(directory, MARKER), "w") as file:
        file.write(str(size))
    os.chmod(directory, 0o555)
    say(f"zoe: environment made in {time.monotonic() - begun_s:.1f} s, {size / 2**20:.1f} MiB")


def _install(task: Task, directory: str) -> None:
    python = os.path.join(directory, "bin", "python")
    pip_at = task["pip"] or _pip_of_image(task)
    empty = os.path.join(os.environ["TMPDIR"], "pip-empty")
    os.makedirs(empty, exist_ok=True)
    wanted = [for_pip(requirement) for requirement in task["requirements"]]
    command = [python, "-I", "-c", _PIP.format(pip_at), "install", *_options(task), "--", *wanted]
    pip = subprocess.Popen(
        command, cwd=empty, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    lines: list[str] = []
    assert pip.stdout is not None
    output = pip.stdout

    def copy() -> None:
        for line in output:
            text = line.decode(errors="replace").rstrip()
            say(text)
            lines.append(text[:2000])
            del lines[:-200]

    reader = threading.Thread(target=copy, daemon=True)
    reader.start()
    while True:
        try:
            code = pip.wait(POLL_S)
            break
        except subprocess.TimeoutExpired:
            if _size(directory) + _size(os.environ["TMPDIR"]) > task["bytes_max"]:
                pip.kill()
                pip.wait()
                reader.join(POLL_S)
                _check_size(task["bytes_max"] + 1, task["bytes_max"])
    reader.join()
    if code != 0:
        raise BuildFailed(_reason(lines, task))


def for_pip(requirement: str) -> str:
    """Return a requirement in a form that pip cannot take for a file: `a==1+b.zip` alone is a file to it."""
    name, bracket, rest = requirement.partition("[")
    extras, closing, versions = rest.partition("]") if bracket else ("", "", "")
    if not bracket:
        end = next((i for i, letter in enumerate(requirement) if letter in "=~!<>"), len(requirement))
        name, versions = requirement[:end], requirement[end:]
    return f"{name}{bracket}{extras}{closing}" + (f" ({versions})" if versions else "")


def _pip_of_image(task: Task) -> str:
    """Return a directory to import the image's pip from, without other packages."""
    found = importlib.util.find_spec("pip")
    if found is not None and found.origin:
        alone = os.path.join(os.environ["TMPDIR"], "pip-alone")
        os.mkdir(alone)
        os.symlink(os.path.dirname(found.origin), os.path.join(alone, "pip"))
        return alone
    bundled = os.path.join(sysconfig.get_path("stdlib"), "ensurepip", "_bundled")
    for place in ("/usr/share/python-wheels", bundled, task["wheelhouse"]):
        wheels = sorted(glob.glob(os.path.join(place, "pip-*.whl"))) if place else []
        if wheels:
            return wheels[-1]
    raise BuildFailed("the image has no pip; install python3-pip in it, or python3-pip-whl")


def _options(task: Task) -> Iterator[str]:
    yield from ("--no-input", "--no-cache-dir", "--disable-pip-version-check", "--progress-bar", "off")
    yield from ("--no-warn-script-location", "--no-color")
    if not task["build"]:
        yield from ("--only-binary", ":all:")
    if task["index_url"]:
        yield from ("--index-url", task["index_url"])
    if task["wheelhouse"]:
        yield from ("--no-index", "--find-links", task["wheelhouse"])


def _reason(lines: list[str], task: Task) -> str:
    """Return pip's reason for its failure in one line; if it got no list of packages, that reason."""
    if any(_NO_ANSWER in line for line in lines):
        index = (
            f"the package index {_without_password(task['index_url'])}" if task["index_url"] else "the package index"
        )
        return f"{index} does not answer{_cause(lines)}"
    if any(_NO_PLACE in line for line in lines) and task["wheelhouse"]:
        return f"the directory of wheels {_without_password(task['wheelhouse'])} does not exist"
    errors = [line.partition("ERROR: ")[2].strip() for line in lines if "ERROR: " in line]
    errors = [error for error in errors if "ResolutionImpossible" not in error]
    causes: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith("The conflict is caused by:"):
            causes = [text.strip() for text in lines[number + 1 : number + 1 + _CONFLICT_LINES_MAX] if text.strip()]
    said = "; ".join([*errors[-2:], *causes]) or (lines[-1] if lines else "pip printed nothing")
    if not task["build"] and any("No matching distribution" in error for error in errors):
        said += "; only packages with a wheel are taken (see `build_requirements`)"
    return said


def _cause(lines: list[str]) -> str:
    """Return why the last connection failed, if pip prints it in words."""
    line = next(line for line in reversed(lines) if _NO_ANSWER in line)
    found = re.search(r"\[Errno -?\d+\] ([^'\")]+)|(timed out)|(CERTIFICATE_VERIFY_FAILED[^'\")]*)", line)
    return "" if found is None else ": " + next(text for text in found.groups() if text)


def _without_password(place: str) -> str:
    """Return an address without its password."""
    scheme, found, rest = place.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if found else place


def _seal(directory: str) -> int:
    """Remove write permissions, and everything that is not a regular file; return the size in bytes."""
    total = 0
    for parent, directories, names in os.walk(directory, topdown=False):
        for name in [*names, *directories]:
            path = os.path.join(parent, name)
            total += _seal_one(path, os.lstat(path), directory)
    return total


def _seal_one(path: str, found: os.stat_result, directory: str) -> int:
    if stat.S_ISLNK(found.st_mode):
        if not _is_own_link(path, directory):
            raise BuildFailed("a package contains a link out of the environment: " + path[len(directory) + 1 :])
        return 0
    if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
        raise BuildFailed("a package contains an entry that is not a regular file: " + path[len(directory) + 1 :])
    os.chmod(path, stat.S_IMODE(found.st_mode) & 0o555)
    return found.st_size


def _is_own_link(path: str, directory: str) -> bool:
    """Return whether a link is allowed: links to the Python of the environment lead out; all others must stay
    inside.
    """
    if os.path.dirname(path) == os.path.join(directory, "bin") and os.path.basename(path).startswith("python"):
        return True
    real = os.path.realpath(path)
    return real.startswith(os.path.realpath(directory) + os.sep)


def _check_size(size: int, bytes_max: int) -> None:
    if size > bytes_max:
        raise BuildFailed(f"the environment is larger than {bytes_max / 2**20:g} MiB, which is the site's limit")


def _size(directory: str) -> int:
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def site_packages(directory: str) -> str:
    """Return the directory for the packages of an environment."""
    return sysconfig.get_path("purelib", "venv", {"base": directory, "platbase": directory})


def _hold_lock(path: str) -> int:
    """Return the descriptor of the held lock, after waiting for another build of the same environment."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("zoe: another service makes the same environment; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(lock), os.lstat(path)):
                return lock
        except FileNotFoundError:  # removed by a sweep meanwhile
            pass
        os.close(lock)


def remove(directory: str) -> None:
    """Remove an environment, complete or partial."""
    for parent, _, _ in os.walk(directory):
        with contextlib.suppress(OSError):
            os.chmod(parent, 0o700)
    shutil.rmtree(directory, ignore_errors=True)


def say(text: str) -> None:
    """Print a line immediately."""
    os.write(1, (text + "\n").encode(errors="replace"))


if __name__ == "__main__":
    sys.exit(main())
