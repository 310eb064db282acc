"""Pages without scripts that sign in, list and cancel executions and accept offers, for emergencies."""

from zoe_api.lite.pages import application

__all__ = ["application"]
