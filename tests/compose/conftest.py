"""docker-compose.yml on the first engine of a test swarm, brought up and taken down as an operator does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.compose.debian_13 import plugins_with_compose
from tests.compose.stand_ins import provide_all
from tests.support.long import LONG
from tests.support.needs import need_program
from tests.support.swarm import need_swarm
from tests.swarm.cluster import Cluster
from tests.swarm.image_disk import image_disk
from zoe_client import Client

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "zoe-compose-test"
TIMEOUT_S = 240


class Deployment:
    """One installation; commands are run as the Makefile runs them.

    `plugins` is a configuration directory of `docker` with a plugin `compose`, which is used instead of the machine's.
    """

    def __init__(self, swarm: Cluster, plugins: Path | None) -> None:
        self.engine = swarm.manager
        self._plugins = {} if plugins is None else {"DOCKER_CONFIG": str(plugins)}
        self.site = swarm.base / "site"
        self.url = f"http://{self.engine.address}:5100"
        self.token_file = self.site / "secrets" / "admin_token"
        self._prepare(swarm)

    def _prepare(self, swarm: Cluster) -> None:
        (self.site / "docker").mkdir(parents=True)
        for name in ("ca.pem", "cert.pem", "key.pem"):
            shutil.copy(swarm.certificates / name, self.site / "docker")
        (self.site / "zoe.toml").write_text(
            f'swarm_managers = ["tcp://{self.engine.address}:2376"]\nstorage_url = "http://storage:5560"\n'
            'storage_token_file = "/run/secrets/storage_token"\n'
        )
        (self.site / "zoe.toml").chmod(0o644)
        shutil.copy(ROOT / "deploy" / "zoe-storage.toml.example", self.site / "zoe-storage.toml")
        (self.site / "zoe-storage.toml").chmod(0o644)

    def make(self, *arguments: str) -> str:
        """Run `up` or `down` with its options; return the output."""
        done = subprocess.run(
            [sys.executable, "-m", "scripts.deploy", *arguments],
            cwd=ROOT, env=self._environment(), capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{self.story()}"
        return done.stdout

    def zoe(self, *arguments: str) -> str:
        """The command line on another machine."""
        signed_in = {**_clean(), "ZOE_URL": self.url, "ZOE_TOKEN_FILE": str(self.token_file), "ZOE_HELPER": "0"}
        zoe = Path(sys.executable).with_name("zoe")
        done = subprocess.run(
            [zoe, *arguments], env=signed_in, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{self.story()}"
        return done.stdout

    def client(self) -> Client:
        return Client(self.url, self.token_file.read_text())

    def containers(self) -> dict[str, dict[str, Any]]:
        """All of the project's, by service."""
        mine = {"label": f"com.docker.compose.project={PROJECT}"}
        found = [self.engine.api.inspect_container(c["Id"]) for c in self.engine.api.containers(all=True, filters=mine)]
        return {entry["Config"]["Labels"]["com.docker.compose.service"]: entry for entry in found}

    def execute(self, service: str, command: Sequence[str]) -> tuple[int, str]:
        """Run a command in a container; its exit code and output."""
        api = self.engine.api
        made = api.exec_create(self.containers()[service]["Id"], list(command))
        output = api.exec_start(made["Id"]).decode()
        return api.exec_inspect(made["Id"])["ExitCode"], output

    def things(self) -> dict[str, list[str]]:
        """What Docker keeps of the project."""
        api: Any = self.engine.api
        volumes = api.volumes()["Volumes"] or []
        return {
            "containers": sorted(self.containers()),
            "networks": [network["Name"] for network in api.networks() if network["Name"].startswith(PROJECT)],
            "volumes": [volume["Name"] for volume in volumes if volume["Name"].startswith(PROJECT)],
        }

    def story(self) -> str:
        """States and last words of all containers."""
        logs = self.engine.api.logs
        return "\n".join(
            f"--- {name}: {entry['State']}\n{logs(entry['Id'], tail=20).decode()}"
            for name, entry in self.containers().items()
        )

    def _environment(self) -> dict[str, str]:
        return {
            **_clean(),
            **self._plugins,
            "DOCKER_HOST": f"unix://{self.engine.socket}",
            "COMPOSE_PROJECT_NAME": PROJECT,
            "COMPOSE_PROFILES": "prometheus,storage",
            "ZOE_SITE": str(self.site),
            "ZOE_API_ADDRESS": self.engine.address,
            "ZOE_POSTGRES_IMAGE": "zoe-test/postgres",
            "ZOE_PROMETHEUS_IMAGE": "zoe-test/prometheus",
        }


def _clean() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("ZOE_", "COMPOSE_", "DOCKER_"))}


@pytest.fixture(scope="session", params=["installed", "Debian 13"])
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """By the Compose of this machine, then by that of Debian 13."""
    newer = request.param == "Debian 13"
    if newer and not LONG:
        pytest.skip("long: it runs in `make test-swarm`")
    need_swarm()
    if not newer:
        need_program("docker-compose")
    plugins = plugins_with_compose() if newer else None
    swarm = Cluster(images=image_disk())
    try:
        provide_all(swarm)
        made = Deployment(swarm, plugins)
        made.make("up")
        yield made
    finally:
        swarm.remove()
