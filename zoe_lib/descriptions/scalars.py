"""Typed strings and numbers of a description, each with its bounds, its message and its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from zoe_client.documents.quantities import RATE_PATTERN, SIZE_PATTERN, bytes_of, bytes_per_s_of
from zoe_client.words.times import TEXT_MAX, read_time
from zoe_lib.descriptions import bounds
from zoe_lib.domain.applications.requirements import requirement
from zoe_lib.domain.applications.sources import directory, git_ref, git_url
from zoe_lib.pushdown.column_types import NAMES, type_of


def _check(pattern: str, message: str) -> AfterValidator:
    """Return a validator with a message that states the allowed values, instead of a regular expression."""
    compiled = re.compile(pattern.removeprefix("^").removesuffix("$"))

    def check(text: str) -> str:
        if compiled.fullmatch(text) is None:
            raise PydanticCustomError("bad_format", "{message}", {"message": message})
        return text

    return AfterValidator(check)


def _text(pattern: str, length_max: int) -> Any:
    return Field(min_length=1, max_length=length_max, json_schema_extra={"pattern": pattern})


def _amount(pattern: str, low: int, high: int) -> WithJsonSchema:
    number = {"type": "integer", "minimum": low, "maximum": high}
    return WithJsonSchema({"anyOf": [number, {"type": "string", "pattern": pattern}]})


def _reader(read: Callable[[str], int]) -> BeforeValidator:
    def convert(value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return read(value[:64])
        except ValueError as error:
            raise PydanticCustomError("bad_format", "{message}", {"message": str(error)}) from None

    return BeforeValidator(convert)


def _normalised_by(read: Callable[[str], str]) -> AfterValidator:
    """Return a validator that converts a value to its normal form, with the domain's own message for a fault."""

    def convert(text: str) -> str:
        try:
            return read(text)
        except ValueError as error:
            raise PydanticCustomError("bad_format", "{message}", {"message": str(error)}) from None

    return AfterValidator(convert)


def _column_type(text: str) -> str:
    found = type_of(text)
    if found is None:
        raise PydanticCustomError("bad_format", "{message}", {"message": f"not a column type; use {NAMES}"})
    return str(found)


def _readable_time(text: str) -> str:
    # The time itself depends on the submission; its validity does not.
    read_time(text, 0.0, zone_needed=True)
    return text


_LABEL = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
_TITLE = r"^[A-Za-z0-9]([A-Za-z0-9 ._@+-]*[A-Za-z0-9])?$"
_IMAGE = r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_.-]*$"
_KEY = r"^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$"
_DEVICE = r"^[a-z][a-z0-9_.-]*$"
_URL_PATH = r"^/[!-~]*$"
_STEP = r"(?!\.{1,2}(/|$))[^/\x00-\x1f\x7f]+"
_ABSOLUTE = rf"^(?!/+(proc|sys|dev)(/|$))(/+{_STEP})+/?$"
_WORK_DIR = rf"^(\{{(scratch|workspace)\}}(/+{_STEP})*|(/+{_STEP})+)/?$"
_BUCKET_PATH = (
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,254}(\.[A-Za-z0-9][A-Za-z0-9_-]{0,254}){0,8}(/(?!\.{1,2}(/|$))[A-Za-z0-9._=+-]+)*/?"
)
_URI = rf"^((swift2d|s3a)://{_BUCKET_PATH}|file://(\{{workspace\}}(/+{_STEP})*|(/+{_STEP})+)/?)$"
_IDENTIFIER = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
_FILE_NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
_HEADER = r"^[A-Za-z][A-Za-z0-9-]{0,62}$"
_SCHEME = r"^[A-Za-z0-9_.-]{0,63}$"
_FILE_STEP = r"[A-Za-z0-9_][A-Za-z0-9._@-]{0,99}"
_RESULT = rf"^{_STEP}(/{_STEP}){{0,31}}$"
_FILE = rf"^{_FILE_STEP}(/{_FILE_STEP}){{0,7}}$"
_RESULT_REFERENCE = r"^[a-z0-9-]+\.[a-z0-9-]+$"
_STEP_REFERENCE = r"^((ok|any|fail):)?[a-z0-9-]+$"
_LINE = r"^[^\x00-\x1f\x7f]*$"

