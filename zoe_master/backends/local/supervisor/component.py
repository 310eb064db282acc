"""Become the component: everything between fork and exec."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import signal
import socket

from . import kernel
from .volumes import mounts
from .volumes.backing import MOUNT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .cgroup import Cgroup
    from .spec import ProcessSpec, UserSpec

# A JVM reserves far more address space than it uses; four times the requested memory was measured to be enough.
DATA_LIMIT_FACTOR = 4
DATA_LIMIT_BYTES_MIN = 1 << 30
FILES_MAX = 65536
UMASK = 0o022
JOINING = "cannot join the control group"


class ComponentStartFailed(Exception):  # noqa: N818 - the name is the fact
    """The component's process could not be created; `cause` is the name of a domain Cause."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message


class CannotJoin(Exception):  # noqa: N818
    """The control group exists, but no process may enter it, for example because a user's session delegates it."""


def check_ports(ports: dict[str, int]) -> None:
    """Raise ComponentStartFailed if another process listens on a port of the component."""
    for name, number in ports.items():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # Connections in TIME_WAIT do not disturb servers, but a listener on any address does.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("0.0.0.0", number))  # noqa: S104 - never listened on
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise ComponentStartFailed("start_failed", f"port {number} ({name}): {error.strerror}") from error
                raise ComponentStartFailed(
                    "port_taken", f"port {number} ({name}) is taken by another process"
                ) from error


def start(spec: ProcessSpec, output: int, cgroup: Cgroup | None) -> int:
    """Return the pid of the component's process, which already runs its program; ComponentStartFailed or CannotJoin."""
    check_ports(spec["ports"])
    error_read, error_write = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(spec, parent, output, error_write, cgroup)
    os.close(error_write)
    with open(error_read, "rb") as file:
        report = file.read()  # ends with the exec, which closes the other end
    if report:
        os.waitpid(pid, 0)
        doing, reason = json.loads(report)
        raise CannotJoin(reason) if doing == JOINING else ComponentStartFailed("start_failed", f"{doing}: {reason}")
    return pid


def enter(spec: ProcessSpec, cgroup: Cgroup | None, parent: int) -> None:
    """Make this process one of the component's, started by `parent`: OSError if not permitted."""
    if cgroup is not None:
        cgroup.join()
    _set_limits(spec, bounded=cgroup is not None)
    if spec["user"] is not None and os.isatty(0):
        os.fchown(0, spec["user"]["uid"], -1)
    _drop_privileges(spec, parent)
    try:
        os.chdir(spec["work_dir"])
    except OSError:  # removed since
        os.chdir(spec["scratch"])


def _become(spec: ProcessSpec, parent: int, output: int, error_write: int, cgroup: Cgroup | None) -> NoReturn:
    doing = JOINING
    try:
        _reset_signals()
        os.setsid()
        if cgroup is not None:
            cgroup.join()
        doing = "cannot prepare the process"
        _set_limits(spec, bounded=cgroup is not None)
        _redirect(output)
        _drop_privileges(spec, parent)
        doing = f"cannot enter working directory {spec['work_dir']}"
        if spec["make_work_dir"]:
            os.makedirs(spec["work_dir"], exist_ok=True)
        os.chdir(spec["work_dir"])
        doing = f"cannot run {spec['argv'][0]!r} (PATH={spec['environment'].get('PATH', '')})"
        execute(spec["argv"], {**spec["environment"], **secret_variables(spec)})
    except BaseException as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
        os.write(error_write, json.dumps([doing, reason]).encode())
    finally:
        os._exit(127)


def secret_variables(spec: ProcessSpec) -> dict[str, str]:
    """Read the secrets as the component's user: only its own processes ever have these variables."""
    found = {}
    for name, path in spec.get("secret_variables", {}).items():
        with open(path, encoding="utf-8", newline="") as file:
            found[name] = file.read()
    return found


def _reset_signals() -> None:
    """Reset signals that Python ignores or handles, or the master blocked: the component starts with the defaults."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.set_wakeup_fd(-1)


def _set_limits(spec: ProcessSpec, *, bounded: bool) -> None:
    os.umask(UMASK)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_NOFILE, FILES_MAX)
    memory = spec["memory_limit_bytes"]
    if memory and not bounded:
        amount = max(DATA_LIMIT_FACTOR * memory, DATA_LIMIT_BYTES_MIN)
        resource.setrlimit(resource.RLIMIT_DATA, (amount, amount))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("300")  # a machine short of memory should lose a component, not Zoe


def _lower(kind: int, amount: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        amount = min(amount, hard)
    resource.setrlimit(kind, (amount, amount))


def _redirect(output: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)


def _drop_privileges(spec: ProcessSpec, parent: int) -> None:
    user = spec["user"]
    if user is not None:
        os.umask(user.get("umask", UMASK))
        # Where this is not permitted, as in some containers, programs find no name for their user.
        with contextlib.suppress(OSError):
            _make_mounts(spec, user)
        os.setgroups([])
        os.setresgid(user["gid"], user["gid"], user["gid"])
        os.setresuid(user["uid"], user["uid"], user["uid"])
    kernel.renounce_privileges()
    kernel.die_with_parent()
    if os.getppid() != parent:
        os._exit(127)


def _make_mounts(spec: ProcessSpec, user: UserSpec) -> None:
    if "accounts" not in user and not spec.get("read_only"):
        return
    kernel.own_mounts()
    if "accounts" in user:
        kernel.show_accounts(user["accounts"])
    for directory in spec.get("read_only", ()):
        kernel.make_read_only(directory)
    if "volumes_base" in spec:
        mounts.hide_below(spec["volumes_base"], [f"{v['directory']}/{MOUNT}" for v in spec.get("volumes", ())])


def execute(argv: list[str], environment: dict[str, str]) -> NoReturn:
    """Search PATH like a shell. `os.execvpe` imports a module first, which the component's user may not read."""
    if "/" in argv[0]:
        os.execve(argv[0], argv, environment)
    problem: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for directory in environment.get("PATH", os.defpath).split(os.pathsep):
        try:
            os.execve(f"{directory or '.'}/{argv[0]}", argv, environment)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            problem = error
    raise problem
