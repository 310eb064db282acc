"""Applications as kept: canonical JSON, named by its hash, and parsed once however many executions share it."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from threading import Lock

from zoe_lib.domain.application import Application
from zoe_lib.store.codec import Json, decode, encode

# A parsed description takes some kilobytes; more than this many different ones are rarely active at once.
CACHED_MAX = 2000


def to_document(application: Application) -> Json:
    """The JSON form that is kept."""
    return encode(application)


def parse(document: Json) -> Application:
    """The application of a kept JSON form."""
    return decode(Application, document)


class Applications:
    """A bounded cache of parsed applications by the hash of their document. Thread-safe."""

    def __init__(self) -> None:
        self._by_hash: OrderedDict[str, Application] = OrderedDict()
        self._lock = Lock()

    def keep(self, application: Application) -> tuple[str, Json]:
        """Remember an application; the hash of its document, and the document."""
        document = to_document(application)
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(canonical.encode()).hexdigest()
        self._put(name, application)
        return name, document

    def load(self, name: str, document: Json) -> Application:
        """Parse a document and remember it."""
        application = parse(document)
        self._put(name, application)
        return application

    def get(self, name: str) -> Application | None:
        """A remembered application."""
        with self._lock:
            application = self._by_hash.get(name)
            if application is not None:
                self._by_hash.move_to_end(name)
            return application

    def _put(self, name: str, application: Application) -> None:
        with self._lock:
            self._by_hash[name] = application
            self._by_hash.move_to_end(name)
            while len(self._by_hash) > CACHED_MAX:
                self._by_hash.popitem(last=False)
