"""The Swarm service of a gateway, in the terms of the Engine's API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zoe_lib.domain.applications.images import full_name
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.spec.specification import AttemptContext

Json = dict[str, Any]
PORT = 8080
SECRET_HEADER = "X-Zoe-Secret"  # noqa: S105 - its name
TARGET_HEADER = "X-Zoe-Target"
SECRET_FILE = "zoe-gateway"  # noqa: S105
_USER = "65534"
_RESTART_DELAY_NS = 10**9
_PROCESSES_MAX = 16
# The image lacks this directory; otherwise its mode would apply to a mount over it.
_TARGETS_DIRECTORY = "/run/zoe-gateway"


def gateway_spec(
    name: str, tags: dict[str, str], targets: Sequence[str], around: AttemptContext, settings: SwarmSettings
) -> Json:
    """Return the arguments of the call that creates it. A gateway that ends is restarted."""
    assert around.secret is not None
    secret_id, secret_name = around.secret
    container = {
        "Image": full_name(settings.gateway_image),
        "Args": list(targets),
        "Labels": tags,
        "User": f"{_USER}:{_USER}",
        "Mounts": [{"Type": "tmpfs", "Target": _TARGETS_DIRECTORY, "TmpfsOptions": {"SizeBytes": 2**20}}],
        # HAProxy leaves SIGTERM to the kernel, which does not deliver it to a first process.
        "Init": True,
        "ReadOnly": True,
        "CapabilityDrop": ["ALL"],
        "Secrets": [
            {
                "SecretID": secret_id,
                "SecretName": secret_name,
                "File": {"Name": SECRET_FILE, "UID": _USER, "GID": _USER, "Mode": 0o400},
            }
        ],
    }
    task = {
        "ContainerSpec": container,
        "Resources": _resources(settings.gateway_reservation),
        "RestartPolicy": {"Condition": "any", "Delay": _RESTART_DELAY_NS},
        "Placement": {"Constraints": [f"node.id=={around.node_id}"]},
        "LogDriver": {"Name": "json-file", "Options": {"max-size": "1m", "max-file": "1"}},
        "Networks": [{"Target": around.network_id}],
    }
    published = {"Protocol": "tcp", "TargetPort": PORT, "PublishMode": "host"}
    return {
        "task_template": task,
        "name": name,
        "labels": tags,
        "mode": {"Replicated": {"Replicas": 1}},
        "endpoint_spec": {"Mode": "dnsrr", "Ports": [published]},
    }


def _resources(reserved: Resources) -> Json:
    return {
        "Limits": {"MemoryBytes": reserved.memory_bytes, "Pids": _PROCESSES_MAX},
        "Reservations": {"NanoCPUs": reserved.cores_milli * 10**6, "MemoryBytes": reserved.memory_bytes},
    }
