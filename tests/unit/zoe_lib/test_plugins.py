"""Plugins of other distributions are known by their metadata: names, origins, and names that several have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.plugins import install
from zoe_lib.domain.cluster.policy import FILTERS, WEIGHERS
from zoe_lib.plugins import BACKENDS, OWN_DISTRIBUTION, PluginKind, installed_plugins, usable_names
from zoe_lib.settings.config import Settings


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for distributions, on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    installed_plugins.cache_clear()
    yield tmp_path
    installed_plugins.cache_clear()


def test_without_others_there_are_zoes_own() -> None:
    installed_plugins.cache_clear()
    assert {plugin.distribution for plugin in installed_plugins()} == {OWN_DISTRIBUTION}
    assert usable_names(PluginKind.FILTER) == FILTERS
    assert usable_names(PluginKind.WEIGHER) == WEIGHERS
    assert usable_names(PluginKind.BACKEND) == BACKENDS


def test_no_code_of_others_runs(site: Path) -> None:
    install(site, "acme", {"zoe.filters": {"sunny": "acme_that_is_not_there:sunny"}})
    (plugin,) = [plugin for plugin in installed_plugins() if not plugin.is_own]
    assert (plugin.kind, plugin.name, plugin.origin, plugin.problem) == ("filter", "sunny", "acme 1.2", "")
    assert usable_names(PluginKind.FILTER) == FILTERS | {"sunny"}


def test_a_name_that_two_have_is_nobodys(site: Path) -> None:
    for name in ("acme", "other"):
        install(site, name, {"zoe.weighers": {"sunny": f"{name}:sunny", f"of_{name}": f"{name}:sunny"}})
    assert usable_names(PluginKind.WEIGHER) == WEIGHERS | {"of_acme", "of_other"}
    assert {plugin.problem for plugin in installed_plugins() if plugin.name == "sunny"} == {
        "several distributions have a weigher of this name: acme, other; uninstall all but one"
    }


def test_a_name_of_zoes_stays_zoes(site: Path) -> None:
    install(site, "acme", {"zoe.backends": {"local": "acme:local"}})
    own, other = [plugin for plugin in installed_plugins() if plugin.name == "local"]
    assert (own.is_own, own.problem) == (True, "")
    assert (other.is_own, other.problem) == (False, "Zoe has a backend of this name; Zoe's own is used")
    assert usable_names(PluginKind.BACKEND) == BACKENDS


def test_settings_name_a_back_end_that_is_installed(site: Path) -> None:
    with pytest.raises(ValueError, match=r"back-end 'cloud' is not installed; there are: docker, local, podman, swarm"):
        Settings(backend="cloud")
    installed_plugins.cache_clear()
    install(site, "acme", {"zoe.backends": {"cloud": "acme:cloud"}})
    assert Settings(backend="cloud").backend == "cloud"
