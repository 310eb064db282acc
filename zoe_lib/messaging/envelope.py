"""The versioned envelope of messages between API and master. A message is one JSON object in one ZeroMQ frame.

Unknown fields are ignored, so that programs of two versions understand each other during an upgrade.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zoe_client.words.plain_errors import sentences

M = TypeVar("M", bound=BaseModel)
VERSION: Literal[1] = 1
MESSAGE_BYTES_MAX = 4 << 20  # a chunk of a log, base64, with room to spare


_TEXT_MAX = 500


class BadEnvelope(Exception):  # noqa: N818 - the name is the fact
    """The bytes are not a valid message."""


class Request(BaseModel):
    """A question, or a hint that there is work. Repeating it is safe."""

    model_config = ConfigDict(extra="ignore", strict=True)

    v: Literal[1] = VERSION
    id: str = Field(max_length=64)
    kind: str = Field(max_length=64)
    body: dict[str, Any] = {}


class Problem(BaseModel):
    """Why there is no answer: a stable code and a sentence."""

    model_config = ConfigDict(extra="ignore", strict=True)

    code: str
    message: str


class Reply(BaseModel):
    """The answer to the request with the same id."""

    model_config = ConfigDict(extra="ignore", strict=True)

    v: Literal[1] = VERSION
    id: str
    body: dict[str, Any] | None = None
    problem: Problem | None = None


def read(message: type[M], data: bytes) -> M:
    """Return the message in these bytes; BadEnvelope."""
    try:
        return message.model_validate_json(data)
    except ValidationError as error:
        raise BadEnvelope("; ".join(sentences(error))[:_TEXT_MAX]) from None
    except (ValueError, RecursionError) as error:
        raise BadEnvelope(str(error)[:_TEXT_MAX]) from None


def write(message: Request | Reply) -> bytes:
    """Return the bytes of a message."""
    return message.model_dump_json().encode()
