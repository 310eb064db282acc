"""Secrets of users and tenants. Responses never contain values."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints, field_validator

from zoe_client.vocabulary import SECRET_BYTES_MAX
from zoe_client.wire.base import Wire
from zoe_client.words.names import NAME

SecretName = Annotated[str, StringConstraints(pattern=NAME)]


class SecretRequest(Wire):
    """The value of a secret: a text without NUL characters, at most 64 KiB in UTF-8."""

    model_config = ConfigDict(hide_input_in_errors=True)

    value: str = Field(min_length=1, max_length=SECRET_BYTES_MAX, repr=False)

    @field_validator("value")
    @classmethod
    def _check_value(cls, value: str) -> str:
        # The message must not repeat it.
        if "\0" in value:
            raise ValueError("a NUL character is not allowed; encode binary values, such as by base64")
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            raise ValueError("the value is not UTF-8 text; encode binary values, for example by base64") from None
        if size > SECRET_BYTES_MAX:
            raise ValueError(f"longer than {SECRET_BYTES_MAX} bytes")
        return value


class SecretView(Wire):
    """A stored secret: its name and size, its author, and the time; the value is never returned. `user` None: it is the
    tenant's.
    """

    name: str
    user: str | None
    size_bytes: int
    set_at_s: float
    set_by: str


class SecretList(Wire):
    """Your secrets in the tenant, and those of the tenant. Yours take precedence over the tenant's of the same name."""

    secrets: list[SecretView]
