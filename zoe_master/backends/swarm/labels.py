"""Labels of everything made on a swarm: how it is found again, and told from foreign work."""

from __future__ import annotations

INSTALLATION = "zoe.installation"
EXECUTION = "zoe.execution"
TENANT = "zoe.tenant"
USER = "zoe.user"
COMPONENT = "zoe.component"
CAUSE = "zoe.cause"
GENERATION = "zoe.generation"
"""The attempt that these services belong to."""
SERVICES = "zoe.services"
"""Ids of the services that are the tasks of a Swarm service, in order of slot."""
NODE = "zoe.node"
HOSTS = "zoe.hosts"
PORTS = "zoe.ports"
PROBE = "zoe.probe"
GRACE = "zoe.stop-grace-s"

TASK_ID = "com.docker.swarm.task.id"
TASK_NAME = "com.docker.swarm.task.name"
