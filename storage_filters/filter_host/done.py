"""What was done with an object, as its metadata say: by the proxy, and after it by the object servers.

An object server undoes its part before it answers. What it does not undo, since it lacks the key or the host of
filters, its answer still names, and the proxy undoes it: so an object is read wherever its file was moved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storage_filters.filter_host.records import filters_of, met_by, parsed, told
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.modules import Modules
from storage_filters.transforms.stream_filters import DamagedObjectError, StreamFilter
from storage_filters.wsgi.headers import DONE, NODE_DONE, NODE_ETAG, NODE_SIZE, PUT_ETAG, PUT_SIZE, UNDONE

OWN = (DONE, PUT_ETAG, PUT_SIZE, NODE_DONE, NODE_ETAG, NODE_SIZE)
"""The metadata that nobody but hosts of filters writes or sees."""
_NONE = "[]"


@dataclass(frozen=True, slots=True)
class Done:
    """The filters of an object, as texts. there: of object servers. undone: what is read went back through these."""

    here: str
    there: str = _NONE
    undone: bool = False

    @staticmethod
    def of(headers: Mapping[str, str]) -> Done | None:
        """Return what an answer of the store says; None for an object that no host stored. DamagedObjectError for one
        that has lost a part of what was kept with it.
        """
        if (here := headers.get(DONE)) is None:
            if any(name in headers for name in (*OWN, UNDONE)):
                raise DamagedObjectError("a part of the metadata by which it is read is missing")
            return None
        if (there := headers.get(UNDONE)) is not None:
            return Done(here, there, undone=True)
        return Done(here, headers.get(NODE_DONE, _NONE))

    def filters(self, tenant: str, keyring: Keyring, name: bytes, modules: Modules) -> list[StreamFilter]:
        """Return the filters that are to be undone. name: of the object. FilterRefused, DamagedObjectError."""
        rest = [] if self.undone else filters_of(self.there, tenant, keyring, name)
        return [*filters_of(self.here, tenant, keyring, name, modules), *rest]

    def records(self) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
        """Return the records of the proxy and of the object servers; DamagedObjectError."""
        return parsed(self.here), parsed(self.there)

    def told(self) -> str:
        """Return what readers are told, in the order at PUT; DamagedObjectError."""
        there = [{**one, "at": "object server"} for one in told(self.there)]
        return json.dumps([*({**one, "at": "proxy"} for one in told(self.here)), *there])

    def met(self) -> list[tuple[int, str]]:
        """Return the rules and kinds of all filters; DamagedObjectError."""
        return [*met_by(self.here), *met_by(self.there)]
