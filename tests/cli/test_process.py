"""The command as a process: pipes, terminals, Ctrl-C, completion, a server that comes back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.conftest import Zoe
from tests.cli.server import ADMIN, Server
from tests.cli.terminal import COLUMNS, Terminal
from tests.support.stack import ZOE
from zoe_cli.main import app

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
TIMEOUT_S = 120
BOTH = frozenset({"stdout", "stderr"})


@pytest.fixture
def environment(server: Server) -> dict[str, str]:
    return {"ZOE_URL": server.url, "ZOE_TOKEN": ADMIN}


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{ZOE.parent}{os.pathsep}{os.environ['PATH']}", **environment}
    return subprocess.run(command, env=env, text=True, capture_output=True, timeout=TIMEOUT_S, check=False)


def test_version_and_module(environment: dict[str, str]) -> None:
    done = run(environment, sys.executable, "-m", "zoe_cli.main", "--version")
    assert re.fullmatch(r"zoe \d+\.\d+\.\d+\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_option_before_and_after_the_command(server: Server, zoe: Zoe) -> None:
    assert zoe("-o", "json", "nodes").out == zoe("nodes", "-o", "json").out == zoe("nodes", "--output=json").out
    assert zoe("-o", "json", "nodes", "-o", "name").out == "node-1\n"
    assert zoe("policy", "get", "-o", "json").json() == zoe("-o", "json", "policy", "get").json()


@pytest.mark.parametrize("arguments", [["ls"], ["status", "-o", "json"], ["completion", "bash"]])
def test_a_reader_that_has_gone(environment: dict[str, str], arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(
        [str(ZOE), *arguments], env={**os.environ, **environment}, stdout=writer, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(writer)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, err) == (141, "")


def test_ctrl_c_while_waiting(environment: dict[str, str], submitted: str, server: Server) -> None:
    with Terminal("wait", submitted, environment=environment, on=frozenset({"stderr"})) as terminal:
        terminal.read_until("submitted")
        terminal.interrupt()
        assert "submitted executions continue" in terminal.read_all()
        assert terminal.end() == 130
    assert not server.get(submitted).terminal


def test_waiting_lives_through_a_restart_of_the_server(database_url: str, app_file: Path) -> None:
    with Server(database_url) as first:
        environment = {"ZOE_URL": first.url, "ZOE_TOKEN": ADMIN}
        execution_id = run(environment, "zoe", "run", str(app_file), "-o", "name").stdout.strip()
        waiting = Terminal("wait", execution_id, environment=environment, on=frozenset({"stderr"}))
        waiting.read_until("submitted")
    with waiting, Server(database_url, first.port) as second:
        second.start(execution_id)
        second.end(execution_id)
        assert "stopping" in waiting.read_all()
        assert waiting.end() == 0


def test_a_terminal_gets_colours_and_lines_that_fit(
    environment: dict[str, str], submitted: str, app_file: Path
) -> None:
    run(environment, "zoe", "cancel", submitted)
    run(environment, "zoe", "run", str(app_file), "--name", "n" * 100)
    with Terminal("ls", environment=environment, on=BOTH) as terminal:
        text = terminal.read_all()
    assert COLOUR.search(text)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert submitted in plain
    assert "nnn\u2026  ada" in plain
    assert all(len(line) <= COLUMNS for line in plain.splitlines())


def test_no_color(environment: dict[str, str], submitted: str) -> None:
    with Terminal("ls", environment={**environment, "NO_COLOR": "1"}, on=BOTH) as terminal:
        assert not COLOUR.search(terminal.read_all())


def test_logs_on_a_terminal_show_what_would_drive_it(
    environment: dict[str, str], server: Server, submitted: str
) -> None:
    server.master.output = {f"{submitted}.main.0.1": b"\x1b]0;title\x07 \x1b[32mgreen\x1b[0m\n"}
    with Terminal("logs", submitted, environment=environment, on=BOTH) as terminal:
        assert terminal.read_all().startswith("\\x1b]0;title\\x07 \x1b[32mgreen\x1b[0m")
    piped = run(environment, "zoe", "logs", submitted)
    assert piped.stdout.startswith("\x1b]0;title")


def test_completion_in_bash(environment: dict[str, str], submitted: str) -> None:
    complete = (
        "source <(zoe completion bash); COMP_WORDS=({}); COMP_CWORD={}; _zoe_completion zoe; echo ${{COMPREPLY[@]}}"
    )
    assert run(environment, "bash", "-c", complete.format("zoe exp", 1)).stdout.split() == ["explain"]
    assert submitted in run(environment, "bash", "-c", complete.format("zoe show x", 2)).stdout.split()
    away = {**environment, "ZOE_URL": "http://127.0.0.1:1"}
    assert run(away, "bash", "-c", complete.format("zoe show x", 2)).stdout.split() == []


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef zoe"), ("fish", "complete ")])
def test_completion_scripts(zoe: Zoe, shell: str, word: str) -> None:
    done = zoe("completion", shell)
    assert done.code == 0
    assert word in done.out
    assert "_ZOE_COMPLETE=complete_" + shell in done.out


def names(group: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command, by its words."""
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        if command.hidden:  # an earlier name
            continue
        found += names(command, (*before, name)) if hasattr(command, "commands") else [(*before, name)]
    return found


@pytest.mark.parametrize("command", [(), *names(typer.main.get_command(app))])
def test_every_command_explains_itself_with_examples(zoe: Zoe, command: tuple[str, ...]) -> None:
    done = zoe(*command, "-h")
    assert done.code == 0
    assert done.out == zoe(*command, "--help").out
    assert "Usage: zoe" in done.out
    assert not command or "Examples:" in done.out


def test_command_without_arguments_shows_the_commands(zoe: Zoe) -> None:
    done = zoe()
    assert done.code == 2
    for group in ("Run", "Look", "Files", "Batch", "Account", "Administration"):
        assert group in done.out + done.err
