"""The directory of an installation: generated files, and files that only the admin can provide."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from scripts import deploy_site
from scripts.deploy_site import KEY_FILES, TLS_FILES, Site, SiteError
from storage_controller.settings import ControllerSettings
from zoe_lib.settings.config import Settings
from zoe_lib.tokens.api_tokens import TokenText

ROOT = Path(__file__).resolve().parents[3]

KEYS_OF_STORAGE = ("storage_keys", "storage_proxy_keys")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "docker").mkdir()
    for name in TLS_FILES:
        (tmp_path / "docker" / name).write_text(name)
    (tmp_path / "zoe.toml").write_text("")
    return Site(tmp_path)


def contents(site: Site) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (site.path / "secrets").iterdir()}


def test_secrets_are_made_once(site: Site) -> None:
    site.prepare()
    first = contents(site)
    made = {"admin_token", "grafana_password", "postgres_password", "pgpass", "credentials.key"}
    made |= {"storage_token", "storage_metrics_token", "storage_keys", "storage_proxy_keys", "swift_key"}
    assert set(first) == made | set(KEY_FILES)
    site.prepare()
    assert contents(site) == first


def test_a_half_made_directory_is_completed(site: Site) -> None:
    site.prepare()
    first = contents(site)
    (site.path / "secrets" / "pgpass").unlink()
    site.prepare()
    assert contents(site) == first


def test_files_are_for_the_containers_user_only(site: Site) -> None:
    site.prepare()
    uid = int(site.user.partition(":")[0])
    assert uid != 0
    for path in [*(site.path / "secrets").iterdir(), *(site.path / "docker").iterdir()]:
        wanted = 0o444 if path.name == "storage_metrics_token" else 0o400  # Prometheus has a user of its own
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path
        assert path.stat().st_uid == uid
    assert stat.S_IMODE((site.path / "secrets").stat().st_mode) == 0o700


def test_an_ordinary_user_runs_the_containers_as_herself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    monkeypatch.setattr(os, "getegid", lambda: 567)
    assert Site(tmp_path).user == "1234:567"


def test_the_token_is_one_and_the_password_needs_no_quoting(site: Site) -> None:
    site.prepare()
    assert TokenText.read(site.token_file.read_text()) is not None
    assert re.fullmatch(r"postgres:5432:zoe:zoe:\w+\n", (site.path / "secrets" / "pgpass").read_text())


def test_without_settings_it_gives_an_example_and_says_so(site: Site) -> None:
    (site.path / "zoe.toml").unlink()
    with pytest.raises(SiteError, match="name your swarm's managers"):
        site.prepare()
    assert Settings.from_file(site.path / "zoe.toml").swarm_managers == ["tcp://10.0.0.1:2376"]


def test_a_storage_controller_needs_settings_of_its_own(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPOSE_PROFILES", "metrics,storage")
    with pytest.raises(SiteError, match=r"zoe-storage\.toml is new"):
        site.prepare()
    site.prepare()
    controller, proxy = ((site.path / "secrets" / name).read_text().split() for name in KEYS_OF_STORAGE)
    assert (len(controller), len(proxy)) == (3, 3)
    assert proxy[:2] == [controller[0], controller[2]]
    monkeypatch.setenv("ZOE_SDS_CONFIG", str(site.path / "zoe-storage.toml"))
    settings = ControllerSettings(token_file=Path("token"), key_file=Path("key"))  # type: ignore[call-arg]
    assert settings.proxies == {"proxy1": 600_000_000}


def test_without_keys_of_engines_it_says_which(site: Site) -> None:
    (site.path / "docker" / "key.pem").unlink()
    with pytest.raises(SiteError, match=r"lacks key\.pem"):
        site.prepare()


def test_the_default_place_is_not_in_version_control() -> None:
    assert "deploy/site/" in (ROOT / ".gitignore").read_text().splitlines()
    compose = (ROOT / "docker-compose.yml").read_text()
    assert set(re.findall(r"\$\{ZOE_SITE:-([^}]*)\}", compose)) == {"./deploy/site"}
    assert f'user: "${{ZOE_USER:-{deploy_site.ROOTS_USER}:{deploy_site.ROOTS_USER}}}"' in compose
