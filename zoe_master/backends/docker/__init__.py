"""One Docker-compatible engine of this machine as a back-end."""

from zoe_master.backends.docker.backend import DockerBackend
from zoe_master.backends.docker.settings import DockerSettings

__all__ = ["DockerBackend", "DockerSettings"]
