"""The URL of the database, which may contain a password."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, SecretStr
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

_DRIVERS = ("postgresql", "postgresql+psycopg2")


def _check_url(url: SecretStr) -> SecretStr:
    """Return the URL if the installed driver can use it; errors do not repeat it."""
    try:
        if make_url(url.get_secret_value()).drivername in _DRIVERS:
            return url
    except (ArgumentError, ValueError):
        pass
    raise ValueError("must be a URL such as postgresql://USER:PASSWORD@HOST:PORT/DATABASE")


DatabaseUrl = Annotated[SecretStr, AfterValidator(_check_url)]
DEFAULT_URL = SecretStr("postgresql+psycopg2:///zoe")
