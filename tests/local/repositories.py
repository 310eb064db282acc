"""A git repository behind https and ssh on loopback, as its users see it."""

from __future__ import annotations

import base64
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.needs import need_program
from tests.support.waiting import until
from tests.swarm.certificates import make_certificates

TOKEN = "a-token-that-nobody-may-see"


class Repository:
    """A bare repository, and the work tree from which the test pushes."""

    def __init__(self, directory: Path) -> None:
        self.bare, self._work = directory / "project.git", directory / "work"
        git("init", "-q", "--bare", "-b", "main", str(self.bare))
        git("clone", "-q", str(self.bare), str(self._work))
        git("checkout", "-q", "-B", "main", at=self._work)

    def commit(self, text: str, branch: str = "main", tag: str = "") -> str:
        """Push a commit whose `hello.sh` prints a text; return its name."""
        git("checkout", "-q", "-B", branch, at=self._work)
        (self._work / "hello.sh").write_text(f"echo {text}\n")
        git("add", ".", at=self._work)
        git("commit", "-q", "--allow-empty", "-m", text, at=self._work)
        if tag:
            git("tag", tag, at=self._work)
        git("push", "-q", "--tags", "origin", branch, at=self._work)
        git("update-server-info", at=self.bare)
        return git("rev-parse", "HEAD", at=self._work)


def git(*words: str, at: Path | None = None) -> str:
    place = () if at is None else ("-C", str(at))
    names = {f"GIT_{who}_{what}": "test@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *place, *words], env={**os.environ, **names}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class _Handler(SimpleHTTPRequestHandler):
    token = ""

    def do_GET(self) -> None:
        given = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        if self.token and given.partition(":")[2] != self.token:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(directory: Path, token: str = "", at: socket.socket | None = None) -> Iterator[str]:
    """Serve a directory by https on loopback, or at a listening socket, with `ca/ca.pem` below it as its authority;
    return the address.
    """
    listening = at or socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()[:2]
    if not (directory / "ca").exists():
        make_certificates(directory / "ca", [host])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "ca" / "server.pem", directory / "ca" / "server-key.pem")
    handler = type("Handler", (_Handler,), {"token": token})
    make = partial(handler, directory=str(directory))
    server = ThreadingHTTPServer((host, port), make, bind_and_activate=False)
    server.socket.close()
    server.socket = context.wrap_socket(listening, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"https://{host}:{port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class SshServer:
    """An sshd on loopback: its port, the key that it lets in, and its line in known_hosts."""

    port: int
    private_key: str
    known_host: str


@contextmanager
def ssh_server(directory: Path) -> Iterator[SshServer]:
    """Run Debian's sshd for root, who owns the repository; only the key of the test opens it."""
    program = need_program("sshd")
    directory.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    apart = Path("/run/sshd")  # sshd insists on it; services of Debian make it
    made = not apart.exists()
    apart.mkdir(mode=0o755, exist_ok=True)
    options = (
        f"HostKey={directory}/host", f"AuthorizedKeysFile={directory}/user.pub", "StrictModes=no", "UsePAM=no",
        "PidFile=none", "ListenAddress=127.0.0.1", "PasswordAuthentication=no", "KbdInteractiveAuthentication=no",
    )  # fmt: skip
    words = [word for option in options for word in ("-o", option)]
    server = subprocess.Popen(
        [program, "-D", "-e", "-f", "/dev/null", "-p", str(port), *words], stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: _answers(port))
        host = " ".join((directory / "host.pub").read_text().split()[:2])
        yield SshServer(port, (directory / "user").read_text(), f"[127.0.0.1]:{port} {host}")
    finally:
        server.terminate()
        server.wait()
        if made:
            apart.rmdir()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
