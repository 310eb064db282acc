"""The progress of an upload, as tus expresses it in headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UploadState:
    """The id of an upload, and the headers `Upload-Offset`, `Upload-Length` and `Upload-Expires`."""

    id: str
    headers: Mapping[str, str]
