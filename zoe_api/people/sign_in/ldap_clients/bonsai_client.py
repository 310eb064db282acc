"""The client bonsai, a binding of libldap, in a process for each session.

bonsai waits for the answer to a bind with Python's lock held, and libldap waits inside a message that does not end. A
directory that hangs would stop all threads of the API. A process can be ended, and its only secrets are the passwords
of its session.
"""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from zoe_api.people.sign_in.ldap_clients.base import (
    ANSWERS_BYTES_MAX,
    DirectoryFailed,
    Entry,
    searcher,
)
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.settings.sign_in_settings import LdapSettings

_PROGRAM = Path(__file__).with_name("bonsai_program.py")


class BonsaiClient:
    """Starts a process of `python`, which has bonsai, for each session."""

    def __init__(self, settings: LdapSettings, clock: Clock = SYSTEM_CLOCK, python: str = sys.executable) -> None:
        self._settings = settings
        self._clock = clock
        self._python = python

    @contextmanager
    def session(self, until_s: float) -> Iterator[BonsaiSession]:
        """Yield a session that breaks at `until_s`."""
        dn, password = searcher(self._settings)
        left_s = until_s - self._clock.monotonic_s()
        if left_s <= 0:
            raise DirectoryFailed("no answer in time")
        with _ended_after(self._process(), left_s) as process:
            session = BonsaiSession(process)
            session.open(self._settings, dn, password)
            yield session

    def _process(self) -> subprocess.Popen[bytes]:
        command = [self._python, "-I", str(_PROGRAM)]
        # Without files of settings: those of the machine could turn off the check of certificates.
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"LDAPNOINIT": "1"},
            cwd="/",
        )


class BonsaiSession:
    """A process bound as the searcher."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def open(self, settings: LdapSettings, dn: str, password: str) -> None:
        """Bind as the searcher. DirectoryFailed."""
        paths = ssl.get_default_verify_paths()
        ca_file = str(settings.ca_file) if settings.ca_file else paths.cafile
        self._ask(
            "open",
            url=settings.url,
            start_tls=settings.start_tls,
            ca_file=ca_file,
            ca_dir=None if settings.ca_file else paths.capath,
            dn=dn,
            password=password,
        )

    def search(self, base: str, entry_filter: str, attribute: str, entries_max: int = 0) -> Sequence[Entry]:
        """Return the entries below `base`."""
        found = self._ask("search", base=base, entry_filter=entry_filter, attribute=attribute, entries_max=entries_max)
        return [Entry(dn, tuple(values)) for dn, values in found]

    def bind(self, dn: str, password: str) -> None:
        """Bind on a separate connection."""
        self._ask("bind", dn=dn, password=password)

    def _ask(self, action: str, **arguments: Any) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps({"action": action, **arguments}).encode() + b"\n")
            stdin.flush()
            line = stdout.readline(ANSWERS_BYTES_MAX)
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise DirectoryFailed("no answer in time, or one that is too long")
        answer = json.loads(line)
        if "error" not in answer:
            return answer["result"]
        raise DirectoryFailed(answer["error"], answer["code"])


@contextmanager
def _ended_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
