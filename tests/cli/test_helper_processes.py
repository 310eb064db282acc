"""Processes of the resident helper: signals, ends, and callers that it must not serve."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.helper import HELPED, PLAIN, PLAIN_WAY, TIMEOUT_S, Helper, outcome
from tests.cli.terminal import Terminal
from tests.support.waiting import until
from zoe_cli.helper import resident
from zoe_cli.helper.caller import ANSWER_S

ROOT = os.geteuid() == 0


@pytest.fixture
def own(helped: dict[str, str], tmp_path: Path) -> Iterator[Helper]:
    """A helper that the test may break."""
    tmp_path.chmod(0o700)
    found = Helper({**helped, "XDG_RUNTIME_DIR": str(tmp_path)}, tmp_path / "zoe")
    yield found
    found.end()


@pytest.fixture
def waiting(helper: Helper, submitted: str) -> Iterator[Terminal]:
    """A command that waits in a child of the helper."""
    with Terminal("wait", submitted, environment=helper.variables, on=frozenset({"stderr"}), zoe=HELPED) as terminal:
        terminal.read_until("submitted")
        yield terminal


def child_of(helper: Helper) -> int:
    """Return the only child of the helper; one that looked for it ends soon."""
    process = helper.process()
    return until(lambda: found[0] if len(found := children(process or 0)) == 1 else None)


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]


def catches(process: int, number: signal.Signals) -> bool:
    caught = Path(f"/proc/{process}/status").read_text().split("SigCgt:")[1].split()[0]
    return bool(int(caught, 16) >> (number - 1) & 1)


def test_ctrl_c_reaches_the_command(waiting: Terminal) -> None:
    waiting.interrupt()
    assert "submitted executions continue" in waiting.read_all()
    assert waiting.end() == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_command_ends_with_its_caller(number: signal.Signals, waiting: Terminal, helper: Helper) -> None:
    child = child_of(helper)
    waiting.process.send_signal(number)
    assert waiting.process.wait(TIMEOUT_S) == -number
    until(lambda: child not in children(helper.process() or 0))


def test_a_message_of_the_caller_does_not_end_the_command(waiting: Terminal, helper: Helper) -> None:
    """The signal that tells of the caller's end tells of its last message, too, if that is read first."""
    child = child_of(helper)
    for _ in range(3):
        os.kill(child, signal.SIGIO)
        time.sleep(0.05)
    assert state(child) in "SR"
    waiting.process.kill()
    until(lambda: child not in children(helper.process() or 0))


def test_ctrl_z_stops_the_command_until_it_is_continued(helper: Helper, submitted: str) -> None:
    # In a session of its own it would be an orphan, which Ctrl-Z does not stop.
    command = [*HELPED, "wait", submitted]
    with subprocess.Popen(command, env=helper.variables, process_group=0) as caller:
        try:
            until(lambda: catches(caller.pid, signal.SIGTSTP))
            child = child_of(helper)
            caller.send_signal(signal.SIGTSTP)
            until(lambda: (state(child), state(caller.pid)) == ("T", "T"))
            caller.send_signal(signal.SIGCONT)
            until(lambda: state(child) != "T")
            caller.send_signal(signal.SIGINT)
            assert caller.wait(TIMEOUT_S) == 130
        finally:
            caller.kill()


def test_a_child_that_is_killed_is_told(waiting: Terminal, helper: Helper) -> None:
    child = child_of(helper)
    os.kill(child, signal.SIGKILL)
    assert "see what it has done before you repeat it" in waiting.read_all()
    assert waiting.end() == 75


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["ls"], {"ZOE_HELPER": "0"}),
        (["ls"], {"ZOE_EXECUTION_ID": "x1"}),
        (["ls"], {"PYTHONPATH": "."}),
        (["ls"], {"LC_ALL": "C"}),
        (["exec", "x1", "true"], {}),
        (["login", "http://127.0.0.1:9"], {}),
    ],
    ids=str,
)
def test_other_callers_run_their_own_command(words: list[str], more: dict[str, str], helper: Helper) -> None:
    assert helper.helped(*words, **more)[0] == PLAIN_WAY


