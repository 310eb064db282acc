"""Swift's controllers, which send to a store what they would send to servers that a ring names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from swift.common.constraints import MAX_FILE_SIZE
from swift.common.exceptions import ChunkReadError
from swift.common.http import HTTP_PARTIAL_CONTENT, HTTP_REQUESTED_RANGE_NOT_SATISFIABLE, is_success
from swift.common.swob import (
    HTTPBadRequest,
    HTTPClientDisconnect,
    HTTPRequestEntityTooLarge,
    HTTPServiceUnavailable,
    HTTPUnprocessableEntity,
    Request,
    Response,
)
from swift.common.utils import HeaderKeyDict, Timestamp
from swift.proxy.controllers.account import AccountController
from swift.proxy.controllers.container import ContainerController
from swift.proxy.controllers.obj import ReplicatedObjectController

from storage_gateway import content_types
from storage_gateway.exchange import conditions_for_us, kind_of, query, response, sent, written
from storage_gateway.kept_headers import TooLong, from_store, kept_after_post
from storage_gateway.store import StoreAnswer, StoreAway, Upload

_RANGES = (HTTP_PARTIAL_CONTENT, HTTP_REQUESTED_RANGE_NOT_SATISFIABLE)


class _Forwarding:
    """What the three controllers share: requests go to the store instead of to servers found by a ring."""

    app: Any
    server_type: str

    @property
    def _kind(self) -> str:
        return self.server_type.lower()

    def GETorHEAD_base(  # noqa: N802 - Swift calls it so
        self, req: Request, _type: str, _nodes: Any, _part: Any, path: str, *_: Any, **__: Any
    ) -> Response:
        """Return the store's answer to a GET or HEAD."""
        held = conditions_for_us(req)
        headers = {name: value for name, value in sent(req.headers).items() if name.title() not in held}
        try:
            answer = self.app.store.ask(req.method, path, headers, query(req))
            found = from_store(self._kind, answer.headers)
            if answer.status in _RANGES and self._ranges_ignored(req, path, found):
                answer.close()
                headers.pop("Range", None)
                answer = self.app.store.ask(req.method, path, headers, query(req))
                found = from_store(self._kind, answer.headers)
        except StoreAway as away:
            return self._away(req, away)
        return response(req, self._kind, answer, found, held)

    def _ranges_ignored(self, req: Request, path: str, found: Mapping[str, str]) -> bool:
        """Return whether middleware wants all of an object that has such metadata, such as a list of parts."""
        asked = req.headers.get("X-Backend-Ignore-Range-If-Metadata-Present", "").split(",")
        names = {name.strip().lower() for name in asked if name.strip()}
        if names and not names & {name.lower() for name in found}:  # an error may come without metadata
            head = self.app.store.ask("HEAD", path, {})
            head.close()
            found = from_store(self._kind, head.headers)
        return bool(names & {name.lower() for name in found})

    def make_requests(
        self,
        req: Request,
        _ring: Any,
        _part: int,
        method: str,
        path: str,
        headers: Sequence[Mapping[str, str]],
        query_string: str = "",
        body: bytes | None = None,
        **_: Any,
    ) -> Response:
        """Return the store's answer to any other request that has no body of the client's."""
        kind = kind_of(path)
        # Who may use an account may not create it; a store that creates accounts does so at the first change.
        method = "POST" if kind == "account" and method == "PUT" else method
        try:
            return self._changed(req, method, path, written(kind, headers[0]), query_string, body)
        except TooLong as error:
            return HTTPBadRequest(request=req, body=str(error))

    def _changed(
        self,
        req: Request,
        method: str,
        path: str,
        headers: Mapping[str, str],
        query_string: str = "",
        body: bytes | None = None,
    ) -> Response:
        try:
            answer = self.app.store.ask(method, path, headers, query_string, body)
            content = answer.body()
        except StoreAway as away:
            return self._away(req, away)
        made = Response(request=req, status=f"{answer.status} {answer.reason}", body=content)
        if answer.headers.get("Content-Type"):
            made.content_type = answer.headers["Content-Type"]
        return made

    def _away(self, req: Request, away: StoreAway) -> Response:
        self.app.logger.error("%s", away)
        return HTTPServiceUnavailable(request=req, headers={"Retry-After": "5"}, body="The store is away.")


