"""What the compose file promises of every container, read from the file itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docker-compose.yml").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(TEXT)["services"]
OF_THE_MASTER = {"master.key_secret", "ca.pem", "cert.pem", "key.pem"}


def mounts(service: dict[str, Any]) -> list[str]:
    return [str(volume) for volume in service.get("volumes", [])]


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_hardened(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    default = re.search(r"(\d+):\d+\}?$", service["user"])
    assert default is not None
    assert int(default[1]) > 0
    assert "privileged" not in service
    assert not any("docker.sock" in mount for mount in mounts(service))


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_has_a_health_check_or_ends(name: str) -> None:
    assert ("healthcheck" in SERVICES[name]) != (SERVICES[name]["restart"] == "no")


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"master"}))
def test_only_the_master_has_keys_of_engines_and_its_own_secret(name: str) -> None:
    assert not OF_THE_MASTER & set(SERVICES[name].get("secrets", []))
    assert set(SERVICES["master"]["secrets"]) >= OF_THE_MASTER


def test_master_and_api_have_the_token_of_the_storage_controller_and_meet_it_on_a_network() -> None:
    token = {name for name, service in SERVICES.items() if "storage_token" in service.get("secrets", [])}
    assert token == {"master", "api", "storage"}
    assert all("inner" in SERVICES[name]["networks"] for name in token)


def test_the_admin_token_is_given_to_nobody_who_stays() -> None:
    assert [name for name, service in SERVICES.items() if "admin_token" in service.get("secrets", [])] == ["setup"]


def test_ports_are_published_on_loopback_unless_named() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"api", "grafana", "storage"}
    assert all(port.startswith("${ZOE_") and ":-127.0.0.1}:" in port for ports in published.values() for port in ports)


def test_a_published_image_has_a_fixed_version_and_can_be_replaced() -> None:
    for service in SERVICES.values():
        found = re.fullmatch(r"\$\{ZOE_\w*IMAGE:-([\w/]+)(:[\w.-]+)?\}", service["image"])
        assert found is not None
        assert found[1] == "zoe/zoe" or re.match(r":v?\d+\.\d+", found[2])


def test_no_secret_stands_in_the_environment() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            secret = re.search("PASS|SECRET|TOKEN|KEY", name)
            assert not secret or str(value).startswith("/run/secrets"), name
            assert "@" not in str(value) or ":" not in str(value).partition("://")[2].partition("@")[0]
