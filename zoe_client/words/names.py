"""Rules for names that users give, shared by client and server; `pattern_words.py` has them in words."""

from __future__ import annotations

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$"
"""Names of secrets, targets of notifications, schedules and stored applications."""
VOLUME_NAME = r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
"""Those names of volumes that a description can have."""
FILTER_NAME = r"^[A-Za-z0-9_-]+$"
METRIC_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
TENANT_AT_THE_STORE = r"^[^\s\x00-\x1f#:/]+$"
