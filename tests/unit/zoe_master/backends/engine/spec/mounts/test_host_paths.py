"""A node's report on a path is checked for parts that a tenant could change; an unknown part fails."""

from __future__ import annotations

import stat
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from zoe_lib.domain.applications.application import Volume
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.mounts.host_paths import HostPath, PathPart, host_path_of, problem
from zoe_master.backends.services.failures import CannotStartError

SETTINGS = EngineSettings(state_dir=Path("unused"), host_paths_allowed=(Path("/srv/data"), Path("/srv/data/a/b")))
PATH = HostPath("/srv", "/srv/a/b")
SAFE = PathPart(stat.S_IFDIR | 0o755, 0)
LINK = PathPart(stat.S_IFLNK | 0o777, 0)
KINDS = {
    "safe": SAFE,
    "link": LINK,
    "file": PathPart(stat.S_IFREG | 0o644, 0),
    "of a tenant": PathPart(stat.S_IFDIR | 0o755, 5001),
    "of a group": PathPart(stat.S_IFDIR | 0o775, 0),
    "of all": PathPart(stat.S_IFDIR | 0o1777, 0),
}


@pytest.mark.parametrize("kinds", list(product(KINDS, repeat=3)))
def test_only_roots_own_directories_lead_to_what_is_mounted(kinds: tuple[str, ...]) -> None:
    *holders, last = kinds
    allowed = all(kind == "safe" for kind in holders) and last != "link"
    assert (not problem(PATH, [KINDS[kind] for kind in kinds], SETTINGS)) == allowed


@pytest.mark.parametrize("seen", [0, 1, 2])
def test_parts_that_nobody_told_of_are_refused(seen: int) -> None:
    assert problem(PATH, [SAFE] * seen, SETTINGS) == f"{('/srv', '/srv/a', '/srv/a/b')[seen]} does not exist"


@pytest.mark.parametrize("user", ["0:0", "00:5", "root", ":0"])
def test_where_components_run_as_root_nothing_is_roots_alone(user: str) -> None:
    for settings in (replace(SETTINGS, user=user), replace(SETTINGS, tenant_users={"physics": user})):
        assert "run components as root" in problem(PATH, [SAFE] * 3, settings)


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/srv/data", "/srv/data"),
        ("//srv//data/./x/", "/srv/data/x"),
        ("///srv/data/y/../x", "/srv/data/x"),
        ("/srv/data/a/b/c", "/srv/data/a/b/c"),
    ],
)
def test_a_path_is_checked_from_the_outermost_directory_that_was_named(path: str, plain: str) -> None:
    assert host_path_of(Volume("/x", host_path=path), SETTINGS) == HostPath("/srv/data", plain)
    inside = replace(SETTINGS, workspaces_dir=Path("/srv"))
    assert host_path_of(Volume("/x", host_path=path), inside) == HostPath("/srv", plain)


@pytest.mark.parametrize("path", ["/srv", "/srv/database", "/srv/data/..", "//etc", "/srv/data/../../etc", "srv/data"])
def test_path_that_leads_outside_is_refused(path: str) -> None:
    with pytest.raises(CannotStartError, match="not on the admin's list"):
        host_path_of(Volume("/x", host_path=path), SETTINGS)
