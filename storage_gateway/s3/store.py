"""An S3 store behind the gateway: containers are buckets, and data of middleware are metadata of objects."""

from __future__ import annotations

from collections.abc import Mapping

from storage_gateway.connections import BodyUpload, StoreAnswer
from storage_gateway.logins import StoreSettings
from storage_gateway.s3.book import Book
from storage_gateway.s3.client import S3Client
from storage_gateway.s3.containers import S3Containers
from storage_gateway.s3.counts import Counts
from storage_gateway.s3.index import Index
from storage_gateway.s3.objects import Place, S3Objects


class S3Store:
    """Answers as Swift's servers do."""

    needs_length = True
    judges_conditions = False

    def __init__(self, settings: StoreSettings, region: str, sorted_there: bool = True) -> None:
        client, index = S3Client(settings, region), Index()
        self._objects = S3Objects(client, index, sorted_there)
        self._containers = S3Containers(client, index, Book(client), Counts(client), sorted_there)

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], query: str = "", _body: bytes | None = None
    ) -> StoreAnswer:
        """Return the answer to a request without a body; StoreAway. path: `/account/...`."""
        _, account, *below = path.split("/", 3)
        match below:
            case []:
                return self._containers.ask_account(method, account, headers, query)
            case [container]:
                return self._containers.ask(method, account, container, headers, query)
        return self._objects.ask(method, Place.from_path(path), headers)

    def upload(self, path: str, headers: Mapping[str, str]) -> BodyUpload:
        """Return the connection to which the body of an object is sent, once the store wants it; StoreAway."""
        return self._objects.upload(Place.from_path(path), headers)

    def replace(self, path: str, before: StoreAnswer, headers: Mapping[str, str]) -> StoreAnswer:
        """Return the answer to a change of an object's metadata alone; StoreAway."""
        return self._objects.replace(Place.from_path(path), before, headers)