@pytest.mark.parametrize("limit", ["ulimit -n 100", "nice"])
def test_a_caller_with_other_limits_runs_its_own_command(limit: str, helper: Helper) -> None:
    words = f"{limit}; exec" if " " in limit else limit
    command = ["sh", "-c", f'{words} "$@"', "sh", *HELPED, "ls"]
    done = subprocess.run(command, env=helper.variables, timeout=TIMEOUT_S, check=False)
    assert done.returncode == PLAIN_WAY


def test_a_slow_caller_is_waited_for(helper: Helper) -> None:
    script = (
        "import time; from zoe_cli.helper import caller; caller._run_here = lambda: None; "
        f"caller._pass_signals_on = lambda child: time.sleep({2 * ANSWER_S}); caller.main()"
    )
    assert outcome([sys.executable, "-c", script, "ls"], helper.variables) == helper.plainly("ls")


def test_a_folder_of_other_users_is_not_used(own: Helper) -> None:
    own.start()
    own.folder.chmod(0o755)
    assert own.helped("ls")[0] == PLAIN_WAY
    if ROOT:
        own.folder.chmod(0o700)
        os.chown(own.folder, 65534, 65534)
        assert own.helped("ls")[0] == PLAIN_WAY
        os.chown(own.folder, 0, 0)
    own.folder.chmod(0o700)
    assert own.helped("ls")[0] == 0


def test_a_helper_that_hangs_is_ended_and_replaced(own: Helper) -> None:
    hung = own.start()
    os.kill(hung, signal.SIGSTOP)
    began_s = time.monotonic()
    assert own.helped("ls")[0] == PLAIN_WAY
    assert time.monotonic() - began_s < 60
    until(lambda: own.process() is None)
    assert own.start() != hung
    assert own.helped("ls")[0] == 0


def test_a_socket_that_was_left_behind_is_replaced(own: Helper) -> None:
    os.kill(own.start(), signal.SIGKILL)
    until(lambda: own.process() is None)
    assert own.helped("ls")[0] == PLAIN_WAY
    own.start()
    assert own.helped("ls")[0] == 0


def test_one_helper_serves_callers_that_start_at_once(own: Helper) -> None:
    started = [subprocess.Popen([*PLAIN, "--version"], env={**own.variables, "ZOE_HELPER": "1"}) for _ in range(3)]
    assert [process.wait(TIMEOUT_S) for process in started] == [0, 0, 0]
    first = until(own.process)
    other = subprocess.run(
        [sys.executable, "-P", "-m", "zoe_cli.helper"], env=own.variables, timeout=TIMEOUT_S, check=True
    )
    assert (other.returncode, own.process()) == (0, first)


def test_the_helper_keeps_no_token_no_file_and_no_folder(own: Helper, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    variables = {**own.variables, "ZOE_HELPER": "1"}
    subprocess.run(
        [*PLAIN, "--version"], env=variables, cwd=tmp_path, pass_fds=(writer,), timeout=TIMEOUT_S, check=True
    )
    os.close(writer)
    assert os.read(reader, 1) == b""  # whoever reads from the caller's pipe sees its end
    os.close(reader)
    process = Path(f"/proc/{until(own.process)}")
    assert b"ZOE_TOKEN" not in (process / "environ").read_bytes()
    assert (process / "cwd").readlink() == Path("/")
    assert os.getsid(int(process.name)) == int(process.name)


def test_it_ends_when_no_call_comes(own: Helper) -> None:
    script = "from zoe_cli.helper import resident; resident.IDLE_S = 0.01; resident.main()"
    subprocess.run([sys.executable, "-P", "-c", script], env=own.variables, timeout=TIMEOUT_S, check=True)
    assert not list(own.folder.glob("????????"))


def test_it_ends_after_an_upgrade(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("1")
    stamps = {str(file): resident._stamp(str(file))}
    assert not resident._are_changed(stamps)
    os.utime(file, (1, 1))
    assert resident._are_changed(stamps)
    file.unlink()
    assert resident._are_changed(stamps)
