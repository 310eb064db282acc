"""Sources on real engines: cloned by the container's first program, as the user, into the workspace."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.local.repositories import TOKEN, Repository, served
from tests.local.support import ANN, component, start_of
from tests.local.wheels import wheelhouse
from tests.support.images import provide
from tests.support.needs import need_program
from tests.support.swarm_backend import SwarmHarness
from tests.swarm.cluster import Cluster
from tests.swarm.git_image import IMAGE, listen_in, make_git_image
from zoe_lib.domain.applications.application import Component, ComponentSource
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState, ServiceSecrets
from zoe_master.backends.engine.settings import EnvironmentSettings, SourceSettings

MIB = 2**20
RUN = "cd {workspace}/project && sh hello.sh; id -u; stat -c %u hello.sh"


class Place:
    """A repository in the network of a node, and a back-end whose image trusts its server."""

    def __init__(self, harness: SwarmHarness, directory: Path) -> None:
        self.harness, self.repository = harness, Repository(directory)
        self.wheels = wheelhouse()
        harness.base.chmod(0o755)
        self.workspaces = harness.base / "workspaces"
        self.workspaces.mkdir(mode=0o755)
        harness.settings = replace(
            harness.settings, user="", workspaces_dir=self.workspaces, gateway_image="zoe/gateway", images=("zoe/*",),
            environments=EnvironmentSettings(wheelhouse=str(self.wheels)),
        )  # fmt: skip
        self.url, self._count = "", 0

    def started(self, script: str = RUN, image: str = IMAGE, value: str = TOKEN, **changes: Any) -> str:
        """A service with the repository as its source."""
        fields = {name: changes.pop(name) for name in ("ref", "into", "secret") if name in changes}
        source = ComponentSource(**{"url": f"{self.url}/project.git", "into": "project", **fields})
        small = Resources(100, 256 * MIB)
        made: Component = component(image, ("sh", "-c", script), reservation=small, sources=(source,), **changes)
        self._count += 1
        service = f"s{self._count}.c.0.1"
        self.harness.backend.start(
            start_of(made, service, secrets=ServiceSecrets({"key": value} if source.secret else {}))
        )
        return service

    def output(self, *words: str, **changes: Any) -> list[str]:
        service = self.started(*words, **changes)
        self.ended = self.harness.reach(service, ObservedState.ENDED)
        self.harness.until(lambda: self.harness.backend.logs(service, 0, 1).complete or self.harness.output(service))
        return self.harness.output(service).splitlines()

    @property
    def clone(self) -> Path:
        return self.workspaces / "tenant" / "ann" / "project"


@pytest.fixture(scope="module")
def place(swarm: Cluster) -> Iterator[Place]:
    need_program("git")
    provide(swarm, "zoe/base", "zoe/gateway")
    harness = SwarmHarness(swarm)
    directory = harness.base / "served"
    directory.mkdir(mode=0o755)
    made = Place(harness, directory)
    with served(directory, at=listen_in(swarm.manager)) as url:
        made.url = url
        make_git_image(swarm.manager, "zoe/base", directory / "ca" / "ca.pem")
        yield made
    shutil.rmtree(made.wheels)
    harness.finish()
    swarm.manager.api.remove_image(IMAGE, force=True)


@pytest.fixture(autouse=True)
def fresh(place: Place) -> None:
    shutil.rmtree(place.clone, ignore_errors=True)


def test_the_workspace_has_what_is_named_and_it_goes_forward(place: Place) -> None:
    place.repository.commit("first", tag="v1")
    place.repository.commit("second")
    assert place.output()[-3:] == ["second", str(ANN.uid), str(ANN.uid)]
    place.repository.commit("third")
    assert place.output()[-3] == "third"
    assert place.output(ref="v1", into="at/v1", script="sh {workspace}/at/v1/hello.sh")[-1] == "first"
    (place.clone / "hello.sh").write_text("echo mine\n")
    output = place.output()
    assert "zoe: project has changes of its own, and is left as it is" in output
    assert output[-3] == "mine"


def test_packages_come_after_the_sources(place: Place) -> None:
    place.repository.commit("first")
    script = "sh {workspace}/project/hello.sh; apple; echo $HOME"
    output = place.output(script=script, requirements=("apple==1.0",))
    cloning = next(number for number, line in enumerate(output) if line.startswith("zoe: cloning"))
    making = output.index("zoe: making an environment of apple==1.0")
    assert cloning < making
    assert output[-3:-1] == ["first", "apple 1.0"]


def test_a_private_repository_needs_its_secret_which_nothing_shows(place: Place, swarm: Cluster) -> None:
    place.repository.commit("hidden")
    public = place.url
    with served(place.repository.bare.parent, TOKEN, at=listen_in(swarm.manager)) as url:
        place.url = url
        try:
            wrong = place.output(secret="key", value="wrong-token")
            assert place.ended.exit_code == 1
            assert any("Authentication failed" in line for line in wrong)
            assert not place.clone.exists()
            assert "could not read Username" in "".join(place.output())
            service = place.started("cd {workspace}/project && sh hello.sh; exec sleep 600", secret="key")
            place.harness.until(lambda: "hidden" in place.harness.output(service))
            api: Any = swarm.manager.api
            [container] = api.containers(filters={"label": f"zoe.execution={service.partition('.')[0]}"})
            shown = [api.inspect_container(container["Id"]), api.services(), api.tasks(), api.secrets(), api.configs()]
            assert TOKEN not in json.dumps(shown)
            assert TOKEN not in place.harness.output(service)
            assert TOKEN not in "".join(path.read_text() for path in (place.clone / ".git").glob("config*"))
            place.harness.backend.stop([service])
            place.harness.reach(service, ObservedState.ENDED)
        finally:
            place.url = public


def test_git_missing_in_the_image_is_reported(place: Place) -> None:
    assert place.output(image="zoe/base") == ["zoe: the image has no git, which sources need"]
    assert place.ended.exit_code == 127


def test_a_repository_that_is_larger_than_the_bound_is_refused(place: Place) -> None:
    place.repository.commit("first")
    place.harness.reopen()
    before = place.harness.settings
    place.harness.settings = replace(before, sources=SourceSettings(bytes_max=1000))
    try:
        output = place.output()
        assert place.ended.exit_code == 1
        assert "which is the site's limit" in output[-1]
        assert not place.clone.exists()
    finally:
        place.harness.reopen()
        place.harness.settings = before
