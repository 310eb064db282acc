"""The directory of one installation: settings and keys that the admin provides, and secrets that are created once."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import zmq

from zoe_embedded.home import write_private
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.sealing import KEY_FILE as CREDENTIALS_KEY
from zoe_lib.sealing import new_key
from zoe_lib.tokens.api_tokens import TokenText

EXAMPLE = Path(__file__).resolve().parent.parent / "deploy" / "zoe.toml.example"
STORAGE_EXAMPLE = EXAMPLE.with_name("zoe-storage.toml.example")
# User of the files and of the containers if root runs this; it needs no name.
ROOTS_USER = 5100
TLS_FILES = ("ca.pem", "cert.pem", "key.pem")
KEY_FILES = ("master.key", "master.key_secret", "api.key", "api.key_secret")


METRICS_TOKEN = "storage_metrics_token"  # noqa: S105 - the name of a file


class SiteError(Exception):
    """A file that only the admin can provide is missing; the message names it and its place."""


@dataclass(frozen=True, slots=True)
class Site:
    """The admin provides `zoe.toml` and `docker/`; `secrets/` is created; only the owner can enter it."""

    path: Path

    @property
    def user(self) -> str:
        """Return the user of the containers, uid:gid, since they read these files: the present user, or another one
        instead of root.
        """
        return f"{ROOTS_USER}:{ROOTS_USER}" if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"

    @property
    def token_file(self) -> Path:
        """Return the path of the first admin's token."""
        return self.path / "secrets" / "admin_token"

    def prepare(self) -> None:
        """Create missing files; keep existing ones. Raises SiteError."""
        for directory in (self.path, self.path / "secrets", self.path / "docker"):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._make_secrets()
        self._check_given()
        self._hand_over()

    def _make_secrets(self) -> None:
        self._secret("admin_token", str(TokenText.new()))
        self._secret("grafana_password", secrets.token_urlsafe(24))
        self._secret("postgres_password", secrets.token_hex(24))
        password = (self.path / "secrets" / "postgres_password").read_text()
        self._secret("pgpass", f"postgres:5432:zoe:zoe:{password}\n")
        self._secret(CREDENTIALS_KEY, new_key())
        self._secret("storage_token", secrets.token_urlsafe(32))
        self._secret(METRICS_TOKEN, secrets.token_urlsafe(32))
        self._secret("swift_key", secrets.token_urlsafe(32))
        self._make_storage_keys()
        missing = [name for name in KEY_FILES if not (self.path / "secrets" / name).exists()]
        if missing:
            with tempfile.TemporaryDirectory(dir=self.path) as draft:
                ensure_keys(Path(draft))
                for name in KEY_FILES:
                    shutil.move(Path(draft) / name, self.path / "secrets" / name)

    def _make_storage_keys(self) -> None:
        """Create CURVE keys of the storage controller, and of Swift's proxies with its public one."""
        if not (self.path / "secrets" / "storage_keys").exists():
            (public, secret), proxy = zmq.curve_keypair(), zmq.curve_keypair()
            (self.path / "secrets" / "storage_proxy_keys").unlink(missing_ok=True)
            self._secret("storage_proxy_keys", b"\n".join((public, *proxy)).decode())
            self._secret("storage_keys", b"\n".join((public, secret, proxy[0])).decode())

    def _secret(self, name: str, text: str) -> None:
        if not (self.path / "secrets" / name).exists():
            write_private(self.path / "secrets" / name, text)

    def _check_given(self) -> None:
        settings = self.path / "zoe.toml"
        if not settings.exists():
            shutil.copy(EXAMPLE, settings)
            settings.chmod(0o644)
            raise SiteError(f"{settings} is new: name your swarm's managers in it, then run this again")
        storage = self.path / "zoe-storage.toml"
        if "storage" in os.environ.get("COMPOSE_PROFILES", "").split(",") and not storage.exists():
            shutil.copy(STORAGE_EXAMPLE, storage)
            storage.chmod(0o644)
            raise SiteError(f"{storage} is new: enter the bandwidth of your Swift, then run this again")
        missing = [name for name in TLS_FILES if not (self.path / "docker" / name).is_file()]
        if missing:
            raise SiteError(
                f"{self.path / 'docker'} lacks {', '.join(missing)}: the keys of the master for Docker Engines "
                "(docs/start/cluster.md says how to make them)"
            )

    def _hand_over(self) -> None:
        """Give the files to the containers' user only; root can always read them."""
        (self.path / "secrets").chmod(0o700)
        for path in (*(self.path / "secrets").iterdir(), *(self.path / "docker" / name for name in TLS_FILES)):
            if os.geteuid() == 0:
                os.chown(path, ROOTS_USER, ROOTS_USER)
            # Prometheus runs as another user, and only root could make that the owner. The directory is closed.
            path.chmod(0o444 if path.name == METRICS_TOKEN else 0o400)
