"""Filters of a stored object, as its metadata record them: those of the proxy, then those of the object servers.

An object server undoes its filters before it answers. If it cannot, because it lacks the key or the filter host, its
answer names the remaining filters, and the proxy undoes them: so an object is readable wherever its file was moved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storage_filters.filter_host.records import description_of, filters_of, parse_records, rules_and_kinds
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.modules import Modules
from storage_filters.transforms.stream_filters import DamagedObjectError, StreamFilter
from storage_filters.wsgi.headers import DONE, NODE_DONE, NODE_ETAG, NODE_SIZE, PUT_ETAG, PUT_SIZE, UNDONE

OWN = (DONE, PUT_ETAG, PUT_SIZE, NODE_DONE, NODE_ETAG, NODE_SIZE)
"""Metadata that only filter hosts write and see."""
_NONE = "[]"


@dataclass(frozen=True, slots=True)
class AppliedFilters:
    """Filters of an object, as texts. there: of object servers. undone: the filters that the object server has
    undone.
    """

    here: str
    there: str = _NONE
    undone: bool = False

    @staticmethod
    def from_headers(headers: Mapping[str, str]) -> AppliedFilters | None:
        """Return the filters that the store's answer names; None for an object that no host stored. Raises
        DamagedObjectError if part of the record is missing.
        """
        if (here := headers.get(DONE)) is None:
            if any(name in headers for name in (*OWN, UNDONE)):
                raise DamagedObjectError("part of the metadata that record its filters is missing")
            return None
        if (there := headers.get(UNDONE)) is not None:
            return AppliedFilters(here, there, undone=True)
        return AppliedFilters(here, headers.get(NODE_DONE, _NONE))

    def filters(self, tenant: str, keyring: Keyring, name: bytes, modules: Modules) -> list[StreamFilter]:
        """Return the filters to undo. name: of the object. Raises FilterRefusedError and DamagedObjectError."""
        rest = [] if self.undone else filters_of(self.there, tenant, keyring, name)
        return [*filters_of(self.here, tenant, keyring, name, modules), *rest]

    def records(self) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
        """Return the records of the proxy and of the object servers. Raises DamagedObjectError."""
        return parse_records(self.here), parse_records(self.there)

    def description(self) -> str:
        """Return the description of the filters for readers, in the order at PUT. Raises DamagedObjectError."""
        there = [{**entry, "at": "object server"} for entry in description_of(self.there)]
        return json.dumps([*({**entry, "at": "proxy"} for entry in description_of(self.here)), *there])

    def rules_and_kinds(self) -> list[tuple[int, str]]:
        """Return the rules and kinds of all filters. Raises DamagedObjectError."""
        return [*rules_and_kinds(self.here), *rules_and_kinds(self.there)]
