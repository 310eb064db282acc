"""Run by the interpreter of Keystone's environment: make a database with an admin, then serve it on loopback.

Its arguments are a directory that exists and the port; the line of its input is the password of `admin` in the project
`admin` of the domain `default`.
"""

from __future__ import annotations

import os
import socketserver
import sys
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from cryptography.fernet import Fernet
from keystone.cmd import manage
from keystone.server.wsgi import initialize_public_application

_CONFIGURATION = """
[database]
connection = sqlite:///{0}/keystone.db
[fernet_tokens]
key_repository = {0}/keys
[fernet_receipts]
key_repository = {0}/keys
[credential]
key_repository = {0}/keys
[identity]
password_hash_rounds = 4
"""


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class _Handler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Limit the log to Keystone's messages."""


def _manage(*words: str) -> None:
    """Run `keystone-manage` in a process that has everything imported."""
    if not (pid := os.fork()):
        sys.argv = ["keystone-manage", *words]
        manage.main()
        os._exit(0)
    if code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise SystemExit(f"keystone-manage {words[0]} ended with {code}")


def main(directory: Path, port: int, password: str) -> None:
    """Serve until SIGTERM."""
    (directory / "keys").mkdir(mode=0o700)
    for name in ("0", "1"):
        (directory / "keys" / name).write_bytes(Fernet.generate_key())
    (directory / "keystone.conf").write_text(_CONFIGURATION.format(directory))
    os.environ |= {"OS_KEYSTONE_CONFIG_DIR": str(directory), "OS_BOOTSTRAP_PASSWORD": password}
    _manage("--config-dir", str(directory), "db_sync")
    urls = (f"--bootstrap-{kind}-url=http://127.0.0.1:{port}/v3" for kind in ("public", "internal", "admin"))
    _manage("--config-dir", str(directory), "bootstrap", *urls)
    sys.argv = sys.argv[:1]  # which Keystone reads as options
    application = initialize_public_application()
    with make_server("127.0.0.1", port, application, _Server, _Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.stdin.readline().strip())
