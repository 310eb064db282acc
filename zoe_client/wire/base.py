"""Base classes of all messages, and problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from zoe_client.vocabulary import SECONDS_MAX as SECONDS_MAX  # noqa: PLC0414 - the models' modules read it here

ID_MAX = 2**63 - 1
INTEGER_MAX = 2**53
"""The largest integer that every JSON reader represents exactly."""


def _number(given: object) -> object:
    if isinstance(given, bool):
        raise PydanticCustomError("number_type", "{word} is not a number", {"word": str(given).lower()})
    return given


# Applies to values of mappings, after their bounds, which stay in the schema.
NUMBER = BeforeValidator(_number)


def _printable(given: str) -> str:
    if given and (not given.strip() or not given.isprintable()):
        raise PydanticCustomError("name", "the name is empty, or contains control or invisible characters")
    return given


IndicesText = Annotated[str, Field(pattern=r"^[0-9,:%-]+$", max_length=20_000)]
"""Indices of an array: `0-999`, `1,3,7-20:2`, and `%50` behind them."""

PrintableName = Annotated[str, AfterValidator(_printable)]
"""A name in any script that lists show unchanged, without invisible characters and those that change the direction of
text.
"""


_IN_SHORT = frozenset({"id", "name", "state"})


class Wire(BaseModel):
    """Base of all messages; requests with unknown keys are refused."""

    # JSON has no NaN; as null it would count as missing.
    model_config = ConfigDict(extra="forbid", from_attributes=True, ser_json_inf_nan="strings")

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return id, name and state of what has an id, all fields of others: a notebook prints the last value."""
        every = super().__repr_args__()
        return [(key, value) for key, value in every if key in _IN_SHORT] if hasattr(self, "id") else every


class Numbers(Wire):
    """A message whose numbers do not accept `true` and `false`, which Python treats as 1 and 0."""

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_booleans(cls, given: object, info: ValidationInfo) -> object:
        wanted = cls.model_fields[str(info.field_name)].annotation
        return given if wanted is bool else _number(given)


class Diagnostic(Wire):
    """One fault of a document: its place (JSON pointer), the message, and a hint."""

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
    _retry_after_s: int | None = PrivateAttr(default=None)

    @property
    def retry_after_s(self) -> int | None:
        """Return seconds after which the client should retry; sent in a header, since clients refuse unknown keys."""
        return self._retry_after_s

    def with_retry_after(self, seconds: float) -> Problem:
        """Return the problem with the time after which the client should retry."""
        later = self.model_copy()
        later._retry_after_s = round(seconds)
        return later
