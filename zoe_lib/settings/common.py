"""Settings that every process needs."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from zoe_lib.settings.database_url import DEFAULT_URL, DatabaseUrl
from zoe_lib.settings.file_settings import FileSettings


class CommonSettings(FileSettings):
    """The database, and the keys between master and API."""

    database_url: DatabaseUrl = Field(default=DEFAULT_URL, description="PostgreSQL URL; may contain a password.")
    keys_dir: Path = Field(
        default=Path("/etc/zoe/keys"), description="Directory of the CURVE keys of the master and the API."
    )
