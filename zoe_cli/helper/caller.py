"""Entry point of `zoe`: let the resident helper run the command, or run it here.

Starting Python takes 10 to 15 ms, so this module imports only what Python has loaded by then, and small parts of it.
The helper begins a command only when this process says so: a helper that is too slow runs nothing a second time.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

SETTING = "ZOE_HELPER"
ANSWER_S = 0.5
"""A helper that has not answered by then is ended, and the command runs here."""
GO = b"g"
NUMBER_BYTES = 4
"""Size of the request's length, of a process id (0 refuses the command), and of an exit code (-15: by signal 15)."""
# These ask for a secret, take over the terminal, or look at the shell that started them.
_OF_THIS_PROCESS = frozenset(
    {"edit", "exec", "login", "open", "secret", "ssh", "storage", "--install-completion", "--show-completion"}
)
# There, a helper would outlive the program that started it.
_IN_EXECUTION = "ZOE_EXECUTION_ID"
_LOST = 75


def main() -> None:
    """Run the command of this process."""
    _open_standard_files()
    if not _is_wanted():
        _run_here()
        return
    variables = dict(os.environ)
    code = _run_there()
    if code is not None:
        _end(code)
    try:
        _run_here()
    finally:
        from zoe_cli.helper.spawning import start_helper

        start_helper(variables)


def _open_standard_files() -> None:
    """Open /dev/null in place of standard files that are closed; else the next file that is opened would be one."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - stays open


def _run_here() -> None:
    from zoe_cli.main import main as run

    run()


def _is_wanted() -> bool:
    """Return whether a helper may run the command."""
    return (
        sys.platform == "linux"
        and os.environ.get(SETTING) != "0"
        and _IN_EXECUTION not in os.environ
        and "PYTHONPATH" not in os.environ  # it may be relative to the working directory
        and (os.getuid(), os.getgid()) == (os.geteuid(), os.getegid())
        and _OF_THIS_PROCESS.isdisjoint(sys.argv[1:])
        and not any(map(_is_open_file, (*sys.argv[1:], os.environ.get("ZOE_TOKEN_FILE", ""))))
    )


def _is_open_file(word: str) -> bool:
    """Return whether a word names a file that is open in this process only, as `<(command)` of a shell does."""
    return any(place in word for place in ("/dev/fd/", "/proc/self/"))


def _run_there() -> int | None:
    """Return the exit code of the command, run by the helper; None if it has not run."""
    helper = 0
    try:
        import _socket

        from zoe_cli.helper.surroundings import socket_path, surroundings

        around = surroundings()
        channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        channel.settimeout(ANSWER_S)
        channel.connect(socket_path(around))
        peer = channel.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * NUMBER_BYTES)
        helper, user = (int.from_bytes(peer[at : at + 4], sys.byteorder) for at in (0, 4))
        if user != os.geteuid():
            return None
        child = _hand_over(channel, around, (_socket.SOL_SOCKET, _socket.SCM_RIGHTS))
        if not child:
            return None
        _pass_signals_on(child)
        channel.sendall(GO)
    except TimeoutError:
        _kill(helper)
        return None
    except (OSError, ImportError):
        return None
    return _await_end(channel)


def _hand_over(channel: "socket", around: bytes, kind: tuple[int, int]) -> int:
    """Send the command with its files; return the process that will run it, 0 if the helper refuses."""
    umask = os.umask(0o077)
    os.umask(umask)
    words = [os.fsencode(word) for word in sys.argv[1:]]
    variables = [name + b"=" + value for name, value in os.environb.items()]
    request = b"\0".join([around, b"%d" % umask, b"%d" % len(words), *words, *variables])
    message = len(request).to_bytes(NUMBER_BYTES, "big") + request
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2, here))
    sent = channel.sendmsg([message], [(*kind, files)])
    os.close(here)
    channel.sendall(message[sent:])
    return int.from_bytes(channel.recv(NUMBER_BYTES), "big")


def _pass_signals_on(child: int) -> None:
    """Interrupt, stop and continue the child with this process; it ends by itself when this process ends."""
    import _signal  # type: ignore[import-not-found]  # the module signal takes 6 ms

    def stop(number: int, _frame: object) -> None:
        os.kill(child, _signal.SIGSTOP)
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
        _signal.signal(number, stop)
        os.kill(child, _signal.SIGCONT)

    if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, lambda number, _frame: os.kill(child, number))
    if _signal.getsignal(_signal.SIGTSTP) is not _signal.SIG_IGN:
        _signal.signal(_signal.SIGTSTP, stop)


def _await_end(channel: "socket") -> int:
    """Return the exit code of the running command."""
    channel.settimeout(None)
    try:
        answer = channel.recv(NUMBER_BYTES)
    except OSError:
        answer = b""
    if len(answer) == NUMBER_BYTES:
        return int.from_bytes(answer, "big", signed=True)
    os.write(2, b"zoe: the process that ran the command was ended: see what it has done before you repeat it\n")
    return _LOST


def _kill(helper: int) -> None:
    """End a helper that hangs; nothing waits for it, and commands that it began have their own processes."""
    try:
        os.kill(helper, 9)
    except OSError:
        return


def _end(code: int) -> None:
    """End this process at once, in the way of the command."""
    if code < 0:
        import _signal

        _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
