"""What all messages share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

SECONDS_MAX = 100 * 365 * 86_400.0
ID_MAX = 2**63 - 1


def no_boolean(given: object) -> object:
    """Refuse true and false, which Python takes for 1 and 0, where a number is asked for."""
    if isinstance(given, bool):
        raise PydanticCustomError("number_type", "{word} is not a number", {"word": str(given).lower()})
    return given


class Wire(BaseModel):
    """Base of all messages: unknown keys in requests are refused."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Numbers(Wire):
    """Base of messages in which true is no number."""

    @field_validator("*", mode="before")
    @classmethod
    def _no_boolean(cls, given: object, info: ValidationInfo) -> object:
        boolean = cls.model_fields[info.field_name or ""].annotation is bool
        return given if boolean else no_boolean(given)


class Diagnostic(Wire):
    """One thing wrong with a document: where (JSON pointer), what, and what helps."""

    pointer: str
    code: str
    message: str
    hint: str = ""


class Problem(Wire):
    """A refusal (RFC 9457). `code` is stable; `errors` holds every diagnostic of a bad document."""

    type: str = Field(default="about:blank", description="`urn:zoe:problem:` and the code.")
    title: str
    status: int
    code: str
    detail: str = ""
    hint: str = ""
    instance: str = ""
    errors: list[Diagnostic] = Field(default=[])