Label = Annotated[
    str, _text(_LABEL, bounds.NAME_LENGTH_MAX), _check(_LABEL, "use a-z, 0-9 and '-', without '-' at either end")
]
Title = Annotated[
    str,
    _text(_TITLE, bounds.TITLE_LENGTH_MAX),
    _check(_TITLE, "use letters, digits, spaces and . _ @ + -; free text belongs in `description`"),
]
Description = Annotated[str, Field(max_length=bounds.DESCRIPTION_LENGTH_MAX)]
Image = Annotated[
    str, _text(_IMAGE, bounds.IMAGE_LENGTH_MAX), _check(_IMAGE, "not an image name such as 'zoe/spark' or 'host/a:1'")
]
Argument = Annotated[str, Field(max_length=bounds.TEXT_LENGTH_MAX)]
VariableName = Annotated[
    str, _text(_VARIABLE, bounds.PATH_LENGTH_MAX), _check(_VARIABLE, "not a valid name of an environment variable")
]
LabelKey = Annotated[str, _text(_KEY, bounds.NAME_LENGTH_MAX), _check(_KEY, "use letters, digits and . _ / -")]
LabelValue = Annotated[
    str, Field(max_length=bounds.NAME_LENGTH_MAX), _check(_LINE, "control characters are not allowed")
]
DeviceKind = Annotated[
    str, _text(_DEVICE, bounds.NAME_LENGTH_MAX), _check(_DEVICE, "use a lower-case word such as 'gpu'")
]
UrlPath = Annotated[
    str,
    _text(_URL_PATH, 512),
    _check(_URL_PATH, "must start with '/' and contain neither spaces nor control characters"),
]
HeaderName = Annotated[
    str, _text(_HEADER, 63), _check(_HEADER, "not a valid name of an HTTP header, or a reserved one")
]
HeaderScheme = Annotated[
    str,
    Field(max_length=63, json_schema_extra={"pattern": _SCHEME}),
    _check(_SCHEME, "use letters, digits and . _ -"),
]
SecretName = Annotated[
    str,
    _text(_IDENTIFIER, bounds.NAME_LENGTH_MAX),
    _check(_IDENTIFIER, "use letters, digits, _ and -, with a letter or digit first"),
]
SecretFile = Annotated[
    str, _text(_FILE_NAME, bounds.NAME_LENGTH_MAX), _check(_FILE_NAME, "use letters, digits and . _ -")
]
AbsolutePath = Annotated[
    str,
    _text(_ABSOLUTE, bounds.PATH_LENGTH_MAX),
    _check(_ABSOLUTE, "must be an absolute path without '..' or control characters, other than /, /proc, /sys or /dev"),
]
WorkDir = Annotated[
    str,
    _text(_WORK_DIR, bounds.PATH_LENGTH_MAX),
    _check(
        _WORK_DIR, "must be an absolute path, or one below {scratch} or {workspace}, without '..' or control characters"
    ),
]
ResultPath = Annotated[
    str,
    _text(_RESULT, bounds.RESULT_LENGTH_MAX),
    _check(_RESULT, "not a path below the workspace, such as out/*.csv: no `/` at its beginning, no `.` or `..` in it"),
]
FileName = Annotated[
    str,
    _text(_FILE, 255),
    _check(_FILE, "use a relative path of letters, digits and . _ @ -, whose parts do not begin with '.'"),
]
ResultReference = Annotated[
    str, _text(_RESULT_REFERENCE, 127), _check(_RESULT_REFERENCE, "write STEP.RESULT, such as prepare.table")
]
StepReference = Annotated[
    str, _text(_STEP_REFERENCE, 80), _check(_STEP_REFERENCE, "write the name of a step, or any:STEP or fail:STEP")
]
Requirement = Annotated[str, Field(min_length=1, max_length=bounds.REQUIREMENT_LENGTH_MAX), _normalised_by(requirement)]
GitUrl = Annotated[str, Field(min_length=1, max_length=1024), _normalised_by(git_url)]
GitRef = Annotated[str, Field(min_length=1, max_length=255), _normalised_by(git_ref)]
SourceDirectory = Annotated[str, Field(min_length=1, max_length=255), _normalised_by(directory)]
FileText = Annotated[str, Field(max_length=bounds.FILES_BYTES_MAX)]
Uri = Annotated[
    str,
    _text(_URI, bounds.PATH_LENGTH_MAX),
    _check(_URI, "write swift2d://container.service/prefix, s3a://bucket/prefix or file://{workspace}/path"),
]
Column = Annotated[str, Field(min_length=1, max_length=128), _check(_LINE, "control characters are not allowed")]
ColumnType = Annotated[str, Field(min_length=1, max_length=32), AfterValidator(_column_type)]
_SIGN = r"^[\t -~]$"
Sign = Annotated[
    str, _text(_SIGN, 1), _check(_SIGN, "must be one ASCII character: a tab, a space or a visible character")
]
NullText = Annotated[str, Field(max_length=128), _check(_LINE, "control characters are not allowed")]
Where = Annotated[
    str, Field(min_length=1, max_length=bounds.WHERE_LENGTH_MAX), _check(_LINE, "control characters are not allowed")
]

Memory = Annotated[
    int,
    Field(ge=bounds.MEMORY_BYTES_MIN, le=bounds.MEMORY_BYTES_MAX),
    _reader(bytes_of),
    _amount(SIZE_PATTERN, bounds.MEMORY_BYTES_MIN, bounds.MEMORY_BYTES_MAX),
]
Rate = Annotated[
    int,
    Field(ge=1, le=bounds.BANDWIDTH_BYTES_PER_S_MAX),
    _reader(bytes_per_s_of),
    _amount(RATE_PATTERN, 1, bounds.BANDWIDTH_BYTES_PER_S_MAX),
]
Cores = Annotated[float, Field(ge=0, le=bounds.CORES_MAX, allow_inf_nan=False)]
Deadline = Annotated[str, Field(min_length=1, max_length=TEXT_MAX), _normalised_by(_readable_time)]
Seconds = Annotated[float, Field(gt=0, le=bounds.SECONDS_MAX, allow_inf_nan=False)]
ProbeSeconds = Annotated[float, Field(ge=0.1, le=bounds.PROBE_SECONDS_MAX, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=bounds.SERVICES_MAX)]
