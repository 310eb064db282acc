"""Run Zoe with docker-compose.yml: `make up` and `make down`, with `docker compose` or `docker-compose`.

up: creates the secrets once, starts everything, waits until it is healthy, and prints how to sign in. down: stops
everything; data stay in its volumes unless `--volumes` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from scripts.deploy_site import Site, SiteError

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "zoe"
HEALTHY_WITHIN_S = 180.0
# `down` of version 2 leaves services of other profiles, and networks with them.
_ALL = {"COMPOSE_PROFILES": "metrics,prometheus,storage"}


class DeployError(Exception):
    """Zoe cannot be started or stopped; the message says why and what to do."""


def main() -> int:
    """Run the command of the command line."""
    options = _options()
    try:
        site = Site(Path(os.environ.get("ZOE_SITE") or ROOT / "deploy" / "site"))
        compose = Compose(site)
        if options.command == "up":
            up(compose, site)
        else:
            compose.run("down", "--remove-orphans", *(["--volumes"] if options.volumes else []), **_ALL)
    except (DeployError, SiteError) as error:
        print(f"zoe: {error}", file=sys.stderr)
        return 1
    return 0


def up(compose: Compose, site: Site) -> None:
    """Start, and wait until everything is healthy."""
    site.prepare()
    compose.run("up", "--detach", "--remove-orphans")
    give_up_s = time.monotonic() + HEALTHY_WITHIN_S
    while waiting := compose.not_healthy():
        if time.monotonic() > give_up_s:
            raise DeployError(f"not healthy after {HEALTHY_WITHIN_S:g} s; see `docker logs`:\n" + "\n".join(waiting))
        time.sleep(1.0)  # each check starts two programs
    address = os.environ.get("ZOE_API_ADDRESS") or "127.0.0.1"
    port = os.environ.get("ZOE_API_PORT") or "5100"
    print(f"Zoe is up. To sign in on this machine:\n  export ZOE_URL=http://{address}:{port}")
    print(f"  export ZOE_TOKEN_FILE={site.token_file}\n  .venv/bin/zoe status")


class Compose:
    """The installed one of the two programs, for one project."""

    def __init__(self, site: Site) -> None:
        self._program = _program()
        self._environment = {**os.environ, "ZOE_SITE": str(site.path), "ZOE_USER": site.user}
        self.project = os.environ.get("COMPOSE_PROJECT_NAME") or PROJECT

    def run(self, *arguments: str, **environment: str) -> None:
        """Run one of its commands; its output shows the progress."""
        command = [*self._program, "--project-name", self.project, "--file", str(ROOT / "docker-compose.yml")]
        done = subprocess.run([*command, *arguments], env={**self._environment, **environment}, cwd=ROOT, check=False)
        if done.returncode != 0:
            raise DeployError(f"{' '.join(self._program)} {arguments[0]} ended with {done.returncode}")

    def not_healthy(self) -> list[str]:
        """Return containers that should run and are not healthy yet; Raises DeployError if one has failed."""
        listed = _docker("ps", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={self.project}")
        found = json.loads(_docker("inspect", *listed.split())) if listed else []
        return [name for container in found if (name := _trouble(container))]


def _trouble(container: dict[str, object]) -> str | None:
    name, state = str(container["Name"]).lstrip("/"), container["State"]
    assert isinstance(state, dict)
    if "Health" in state:
        told = [str(entry["Output"]).strip() for entry in state["Health"]["Log"] or []]
        return None if state["Health"]["Status"] == "healthy" else f"{name}: {told[-1] if told else 'not asked yet'}"
    if state["Status"] == "exited" and state["ExitCode"] != 0:
        raise DeployError(f"{name} ended with {state['ExitCode']}:\n{_docker('logs', name)}")
    return None if state["Status"] == "exited" else f"{name} ({state['Status']})"


def _program() -> list[str]:
    if shutil.which("docker") is None:
        raise DeployError("there is no docker command: apt-get install -y docker.io docker-compose")
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose") is None:
        raise DeployError("neither `docker compose` nor docker-compose is installed: apt-get install -y docker-compose")
    return ["docker-compose"]


def _docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DeployError(f"docker {arguments[0]}: {done.stderr.strip()}")
    return done.stdout + (done.stderr if arguments[0] == "logs" else "")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="deploy", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["up", "down"])
    parser.add_argument("--volumes", action="store_true", help="with down: remove the data, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
