"""Packages in containers of real engines: made once for each user, from wheels, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.local.support import ANN, BOB, component, start_of
from tests.local.wheels import make_wheel, wheelhouse
from tests.support.images import provide
from tests.support.swarm_backend import SwarmHarness
from tests.support.swarm_installation import needs_time
from tests.swarm.cluster import Cluster
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState
from zoe_master.backends.engine.settings import EnvironmentSettings
from zoe_master.backends.environments.build import MARKER

MIB = 2**20


class Packages:
    """A back-end with workspaces and a directory of wheels."""

    def __init__(self, harness: SwarmHarness) -> None:
        self.harness = harness
        harness.base.chmod(0o755)
        self.workspaces = harness.base / "workspaces"
        self.workspaces.mkdir(mode=0o755)
        self.wheels = wheelhouse()
        harness.settings = replace(
            harness.settings, user="", workspaces_dir=self.workspaces, gateway_image="zoe/gateway",
            images=("zoe/*", "shell"), environments=EnvironmentSettings(wheelhouse=str(self.wheels)),
        )  # fmt: skip
        self.count = 0

    def run(self, made: Component, user: str = "ann", node: str = "node-1") -> str:
        """Its output, once it has ended."""
        self.count += 1
        service = f"e{self.count}.c.0.1"
        start = start_of(made, service, node, user=user, system_user={"ann": ANN, "bob": BOB}[user])
        self.harness.backend.start(start)
        self.last = self.harness.reach(service, ObservedState.ENDED)
        self.harness.until(lambda: self.harness.backend.logs(service, 0, 1).complete or self.harness.output(service))
        return self.harness.output(service)

    def made(self, user: str = "ann") -> list[Path]:
        found = (self.workspaces / "tenant" / user / ".zoe-environments").glob(f"*/{MARKER}")
        return sorted(path.parent for path in found)


@pytest.fixture(scope="module")
def packages(swarm: Cluster) -> Iterator[Packages]:
    provide(swarm, "zoe/base", "zoe/gateway")
    harness = SwarmHarness(swarm)
    made = Packages(harness)
    yield made
    shutil.rmtree(made.wheels)
    harness.finish()


@pytest.fixture(autouse=True)
def fresh(packages: Packages) -> Iterator[None]:
    """Nothing is made yet, and what a test bounds is not bounded for the next one."""
    for user in ("ann", "bob"):
        shutil.rmtree(packages.workspaces / "tenant" / user / ".zoe-environments", ignore_errors=True)
    settings = packages.harness.settings
    yield
    if packages.harness.settings != settings:
        packages.harness.reopen()
        packages.harness.settings = settings


def with_packages(script: str, *requirements: str, **changes: object) -> Component:
    small = Resources(100, 256 * MIB)
    return component("zoe/python", ("sh", "-c", script), reservation=small, requirements=requirements, **changes)


SHOW = "import apple, sys; print(apple.VERSION, sys.prefix)"


def test_a_component_finds_its_packages_and_another_node_uses_them_again(packages: Packages) -> None:
    script = f"python3 -c '{SHOW}' && apple && /usr/bin/python3 -c 'import apple' && id -un && id -u"
    output = packages.run(with_packages(script, "apple==1.0")).splitlines()
    [directory] = packages.made()
    assert "zoe: making an environment of apple==1.0" in output
    assert output[-4:] == [f"1.0 /workspace/.zoe-environments/{directory.name}", "apple 1.0", "zoe", str(ANN.uid)]
    again = packages.run(with_packages("apple", "apple==1.0"), node="node-2")
    assert again == "apple 1.0\n"
    assert directory.stat().st_uid == ANN.uid
    assert directory.parent.stat().st_mode & 0o777 == 0o700
    modes = {path.lstat().st_mode & 0o222 for path in directory.rglob("*") if not path.is_symlink()}
    assert modes <= {0, 0o200}  # the marker


def test_users_share_nothing(packages: Packages) -> None:
    packages.run(with_packages("true", "pear"))
    assert "making an environment" in packages.run(with_packages("pear", "pear"), user="bob")
    assert len(packages.made("bob")) == 1
    looked = packages.run(
        with_packages(f"ls -d /workspace/.zoe-environments/*; ls {packages.workspaces}", "pear"), "bob"
    )
    assert packages.made()[0].name not in looked


def test_the_build_sees_no_variable_of_the_component_and_nothing_is_in_the_specification(packages: Packages) -> None:
    make_wheel(packages.wheels, "fig")
    made = with_packages("echo $WORD; tr '\\0' '\\n' < /proc/1/cmdline | wc -c", "fig", environment=(("WORD", "mine"),))
    output = packages.run(made).splitlines()
    assert output[-2] == "mine"
    assert int(output[-1]) < 2000


def test_unavailable_package_is_explained(packages: Packages) -> None:
    output = packages.run(with_packages("echo ran", "apple==2.0", "pear"))
    assert packages.last.exit_code == 1
    assert "pear 1.0 depends on apple<2" in output
    assert "ran" not in output.splitlines()
    output = packages.run(with_packages("echo ran", "nosuch"))
    assert "No matching distribution found for nosuch; only packages with a wheel are taken" in output


def test_an_image_without_python_is_refused(packages: Packages) -> None:
    bare = replace(with_packages("echo ran", "apple"), image="shell")
    assert packages.run(bare) == "zoe: the image has no python3, which requirements need\n"
    assert packages.last.exit_code == 127


@needs_time
def test_bytes_are_bounded_and_what_nobody_uses_is_swept(packages: Packages) -> None:
    for entry in ("apple==2.0", "pear"):
        packages.run(with_packages("true", entry))
    before = packages.made()
    harness = packages.harness
    held: Any = with_packages("echo held; exec sleep 600", "apple==1.0")
    harness.backend.start(start_of(held, "h.c.0.1", "node-2"))
    harness.until(lambda: "held" in harness.output("h.c.0.1"))
    harness.reopen()
    settings = replace(harness.settings.environments, bytes_of_all_max=1)
    harness.settings = replace(harness.settings, environments=settings)
    assert packages.run(with_packages("apple", "apple", "pear")).endswith("apple 1.0\n")
    assert len(before) == 2
    left = {next(path.rglob("apple.py")).read_text()[:15] for path in packages.made()}
    assert len(packages.made()) == 2  # the one in use, and the new one
    assert left == {"VERSION = '1.0'"}
    harness.reopen()
    harness.settings = replace(harness.settings, environments=replace(settings, bytes_max=1000))
    assert "larger than" in packages.run(with_packages("true", "apple==2.0"))
    harness.backend.stop(["h.c.0.1"])
    harness.reach("h.c.0.1", ObservedState.ENDED)
