"""Objects of an S3 store."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from storage_gateway.connections import BodyUpload, StoreAnswer, Upload, local_answer
from storage_gateway.s3.client import S3Client
from storage_gateway.s3.headers import from_s3, seconds_of, to_s3
from storage_gateway.s3.index import Entry, Index
from storage_gateway.s3.names import bucket_of
from storage_gateway.s3.uploads import DIGEST_OF_NOTHING, CheckedUpload

_NOT_IN_IT, _NOT_KNOWN = 416, 501
_READ = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Place:
    """An object, with its names in Swift and in S3."""

    account: str
    bucket: str
    key: str

    @classmethod
    def from_path(cls, path: str) -> Place:
        """Return the place of `/account/container/object`."""
        _, account, container, key = path.split("/", 3)
        return cls(account, bucket_of(account, container), key)

    @property
    def path(self) -> str:
        """Return the path of requests."""
        return f"/{self.bucket}/{self.key}"


@dataclass(frozen=True, slots=True)
class S3Objects:
    """Answers as Swift's object servers do."""

    client: S3Client
    index: Index
    keeps_slashes: bool = True
    """Whether a name may end with a slash; a store that keeps names as paths makes a folder of it, without content."""

    def ask(self, method: str, place: Place, headers: Mapping[str, str]) -> StoreAnswer:
        """Return the answer to GET, HEAD or DELETE. Raises StoreAway."""
        if method == "DELETE":
            return self._remove(place)
        if method not in _READ:
            return local_answer(405)
        ranged = {name: value for name, value in headers.items() if name.lower() == "range"}
        answer = self.client.ask(place.account, method, place.path, ranged)
        if answer.status == _NOT_IN_IT:
            return self._outside(place)
        if answer.status == 200:
            self._note(place, answer.headers)
        answer.headers = type(answer.headers)(from_s3(answer.headers))
        return answer

    def upload(self, place: Place, headers: Mapping[str, str]) -> BodyUpload:
        """Return the connection for a body. Raises StoreAway. The length is among the headers."""
        expected = next((value for name, value in headers.items() if name.lower() == "etag"), "").strip('"').lower()
        sent = to_s3({**headers, "X-Timestamp": f"{time.time():.5f}"})
        lengths = [value for name, value in sent.items() if name.lower() == "content-length"]
        if place.key.endswith("/") and lengths != ["0"] and not self.keeps_slashes:
            return _refuse(400, b"This store takes no content for a name that ends with /: leave out the slash.")
        if expected and lengths == ["0"] and expected != DIGEST_OF_NOTHING:
            return _refuse(422)  # with the last header, it would be stored
        content_type = next((value for name, value in sent.items() if name.lower() == "content-type"), "")
        upload = self.client.upload(place.account, place.path, sent)
        if upload.refused is not None and upload.refused.status == _NOT_KNOWN:  # a store without conditions
            sent = {name: value for name, value in sent.items() if name.lower() != "if-none-match"}
            upload.close()
            upload = self.client.upload(place.account, place.path, sent)

        def finish(answer: StoreAnswer, length: int) -> StoreAnswer:
            answer = self.client.with_swift_status(place.account, place.path, answer)
            if answer.status // 100 != 2:
                return answer
            answer.close()
            etag, at_s = answer.headers.get("Etag", "").strip('"'), seconds_of(answer.headers.get("Date", ""))
            self.index.note(place.bucket, place.key, Entry(etag, length, int(at_s or time.time()), content_type))
            return local_answer(201, {"Etag": etag})

        done = upload.refused  # some stores report an empty object as stored before its body is sent
        if done is not None and done.status // 100 == 2:
            done = finish(done, 0)
        return CheckedUpload(upload, expected, finish, refused=done)

    def replace(self, place: Place, before: StoreAnswer, headers: Mapping[str, str]) -> StoreAnswer:
        """Return the answer to a change of metadata alone: a copy onto itself, the only way in S3."""
        kept = {"Content-Type": before.headers.get("Content-Type", "application/octet-stream")}
        sent = to_s3({**kept, **headers, "X-Timestamp": f"{time.time():.5f}"})
        sent = {name: value for name, value in sent.items() if name.lower() != "content-length"}
        source = quote(place.path.encode("utf-8", "surrogateescape"), safe="/-_.~")
        own = {
            "X-Amz-Copy-Source": source,
            "X-Amz-Copy-Source-If-Match": f'"{before.headers.get("Etag", "")}"',
            "X-Amz-Metadata-Directive": "REPLACE",
        }
        answer = self.client.ask(place.account, "PUT", place.path, {**sent, **own})
        body = answer.body()
        self.index.forget(place.bucket, place.key)
        if answer.status == 200 and b"<Error>" in body:  # an error after the first bytes were sent
            return local_answer(503)
        return local_answer(202 if answer.status == 200 else answer.status)

    def _outside(self, place: Place) -> StoreAnswer:
        """Return Swift's answer to a range outside of the object: with its length, ETag and metadata."""
        head = self.client.ask(place.account, "HEAD", place.path)
        head.close()
        said = from_s3(head.headers)
        length = said.pop("Content-Length", "0")
        return local_answer(_NOT_IN_IT, {**said, "Content-Range": f"bytes */{length}"})

    def _remove(self, place: Place) -> StoreAnswer:
        head = self.client.ask(place.account, "HEAD", place.path)
        head.close()
        if head.status // 100 != 2:
            return local_answer(head.status)
        answer = self.client.ask(place.account, "DELETE", place.path)
        answer.close()
        self.index.forget(place.bucket, place.key)
        return local_answer(204 if answer.status // 100 == 2 else answer.status)

    def _note(self, place: Place, headers: Mapping[str, str]) -> None:
        size = headers.get("Content-Length", "")
        if size.isascii() and size.isdecimal():
            at_s = int(seconds_of(headers.get("Last-Modified", "")))
            etag, content_type = headers.get("Etag", "").strip('"'), headers.get("Content-Type", "")
            self.index.note(place.bucket, place.key, Entry(etag, int(size), at_s, content_type))


def _refuse(status: int, sentence: bytes = b"") -> CheckedUpload:
    nothing = Upload(local_answer(status), False, 0.0)
    return CheckedUpload(nothing, "", lambda answer, _: answer, refused=local_answer(status, {}, sentence))
