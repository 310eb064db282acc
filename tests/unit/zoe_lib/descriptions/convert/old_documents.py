"""Small documents of the old formats, made for these tests."""

from __future__ import annotations

from typing import Any


def v0(**process: Any) -> dict[str, Any]:
    """Format 0: processes."""
    base = {
        "name": "web",
        "version": 0,
        "docker_image": "/repo/web",
        "monitor": True,
        "ports": [["8080", "Web page", True]],
        "required_resources": {"memory": 1_000_000_000},
    }
    head = {"name": "old app", "version": 0, "will_end": False, "priority": 512, "requires_binary": False}
    return {**head, "processes": [{**base, **process}]}


def v1(**service: Any) -> dict[str, Any]:
    """Format 1: services, one instance each."""
    base = {
        "name": "web",
        "docker_image": "repo/web",
        "monitor": True,
        "ports": [{"name": "Web page", "protocol": "http", "port_number": 80, "is_main_endpoint": True, "path": "/x"}],
        "required_resources": {"memory": 1_000_000_000},
        "environment": [],
    }
    head = {"name": "old", "version": 1, "will_end": True, "priority": 512, "requires_binary": False}
    return {**head, "services": [{**base, **service}]}


def v2(**service: Any) -> dict[str, Any]:
    """Format 2: counts and a start-up order."""
    document = v1(essential_count=1, total_count=1, startup_order=0, **service)
    return {**document, "version": 2}


def v3(**service: Any) -> dict[str, Any]:
    """Format 3: reservations and limits."""
    base = {
        "name": "web",
        "image": "repo/web",
        "monitor": True,
        "ports": [],
        "environment": [],
        "volumes": [],
        "resources": {"memory": {"min": 2**30, "max": 2**31}, "cores": {"min": 0.5, "max": None}},
        "essential_count": 1,
        "total_count": 1,
        "startup_order": 0,
        "command": None,
    }
    head = {"name": "old", "version": 3, "will_end": True, "size": 512}
    return {**head, "services": [{**base, **service}]}


def peers(*services: dict[str, Any]) -> dict[str, Any]:
    """A document of format 3 with a server before the given services."""
    document = v3(name="server")
    document["services"] += [{**document["services"][0], "monitor": False, **service} for service in services]
    return document
