"""Keys and configuration of ssh for one service, in a directory that only its user can read.

Both keys are made here: the API carries the host key to the service, so ssh knows it before it connects.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from zoe_client.contexts import contexts_file

KEY, HOST_KEY = "key", "host"
_KNOWN, CONFIG = "known_hosts", "config"
_KEPT_S = 30 * 86400.0
_KEYGEN_S = 60.0


class NoSshError(Exception):
    """OpenSSH's client is not installed on this machine."""


def lasting_directory(name: str) -> Path:
    """Return the lasting directory of a host, for editors; remove those that were unused for a month."""
    base = contexts_file().parent / "ssh"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    for other in base.iterdir():
        if other.name != name and other.stat().st_mtime < time.time() - _KEPT_S:
            shutil.rmtree(other, ignore_errors=True)
    found = base / name
    found.mkdir(mode=0o700, exist_ok=True)
    return found


def make_keys(directory: Path, host: str) -> None:
    """Make the missing keys, and the list of known hosts. NoSshError if there is no ssh-keygen."""
    for name in (KEY, HOST_KEY):
        if not (directory / name).exists():
            _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"zoe {name}", "-f", str(directory / name))
    _write(directory / _KNOWN, f"{host} {(directory / f'{HOST_KEY}.pub').read_text('utf-8')}")
    with suppress(OSError):
        os.utime(directory)


def configuration(directory: Path, host: str, user: str, proxy: Sequence[str]) -> str:
    """Return the block for ~/.ssh/config. `proxy` is the command that connects."""
    command = " ".join(shlex.quote(word) for word in proxy).replace("%", "%%")
    lines = [
        f"Host {host}",
        f"    User {user}",
        f"    ProxyCommand {command}",
        f"    IdentityFile {_quote_path(directory / KEY)}",
        "    IdentitiesOnly yes",
        "    PreferredAuthentications publickey",
        f"    HostKeyAlias {host}",
        f"    UserKnownHostsFile {_quote_path(directory / _KNOWN)}",
        "    GlobalKnownHostsFile /dev/null",
        "    StrictHostKeyChecking yes",
        "    ServerAliveInterval 30",
    ]
    return "\n".join(lines) + "\n"


def write_configuration(directory: Path, text: str) -> Path:
    """Write the configuration, and return the path of its file."""
    return _write(directory / CONFIG, text)


def _quote_path(path: Path) -> str:
    return '"' + str(path).replace("%", "%%") + '"'


def _write(path: Path, text: str) -> Path:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _run(*words: str) -> None:
    try:
        subprocess.run(words, check=True, timeout=_KEYGEN_S, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise NoSshError(f"there is no {words[0]} on this machine; install OpenSSH's client") from None
    except (subprocess.SubprocessError, OSError) as error:
        raise NoSshError(f"{words[0]} failed: {error}") from None
