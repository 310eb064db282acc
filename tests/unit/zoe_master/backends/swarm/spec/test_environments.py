"""The first program of a container with requirements: its task, its successor, and its limits."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.local.support import component, probe, start_of
from tests.local.wheels import make_wheel, wheelhouse
from zoe_lib.domain.applications.application import Component, ComponentSource
from zoe_master.backends.engine.settings import EnvironmentSettings, SourceSettings
from zoe_master.backends.engine.spec.environments import entry_archive, with_time_to_build
from zoe_master.backends.engine.spec.rendering import render
from zoe_master.backends.environments.build import MARKER
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.swarm import SwarmSettings
from zoe_master.backends.swarm.spec.specification import AttemptContext, service_spec

SETTINGS = SwarmSettings(
    Path("unused"),
    images=("zoe/*",),
    user="65534:65534",
    workspaces_dir=Path("/mnt/zoe"),
    environments=EnvironmentSettings(wheelhouse="/srv/wheels"),
)
ASKING = component("zoe/python", ("train", "{index}"), requirements=("apple==1.0",))


def container(made: Any, settings: SwarmSettings = SETTINGS, **changes: Any) -> dict[str, Any]:
    around = AttemptContext("node", environment=("id", "name"), image_command=(("zoe-start",), ("sh",)), **changes)
    spec = service_spec([render(start_of(made), settings)], around, settings)["task_template"]["ContainerSpec"]
    assert isinstance(spec, dict)
    return spec


def test_it_runs_before_the_entry_point_and_the_command() -> None:
    spec = container(ASKING)
    *words, program, task = spec["Command"]
    assert words[:2] == ["/bin/sh", "-c"]
    assert program == "/run/secrets/zoe-environment"
    assert json.loads(task)["environment"]["wheelhouse"] == "/run/zoe-wheels"
    assert "sources" not in json.loads(task)
    assert spec["Args"] == ["zoe-start", "train", "0"]
    [secret] = spec["Secrets"]
    assert secret["File"] == {"Name": "zoe-environment", "UID": "65534", "GID": "65534", "Mode": 0o400}
    wheels = {"Type": "bind", "Source": "/srv/wheels", "Target": "/run/zoe-wheels", "ReadOnly": True}
    assert wheels in spec["Mounts"]


def test_sources_come_first_and_their_secrets_are_files_of_the_user() -> None:
    source = ComponentSource("https://example.org/project.git", "project", secret="key")
    made = replace(ASKING, requirements=(), sources=(source,))
    spec = container(made, sources={"0": ("id", "name")})
    task = json.loads(spec["Command"][-1])
    assert task["sources"]["secrets"] == "/run/secrets/zoe-source-secrets"
    assert task["sources"]["sources"][0]["url"] == "https://example.org/project.git"
    assert "environment" not in task
    files = [entry["File"] for entry in spec["Secrets"]]
    assert {"Name": "zoe-source-secrets/0", "UID": "65534", "GID": "65534", "Mode": 0o400} in files
    assert "zoe-wheels" not in str(spec)
    with pytest.raises(CannotStartError, match="has sources and requirements, but there are no workspaces"):
        container(replace(ASKING, sources=(source,)), replace(SETTINGS, workspaces_dir=None))


def test_a_probe_waits_for_clones_and_builds_as_well() -> None:
    source = ComponentSource("https://example.org/project.git", "project")
    made = replace(ASKING, readiness=probe(20.0))
    bounds = replace(SETTINGS, sources=SourceSettings(seconds_max=5.0))

    def patience_s(component: Component) -> float:
        readiness = with_time_to_build(start_of(component), bounds).component.readiness
        assert readiness is not None
        return readiness.timeout_s

    assert patience_s(replace(made, requirements=())) == 20.0
    assert patience_s(replace(made, requirements=(), sources=(source,))) == 25.0
    assert patience_s(replace(made, sources=(source,))) == 25.0 + bounds.environments.seconds_max


def test_the_command_of_the_image_is_kept() -> None:
    assert container(replace(ASKING, command=()))["Args"] == ["zoe-start", "sh"]


def test_without_requirements_nothing_changes() -> None:
    spec = container(replace(ASKING, requirements=()))
    assert "Command" not in spec
    assert "zoe-wheels" not in str(spec)


def test_impossible_requirements_are_refused() -> None:
    with pytest.raises(CannotStartError, match="builds no packages"):
        container(replace(ASKING, build_requirements=True))
    with pytest.raises(CannotStartError, match="no workspaces"):
        container(ASKING, replace(SETTINGS, workspaces_dir=None))


def test_the_time_of_a_build_is_bounded_and_a_second_start_needs_none(tmp_path: Path) -> None:
    wheels = wheelhouse()
    make_wheel(wheels, "slow", files={f"part{n}.py": "x = 1\n" * 2000 for n in range(100)})
    (tmp_path / "entry").write_bytes(entry_archive())
    task = {
        "base": str(tmp_path / "base"), "user": "ann", "requirements": ["slow"], "build": False, "pip": None,
        "index_url": "", "wheelhouse": str(wheels), "bytes_max": 10**9, "bytes_of_all_max": 10**9, "age_s_max": 1e6,
    }  # fmt: skip

    def run(seconds_max: float) -> subprocess.CompletedProcess[str]:
        words = [
            sys.executable,
            "-I",
            tmp_path / "entry",
            json.dumps({"environment": {**task, "seconds_max": seconds_max}}),
            "slow",
        ]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)

    late = run(0.1)
    assert (late.returncode, "not made within 0.1 s" in late.stdout) == (1, True)
    assert not list((tmp_path / "base").glob(f"*/{MARKER}"))
    assert run(60).stdout.endswith("slow 1.0\n")
    assert run(0.1).stdout == "slow 1.0\n"
    shutil.rmtree(wheels)
