"""The program that clones repositories, as their user: `python -I -c SOURCE TASK`, standard library only. In containers
it is part of the program that comes before the component (`entry.py`).

It prints git's output, and the reason of a failure as the last line. A clone gets its name only when it is complete. It
never overwrites changes of its user.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Task = dict[str, Any]
    Source = dict[str, str]

FAILED, DISK_FULL = 1, errno.ENOSPC
POLL_S = 0.5
LINES_MAX = 200
_PART = ".zoe-clone"
# Hooks and monitors of an existing clone are programs; no program of a repository runs here.
_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false")


_CLOSED = ("could not read Username", "could not read Password", "Permission denied (publickey")
_PRIVATE = "a private repository needs a stored secret: `secret` of the source, or `zoe run --git-secret NAME`"


class CloneFailed(Exception):  # noqa: N818 - the name is the fact
    """A repository cannot be cloned."""


def main() -> int:
    """Clone or update all sources of a task; return the exit code."""
    task = json.loads(sys.argv[1])
    try:
        for number, source in enumerate(task["sources"]):
            _Clone(task, source, os.path.join(task["secrets"], str(number))).make()
    except CloneFailed as failed:
        _say(str(failed))
        return DISK_FULL if os.strerror(DISK_FULL) in str(failed) else FAILED
    except OSError as error:
        _say(f"{error.strerror}: {error.filename}" if error.filename else str(error))
        return DISK_FULL if error.errno == DISK_FULL else FAILED
    finally:  # the component does not need them
        shutil.rmtree(task["secrets"], ignore_errors=True)
    return 0


class _Clone:
    """One repository in its directory."""

    def __init__(self, task: Task, source: Source, secret: str) -> None:
        self._task = task
        self._url, self._ref = source["url"], source["ref"]
        self._secret = source["secret"]
        self._place = os.path.join(task["workspace"], source["into"])
        self._into = source["into"]
        self._part = os.path.join(os.path.dirname(self._place), f".{os.path.basename(self._place)}{_PART}")
        self._environment, self._options = _access(
            self._url, secret if source["secret"] else "", os.path.join(task["workspace"], ".ssh", "known_hosts")
        )

    def make(self) -> None:
        parent = os.path.dirname(self._place)
        os.makedirs(parent, exist_ok=True)
        lock = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another service may clone the same repository
            self._remove_leftovers(parent)
            if os.path.isdir(self._place) and os.listdir(self._place):
                self._update()
            else:
                self._clone()
        finally:
            os.close(lock)

    def _remove_leftovers(self, parent: str) -> None:
        """Remove remains of killed clones; no other runs now, as this process holds the lock."""
        for name in os.listdir(parent):
            if name.startswith(".") and name.endswith(_PART):
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)

    def _clone(self) -> None:
        _say(f"zoe: cloning {self._url} into {self._into}")
        shutil.rmtree(self._part, ignore_errors=True)
        try:
            self._git("clone", "--quiet", "--no-checkout", "--", self._url, self._part, at=None)
            if not self._checkout():
                raise CloneFailed(
                    f"{self._url} has no branch, tag or commit {self._ref}" if self._ref else f"{self._url} is empty"
                )
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(self._place)
            os.rename(self._part, self._place)
        finally:
            shutil.rmtree(self._part, ignore_errors=True)
        self._say_version()

    def _checkout(self) -> bool:
        """Check out the version; return False if the repository does not have it."""
        at, wanted = self._part, self._ref or self._read("symbolic-ref", "--short", "HEAD", at=self._part)
        if wanted and self._has_commit(f"refs/remotes/origin/{wanted}", at):
            self._git("checkout", "--quiet", "-B", wanted, "--track", f"origin/{wanted}", at=at)
            return True
        commit = self._commit(at)
        if commit:
            self._git("checkout", "--quiet", "--detach", commit, at=at)
        return bool(commit)

    def _update(self) -> None:
        """Fast-forward an existing clone, unless this would change its user's work."""
        at = self._place
        origin = self._read("config", "--get", "remote.origin.url", at=at) if os.path.isdir(f"{at}/.git") else ""
        if origin.rstrip("/") != self._url:
            what = f"a clone of {origin}" if origin else "not a clone"
            raise CloneFailed(f"{self._into} already exists and is {what}; give another `into`, or move it away")
        if self._read("status", "--porcelain", "--untracked-files=no", at=at):
            _say(f"zoe: {self._into} has changes of its own, and is left as it is")
            self._say_version(f"; {self._ref} was asked for" if self._ref else "")
            return
        self._git("fetch", "--quiet", "--tags", "origin", at=at)
        branch = self._read("symbolic-ref", "--quiet", "--short", "HEAD", at=at)
        wanted = self._ref or branch
        if wanted and self._has_commit(f"refs/remotes/origin/{wanted}", at):
            self._forward(branch, wanted)
        elif self._ref:
            commit = self._commit(at)
            if not commit:
                raise CloneFailed(f"{self._url} has no branch, tag or commit {self._ref}")
            self._git("checkout", "--quiet", "--detach", commit, at=at)
        self._say_version()

    def _say_version(self, more: str = "") -> None:
        _say(f"zoe: {self._into} is at {self._read('rev-parse', '--short', 'HEAD', at=self._place)}{more}")

    def _forward(self, branch: str, wanted: str) -> None:
        at = self._place
        if branch != wanted:
            kept = self._has_commit(f"refs/heads/{wanted}", at)
            begun = (wanted, "--") if kept else ("-b", wanted, "--track", f"origin/{wanted}")
            self._git("checkout", "--quiet", *begun, at=at)
        if self._run("merge", "--quiet", "--ff-only", f"origin/{wanted}", at=at)[0] != 0:
            _say(f"zoe: {self._into} has commits of its own, and is left as it is")

    def _commit(self, at: str) -> str:
        """Return the commit of a tag, or of a commit id; empty if there is none."""
        for name in (f"refs/tags/{self._ref}", self._ref if re.fullmatch("[0-9a-f]{7,64}", self._ref) else ""):
            found = self._read("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", at=at) if name else ""
            if found:
                return found
        return ""

    def _has_commit(self, name: str, at: str) -> bool:
        return bool(self._read("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", at=at))

    def _read(self, *words: str, at: str) -> str:
        """Return git's output, or an empty text if it fails."""
        command = [self._task["git"], *_SAFE, "-C", at, *words]
        done = subprocess.run(
            command, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""

    def _git(self, *words: str, at: str | None) -> None:
        code, lines = self._run(*words, at=at)
        if code != 0:
            said = _reason(lines, code)
            closed = not self._secret and any(text in said for text in _CLOSED)
            raise CloneFailed(f"{said}; {_PRIVATE}" if closed else said)

    def _run(self, *words: str, at: str | None) -> tuple[int, list[str]]:
        """Run git, watching the bytes it writes; return its exit code and its last lines."""
        place = () if at is None else ("-C", at)
        git = subprocess.Popen(
            [self._task["git"], *_SAFE, *self._options, *place, *words],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        lines: list[str] = []
        reader = threading.Thread(target=_copy, args=(git, lines), daemon=True)
        reader.start()
        while git.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                git.wait(POLL_S)
            self._check_size(at or self._part, git)
        reader.join(POLL_S)
        self._check_size(at or self._part, git)
        return git.returncode, lines

    def _check_size(self, directory: str, git: subprocess.Popen[bytes]) -> None:
        bytes_max = self._task["bytes_max"]
        if _size(directory) > bytes_max:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(git.pid, signal.SIGKILL)
            git.wait()
            raise CloneFailed(f"{self._url} is larger than {bytes_max / 2**20:g} MiB, which is the site's limit")


def _access(url: str, secret: str, known_hosts: str) -> tuple[dict[str, str], list[str]]:
    """Return variables and options with which git never prompts, and sends the secret to no other host."""
    environment = {
        **os.environ,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "SSH_ASKPASS": "/bin/false",
        "GIT_ALLOW_PROTOCOL": "https:ssh",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C.UTF-8",
    }
    key = f"-i '{secret}' " if secret else ""
    environment["GIT_SSH_COMMAND"] = (
        f"ssh -F /dev/null {key}-o BatchMode=yes -o IdentitiesOnly=yes -o IdentityAgent=none -o ConnectTimeout=30 "
        f"-o StrictHostKeyChecking=yes -o UserKnownHostsFile='{known_hosts}'"
    )
    options = ["-c", "credential.helper="]
    found = re.match(r"(https://)(?:([^@/]+)@)?([^/]+)/", url)
    if secret and found:
        helper = f"!f() {{ printf 'username=%s\\npassword=%s\\n' '{found[2] or 'git'}' \"$(cat '{secret}')\"; }}; f"
        options += ["-c", f"credential.{found[1]}{found[3]}.helper={helper}"]
    return environment, options


def _copy(git: subprocess.Popen[bytes], lines: list[str]) -> None:
    assert git.stdout is not None
    for line in git.stdout:
        text = line.decode(errors="replace").rstrip()
        _say(text)
        lines.append(text[:2000])
        del lines[:-LINES_MAX]


def _reason(lines: list[str], code: int) -> str:
    """Return git's reason for its failure in one line."""
    said = [line for line in lines if line.startswith(("fatal: ", "error: ", "ERROR: ", "remote: "))]
    said = [line for line in said if "askpass" not in line]  # the next line names the cause
    # The message of ssh comes before git's own sentence, which only repeats that the command failed.
    if any("Could not read from remote repository" in line for line in lines):
        said = [line for line in lines[:2] if line] or said
    return "; ".join(line.partition(": ")[2] if line.startswith("fatal") else line for line in said[-2:]) or (
        f"git ended with {code}"
    )


def _size(directory: str) -> int:
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def _say(text: str) -> None:
    os.write(1, (text + "\n").encode(errors="replace"))


if __name__ == "__main__":
    sys.exit(main())
