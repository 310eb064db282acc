"""Documents of stored applications: canonical JSON, named by its hash, and parsed once for all executions with it."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from threading import Lock

from zoe_lib.descriptions.model import Document
from zoe_lib.descriptions.to_document import to_document
from zoe_lib.descriptions.to_domain import application_of
from zoe_lib.domain.applications.application import Application
from zoe_lib.store.documents.codec import Json
from zoe_lib.store.errors import Unstorable

# A parsed description takes some kilobytes; rarely are more different ones active at once.
CACHED_MAX = 2000


def parse(document: Json) -> Application:
    """Return the application of a stored document.

    The rules for users are not applied: a description that was once accepted must stay readable when they get stricter.
    """
    return application_of(Document.model_validate(document))


def stored_document(application: Application) -> tuple[str, Json]:
    """Return the hash of an application's canonical document, and the document."""
    document = to_document(application)
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest(), document


class Applications:
    """A bounded cache of parsed applications by the hash of their document. Thread-safe."""

    def __init__(self) -> None:
        self._by_hash: OrderedDict[str, Application] = OrderedDict()
        self._lock = Lock()
        self._last: tuple[Application, str, Json] | None = None

    def keep(self, application: Application) -> tuple[str, Json]:
        """Remember an application; return the hash of its document, and the document. Unstorable if it cannot be read
        back.
        """
        last = self._last
        if last is not None and last[0] is application:  # a batch may repeat one application
            return last[1], last[2]
        name, document = stored_document(application)
        if self.get(name) != application:
            _check_comes_back(application, document)
            self._put(name, application)
        self._last = (application, name, document)
        return name, document

    def load(self, name: str, document: Json) -> Application:
        """Parse a document and remember it."""
        application = parse(document)
        self._put(name, application)
        return application

    def get(self, name: str) -> Application | None:
        """Return a remembered application."""
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


def _check_comes_back(application: Application, document: Json) -> None:
    """Refuse a document that could not be read back: a single one would keep a master from starting."""
    try:
        same = parse(document) == application
    except ValueError as error:
        raise Unstorable(f"application {application.name!r} is not a valid description: {error}") from error
    if not same:
        raise Unstorable(f"application {application.name!r} would change when it is stored and read again")
