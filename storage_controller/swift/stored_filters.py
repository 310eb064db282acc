"""Filters of a stored object, as the proxies report them from its metadata, whatever the present rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from storage_bridge.model import WHY_HEADER
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.http import SwiftHttp
from storage_filters.rules.placing import SENTENCES, MoveReason
from zoe_client.wire.storage.rules import StorageDoneView

_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class StoredObject:
    """A stored object. filters: applied to it; size and tags: of the original, None if unknown."""

    filters: Sequence[StorageDoneView]
    size: int | None = None
    tags: Sequence[str] = ()


Done = Callable[[str, str, str], StoredObject | None]
"""Returns the stored object of a tenant, container and name; None if it does not exist."""


def done_at(line: SwiftHttp) -> Done:
    """Return a function that asks Swift for the filters of an object, as a reseller admin."""

    def stored_object(tenant: str, container: str, name: str) -> StoredObject | None:
        path = f"{quote(container, safe='')}/{quote(name)}"
        answer = line.ask("HEAD", line.account_of(tenant), path, {WHY_HEADER: "yes"})
        answer.close()
        if answer.status_code == _NOT_FOUND:
            return None
        if not answer.is_success:
            raise RequestRefusedError(
                503, f"Swift answers {answer.status_code} to a HEAD request for {tenant}/{container}/{name}"
            )
        try:
            found = [_in_words(load) for load in json.loads(answer.headers.get(WHY_HEADER, "[]"))]
        except (ValueError, AttributeError):
            raise RequestRefusedError(503, f"the filters of {tenant}/{container}/{name} are not known") from None
        length, tags = answer.headers.get("Content-Length", ""), answer.headers.get("X-Object-Meta-Tag", "")
        return StoredObject(
            found,
            int(length) if length.isdecimal() else None,
            [tag for part in tags.split(",") if (tag := part.strip())],
        )

    return stored_object


def _in_words(record: Mapping[str, Any]) -> StorageDoneView:
    """Return the record of a filter, with the reason why it did not run where its rule says. Raises ValueError."""
    moved = record.get("moved")
    told = record if moved not in SENTENCES else {**record, "moved": SENTENCES[MoveReason(moved)]}
    return StorageDoneView.model_validate(told, extra="ignore")  # a newer proxy may send more fields
