"""A real OpenStack Keystone on loopback, with projects, users and roles that tests make."""

from __future__ import annotations

import json
import secrets
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.s3_signing import Signer
from tests.support.waiting import until
from zoe_embedded.home import Home
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.runtimes.locked_programs import ensure_program
from zoe_embedded.runtimes.runtime import CLONE

DOMAIN = "default"


def keystones_environment() -> Path:
    """Return the directory of the environment, which has its filters for Swift too."""
    return ensure_program(Home.find(CLONE).create(), "keystone", "python").parent.parent


@dataclass(frozen=True)
class Project:
    """A project; its account in Swift is `AUTH_<id>`."""

    id: str
    name: str
    domain: str

    @property
    def account(self) -> str:
        return f"AUTH_{self.id}"


@dataclass(frozen=True)
class KeystoneUser:
    """A user with a password. domain: the id of its domain."""

    id: str
    name: str
    domain: str
    password: str


class Keystone:
    """Keystone's API, as its admin."""

    def __init__(self, url: str, password: str, pid: int) -> None:
        self.url = url
        self.pid = pid
        self._http = httpx.Client(base_url=url, timeout=120, trust_env=False)
        self._roles: dict[str, str] = {}
        self._admin = KeystoneUser("", "admin", DOMAIN, password)
        self._http.headers["X-Auth-Token"] = self._token(
            {"user": {"name": "admin", "domain": {"id": DOMAIN}, "password": password}},
            {"project": {"name": "admin", "domain": {"id": DOMAIN}}},
        )

    def close(self) -> None:
        self._http.close()

    def domain(self, name: str) -> str:
        """Return the id of a new domain."""
        return str(self._made("domains", "domain", name=name)["id"])

    def project(self, name: str, domain: str = DOMAIN) -> Project:
        return Project(self._made("projects", "project", name=name, domain_id=domain)["id"], name, domain)

    def user(self, name: str, domain: str = DOMAIN) -> KeystoneUser:
        password = secrets.token_hex(8)
        made = self._made("users", "user", name=name, domain_id=domain, password=password)
        return KeystoneUser(made["id"], name, domain, password)

    def grant(self, user: KeystoneUser, project: Project, role: str) -> None:
        self._http.put(self._path_of(user, project, role)).raise_for_status()

    def revoke(self, user: KeystoneUser, project: Project, role: str) -> None:
        self._http.delete(self._path_of(user, project, role)).raise_for_status()

    def token(self, user: KeystoneUser, project: Project | None) -> str:
        """Return a token for a project, or for none."""
        scope = {"project": {"id": project.id}} if project else "unscoped"
        return self._token({"user": {"id": user.id, "password": user.password}}, scope)

    def application_credential(self, user: KeystoneUser, project: Project) -> tuple[str, str]:
        """Return id and secret of a new one of a user, with the roles that the user has in a project."""
        wanted = {"application_credential": {"name": secrets.token_hex(4)}}
        headers = {"X-Auth-Token": self.token(user, project)}
        answer = self._http.post(f"/users/{user.id}/application_credentials", json=wanted, headers=headers)
        made = answer.raise_for_status().json()["application_credential"]
        return made["id"], made["secret"]

    def has_store(self, root: str) -> None:
        """Add the accounts below this address to the catalogue."""
        service = self._made("services", "service", type="object-store", name="swift")["id"]
        address = f"{root}/v1/AUTH_$(project_id)s"
        self._made("endpoints", "endpoint", service_id=service, interface="public", url=address)

    def end_token(self, token: str) -> None:
        self._http.delete("/auth/tokens", headers={"X-Subject-Token": token}).raise_for_status()

    def key(self, user: KeystoneUser, project: Project) -> Signer:
        """Return a new EC2 credential of a user for a project."""
        path = f"/users/{user.id}/credentials/OS-EC2"
        made = self._http.post(path, json={"tenant_id": project.id}).raise_for_status().json()["credential"]
        return Signer(made["access"], made["secret"])

    def chosen_key(self, user: KeystoneUser, token: str, access: str, project: Project) -> Signer:
        """Return an EC2 credential that a user makes with an access key of its choice, for any project."""
        signer = Signer(access, secrets.token_hex(16))
        blob = json.dumps({"access": access, "secret": signer.secret})
        fields = {"type": "ec2", "blob": blob, "project_id": project.id, "user_id": user.id}
        headers = {"X-Auth-Token": token}
        self._http.post("/credentials", json={"credential": fields}, headers=headers).raise_for_status()
        return signer

    def end_key(self, user: KeystoneUser, signer: Signer) -> None:
        self._http.delete(f"/users/{user.id}/credentials/OS-EC2/{signer.access_key}").raise_for_status()

    def _path_of(self, user: KeystoneUser, project: Project, role: str) -> str:
        if not self._roles:
            self._roles = {entry["name"]: entry["id"] for entry in self._http.get("/roles").json()["roles"]}
        if role not in self._roles:
            self._roles[role] = self._made("roles", "role", name=role)["id"]
        return f"/projects/{project.id}/users/{user.id}/roles/{self._roles[role]}"

    def _made(self, path: str, kind: str, **fields: Any) -> dict[str, Any]:
        answer = self._http.post(f"/{path}", json={kind: fields})
        assert answer.status_code == httpx.codes.CREATED, answer.text
        found: dict[str, Any] = answer.json()[kind]
        return found

    def _token(self, password: dict[str, Any], scope: Any) -> str:
        identity = {"methods": ["password"], "password": password}
        answer = self._http.post("/auth/tokens", json={"auth": {"identity": identity, "scope": scope}})
        assert answer.status_code == httpx.codes.CREATED, answer.text
        return str(answer.headers["X-Subject-Token"])


@contextmanager
def keystone() -> Iterator[Keystone]:
    """Up on loopback with an empty database; removed in the end."""
    python = keystones_environment() / "bin" / "python"
    password = secrets.token_hex(8)
    held = HeldPorts(1)
    port = held.numbers[0]
    with tempfile.TemporaryDirectory(prefix="zoe-keystone-", dir="/dev/shm") as directory:
        log = Path(directory) / "log"
        command: Sequence[str] = [str(python), "-W", "ignore", "-P", str(_SERVER), directory, str(port)]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output, cwd="/")
        assert process.stdin is not None
        try:
            process.stdin.write(f"{password}\n".encode())
            process.stdin.close()
            held.close()
            until(lambda: process.poll() is not None or _answers(port), deadline_s=180)
            assert process.poll() is None, log.read_text()[-2000:]
            made = Keystone(f"http://127.0.0.1:{port}/v3", password, process.pid)
            try:
                yield made
            finally:
                made.close()
        finally:
            process.kill()
            process.wait()


_SERVER = CLONE / "tests" / "support" / "keystone_server.py"


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/v3", timeout=60, trust_env=False).is_success
    except httpx.TransportError:
        return False