class GatewayAccounts(_Forwarding, AccountController):  # type: ignore[misc]
    """Accounts of the store."""


class GatewayContainers(_Forwarding, ContainerController):  # type: ignore[misc]
    """Containers of the store."""


class GatewayObjects(_Forwarding, ReplicatedObjectController):  # type: ignore[misc]
    """Objects of the store."""

    def _get_or_head_response(self, req: Request, nodes: Any, partition: int, _: Any) -> Response:
        return self.GETorHEAD_base(req, "Object", nodes, partition, req.swift_entity_path)

    def _post_object(self, req: Request, _ring: Any, _partition: int, headers: Sequence[Mapping[str, str]]) -> Response:
        return self._replaced(req, headers[0])

    def _replaced(self, req: Request, headers: Mapping[str, str]) -> Response:
        """Replace the metadata of users, as Swift does; what middleware keeps stays."""
        path = req.swift_entity_path
        try:
            before = self.app.store.ask("HEAD", path, {})
            before.close()
            if not is_success(before.status):
                return Response(request=req, status=before.status)
            kept = kept_after_post(from_store("object", before.headers))
        except StoreAway as away:
            return self._away(req, away)
        names = {name.lower() for name in headers}
        kept = {name: value for name, value in kept.items() if name.lower() not in names}
        try:
            sent = HeaderKeyDict(written("object", {**kept, **headers}))
        except TooLong as error:
            return HTTPBadRequest(request=req, body=str(error))
        if sent.get("Content-Type"):
            sent["Content-Type"] = content_types.carried(before.headers.get("Content-Type", ""), sent["Content-Type"])
        return self._changed(req, "POST", path, sent)

    def _store_object(
        self, req: Request, data_source: Iterator[bytes], _nodes: Any, _partition: int, outgoing_headers: Any
    ) -> Response:
        """Send the body on while it comes. Nothing is stored if the client or the store goes away before its end."""
        try:
            headers = written("object", outgoing_headers[0])
            upload = self.app.store.upload(req.swift_entity_path, headers)
        except TooLong as error:
            return HTTPBadRequest(request=req, body=str(error))
        except StoreAway as away:
            return self._away(req, away)
        try:
            answer = upload.refused or self._sent_whole(req, data_source, upload)
            if isinstance(answer, Response):
                return answer
            content = answer.body()
        except StoreAway as away:
            return self._away(req, away)
        finally:
            upload.close()
        if is_success(answer.status):
            refused = self._with_footers(req, answer, outgoing_headers[0])
            if refused is not None:
                return refused
        made = Response(request=req, status=f"{answer.status} {answer.reason}", body=content)
        for name in ("Etag", "Last-Modified"):
            if answer.headers.get(name):
                made.headers[name] = answer.headers[name]
        if is_success(answer.status) and made.last_modified is None:
            made.last_modified = Timestamp(req.headers["X-Timestamp"])
        return made

    def _sent_whole(self, req: Request, data_source: Iterator[bytes], upload: Upload) -> StoreAnswer | Response:
        sent = 0
        try:
            for piece in data_source:
                sent += len(piece)
                if sent > MAX_FILE_SIZE:
                    return HTTPRequestEntityTooLarge(request=req)
                upload.send(piece)
        except ChunkReadError:
            return HTTPClientDisconnect(request=req)
        length = req.message_length()
        if length and sent < length:
            return HTTPClientDisconnect(request=req)
        return upload.end()

    def _with_footers(self, req: Request, answer: StoreAnswer, headers: Mapping[str, str]) -> Response | None:
        """Keep what middleware knows only after the body; None if that is done."""
        footers = HeaderKeyDict(self._get_footers(req))
        etag = footers.pop("Etag", None)
        if etag and answer.headers.get("Etag", "").strip('"') != etag.strip('"'):
            self.app.store.ask("DELETE", req.swift_entity_path, {}).body()
            return HTTPUnprocessableEntity(request=req)
        if not footers:
            return None
        wanted = {name: value for name, value in headers.items() if name.lower() not in ("content-length", "etag")}
        done = self._replaced(req, {**wanted, **footers})
        return None if is_success(done.status_int) else done
