"""Proxy filter that refuses uploads beyond a quota of bytes or objects, of a container, an account or a key.

    [pipeline:main]
    pipeline = ... cache ... <authentication> copy zoe_bandwidth zoe_views zoe_quotas slo dlo ... proxy-server
    [filter:zoe_quotas]
    paste.filter_factory = storage_gateway.quotas:filter_factory

Quotas are set as in Swift's `container_quotas` and `account_quotas`, whose code checks and stores them; this filter
replaces both. Those use numbers of the store that are up to a minute old, and accept bodies without a length. This
filter counts the bytes as sent by clients, before filters, and includes uploads in flight.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from swift.common.http import is_success
from swift.common.middleware.account_quotas import AccountQuotaMiddleware
from swift.common.middleware.container_quotas import ContainerQuotaMiddleware
from swift.common.registry import register_swift_info
from swift.common.swob import (
    HTTPBadRequest,
    HTTPForbidden,
    HTTPRequestEntityTooLarge,
    HTTPServiceUnavailable,
    Request,
    Response,
)
from swift.common.utils import cache_from_env, get_logger
from swift.common.wsgi import make_pre_authed_request
from swift.proxy.controllers.base import get_account_info, get_container_info

from storage_gateway.content_types import KEY
from storage_gateway.exchange import COUNTS
from storage_gateway.quotas import of_keys as key_quotas
from storage_gateway.quotas.quota_use import NOTHING, Amount, Count, Ledger, is_stale
from storage_gateway.quotas.uploads import MeteredBody, Upload

_PAGES_MAX = 1000


@dataclass(frozen=True, slots=True)
class Quota:
    """Limit of one place; None: no limit. place: `(account,)` or `(account, container)`. key: only objects written with
    it count.
    """

    place: tuple[str, ...]
    ledger: Ledger
    size: int | None
    objects: int | None
    key: str | None = None

    def is_within(self, used: Amount) -> bool:
        """Return whether a use is within the quota."""
        return (self.size is None or used.size <= self.size) and (self.objects is None or used.objects <= self.objects)


class Uncountable(Exception):  # noqa: N818 - the name is the fact
    """The store cannot list the objects to count."""


class Quotas:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: Mapping[str, str]) -> None:
        self.app = app
        self._logger = get_logger(conf, log_route="zoe-quotas")
        self._of_accounts, self._of_containers = AccountQuotaMiddleware(app), ContainerQuotaMiddleware(app)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """Pass a request on, or refuse it."""
        req = Request(environ)
        try:
            _, account, container, name = req.split_path(2, 4, True)
        except ValueError:
            return self.app(environ, start_response)
        if not container:
            return self._account(req)(environ, start_response)
        if not name:
            return self._of_containers(environ, start_response)
        if req.method != "PUT":
            return self.app(environ, start_response)
        return self._put(req, account, container)(environ, start_response)

    def _account(self, req: Request) -> Any:
        """Pass on a request of an account: quotas of keys are set like its own, and shown to the same users."""
        if req.method in ("POST", "PUT") and key_quotas.sets_quota(req.headers):
            if req.environ.get("reseller_request") is not True:
                return HTTPForbidden(request=req)
            try:
                kept = get_account_info(req.environ, self.app, swift_source=COUNTS)["sysmeta"]
                req.headers.update(key_quotas.changes(req.headers, kept))
            except key_quotas.WrongQuota as error:
                return HTTPBadRequest(request=req, body=f"{error}\n")
        answer: Response = req.get_response(self._of_accounts)
        answer.headers.update(key_quotas.shown_headers(answer.headers))
        return answer

    def _put(self, req: Request, account: str, container: str) -> Any:
        req.headers.pop(key_quotas.NOTED, None)  # of a copied object
        info = get_container_info(req.environ, self.app, swift_source=COUNTS)
        quotas = list(self._quotas(req, account, container, info))
        if not quotas:
            return self.app
        # A client without the right to write gets that error, without information on quotas.
        if "swift.authorize" in req.environ:
            req.acl = info["write_acl"]
            refusal = req.environ["swift.authorize"](req)
            if refusal:
                return refusal
        upload = Upload([quota.ledger for quota in quotas], lambda on_way: self._all_fit(req, quotas, on_way))
        length = req.message_length()
        try:
            if not upload.take(Amount(length or 0, 1)):
                upload.end(stored=False)
                return HTTPRequestEntityTooLarge(request=req, body="Upload exceeds quota.")
            if length is None:
                req.environ["wsgi.input"] = MeteredBody(req.environ["wsgi.input"], upload)
            answer = req.get_response(self.app)
        except Uncountable as error:
            upload.end(stored=False)
            self._logger.error("quotas of %s: %s", account, error)
            return HTTPServiceUnavailable(
                request=req, headers={"Retry-After": "5"}, body="The objects of the store cannot be counted."
            )
        except BaseException:
            upload.end(stored=False)
            raise
        upload.end(stored=is_success(answer.status_int))
        return HTTPRequestEntityTooLarge(request=req, body="Upload exceeds quota.") if upload.exceeded else answer

    def _quotas(self, req: Request, account: str, container: str, info: Mapping[str, Any]) -> Iterator[Quota]:
        cache = cache_from_env(req.environ)
        if cache is None:
            return
        if is_success(info["status"]):
            meta = info["meta"]
            size, objects = _number(meta.get("quota-bytes")), _number(meta.get("quota-count"))
            if size is not None or objects is not None:
                yield Quota((account, container), Ledger(cache, f"{account}/{container}"), size, objects)
        if req.environ.get("reseller_request") is True:  # as in Swift, quotas of accounts do not apply to them
            return
        found = get_account_info(req.environ, self.app, swift_source=COUNTS)
        size, objects = (_number(found["sysmeta"].get(f"quota-{name}")) for name in ("bytes", "count"))
        if size is not None or objects is not None:
            yield Quota((account,), Ledger(cache, account), size, objects)
        key = key_quotas.key_of(req.environ)
        if not key or not key_quotas.has_quotas(found["sysmeta"]):
            return
        req.headers[key_quotas.NOTED] = key
        size, objects = key_quotas.quota_of(key, found["sysmeta"])
        if size is not None or objects is not None:
            # container names have no slash
            yield Quota((account,), Ledger(cache, f"{account}//{key}"), size, objects, key)

    def _all_fit(self, req: Request, quotas: Sequence[Quota], on_way: Sequence[Amount]) -> bool:
        return all(self._has_room(req, *pair) for pair in zip(quotas, on_way, strict=True))

    def _has_room(self, req: Request, quota: Quota, on_way: Amount) -> bool:
        count = quota.ledger.newest_count() or self._count_listing(req, quota)
        if quota.is_within(quota.ledger.use(count, on_way)):
            return True
        if not is_stale(count):
            return False
        return quota.is_within(
            quota.ledger.use(self._count_listing(req, quota), on_way)
        )  # objects may have been removed

    def _count_listing(self, req: Request, quota: Quota) -> Count:
        generation, began_s = quota.ledger.begin_count(), time.time()
        if len(quota.place) == 1:
            names = [entry["name"] for entry in self._entries(req, quota.place) if "name" in entry]
            places: list[tuple[str, ...]] = [(*quota.place, name) for name in names]
        else:
            places = [quota.place]
        amount = NOTHING
        for place in places:
            for entry in self._entries(req, place):
                if "name" in entry and quota.key in (None, entry.get(KEY)):
                    # The parts of a large object count where they are stored.
                    amount += Amount(0 if "slo_etag" in entry else int(entry["bytes"]), 1)
        ended_s = time.time()
        count = Count(amount, generation, ended_s, ended_s - began_s)
        quota.ledger.keep(count)
        return count

    def _entries(self, req: Request, place: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        path = "/v1/" + "/".join(quote(part) for part in place)
        marker = ""
        for _ in range(_PAGES_MAX):
            asked = f"{path}?format=json&marker={quote(marker, safe='')}"
            answer: Response = make_pre_authed_request(
                req.environ, "GET", asked, swift_source=COUNTS, agent="%(orig)s zoe-quotas"
            ).get_response(self.app)
            if answer.status_int == 404:
                return
            if answer.status_int not in (200, 204):
                raise Uncountable(f"GET {asked} answered {answer.status}")
            entries = json.loads(answer.body or b"[]")
            yield from entries
            if not entries:
                return
            marker = str(entries[-1].get("name", entries[-1].get("subdir")))
        raise Uncountable(f"{path} has too many names")


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None


def filter_factory(global_conf: Mapping[str, str], **local_conf: str) -> Callable[[Any], Quotas]:
    """Return the factory of the filter, for paste."""
    conf = {**global_conf, **local_conf}
    register_swift_info("container_quotas")
    register_swift_info("account_quotas")
    return lambda app: Quotas(app, conf)
