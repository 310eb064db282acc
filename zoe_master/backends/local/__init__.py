"""The local back-end: services as processes of this machine, for one trusted user."""

from zoe_master.backends.local.backend import LocalBackend
from zoe_master.backends.local.refusal import refuse_reason
from zoe_master.backends.local.settings import LocalNode, LocalSettings, Runtime

__all__ = ["LocalBackend", "LocalNode", "LocalSettings", "Runtime", "refuse_reason"]
