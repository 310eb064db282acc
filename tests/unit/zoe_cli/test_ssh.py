"""The configuration of ssh, and how services are named on the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import typer

from tests.support.needs import need_program
from zoe_cli.commands.inside import ssh_keys
from zoe_cli.commands.inside.choosing import service_and_words


def test_ssh_reads_the_block_as_it_is_meant(tmp_path: Path) -> None:
    need_program("ssh")
    directory = tmp_path / "with a space and 100%"
    directory.mkdir()
    ssh_keys.make_keys(directory, "zoe-x1")
    proxy = ["/a b/python", "-m", "zoe_cli.main", "ssh", "--proxy", str(directory), "x1", "50%"]
    config = ssh_keys.write_configuration(directory, ssh_keys.configuration(directory, "zoe-x1", "ann", proxy))
    read = subprocess.run(["ssh", "-F", config, "-G", "zoe-x1"], capture_output=True, text=True, check=True).stdout
    found = dict(line.split(" ", 1) for line in read.splitlines())
    assert found["user"] == "ann"
    assert found["hostkeyalias"] == "zoe-x1"
    assert found["stricthostkeychecking"] in ("true", "yes")
    assert found["proxycommand"].startswith("'/a b/python' -m zoe_cli.main ssh --proxy")
    assert found["proxycommand"].endswith("x1 50%%")
    assert (directory / "known_hosts").read_text().startswith("zoe-x1 ssh-ed25519 ")


def test_keys_are_kept_and_only_the_user_can_read_them(tmp_path: Path) -> None:
    need_program("ssh-keygen")
    ssh_keys.make_keys(tmp_path, "zoe-x1")
    before = (tmp_path / "key").read_bytes(), (tmp_path / "host").read_bytes()
    ssh_keys.make_keys(tmp_path, "zoe-x1")
    assert ((tmp_path / "key").read_bytes(), (tmp_path / "host").read_bytes()) == before
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("key", "host", "known_hosts")} == {0o600}


@pytest.mark.parametrize(
    ("words", "service", "rest"),
    [
        ([], None, []),
        (["--", "ls", "-l"], None, ["ls", "-l"]),
        (["worker/2"], "worker/2", []),
        (["worker/2", "--", "-L", "1:a:2"], "worker/2", ["-L", "1:a:2"]),
    ],
)
def test_a_service_stands_before_what_ssh_gets(words: list[str], service: str | None, rest: list[str]) -> None:
    assert service_and_words(words) == (service, rest)


def test_a_command_without_a_dash_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="write -- before the command 'ls'"):
        service_and_words(["worker", "ls"])
