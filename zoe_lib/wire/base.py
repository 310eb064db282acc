"""What all messages share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

SECONDS_MAX = 100 * 365 * 86_400.0
ID_MAX = 2**63 - 1


def _number(given: object) -> object:
    if isinstance(given, bool):
        raise PydanticCustomError("number_type", "{word} is not a number", {"word": str(given).lower()})
    return given


# Python takes `true` for 1; who writes it meant something else.
Whole = Annotated[int, BeforeValidator(_number)]
Amount = Annotated[float, BeforeValidator(_number)]


class Wire(BaseModel):
    """Base of all messages: unknown keys in requests are refused."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


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
