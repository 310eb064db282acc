"""Proxy filter that runs the filters of objects: forward when an object is stored, backward when it is read.

    [pipeline:main]
    pipeline = ... <authentication> copy zoe_bandwidth zoe_views slo dlo zoe_filters ... proxy-logging proxy-server
    [filter:zoe_filters]
    paste.filter_factory = storage_filters.filter_host:filter_factory
    rates_file = /run/swift/zoe-rates
    keyring_file = /etc/swift/zoe-keyring.json
    account_prefix = AUTH_

The rules of the object store select the filters of an object; their file is beside `rates_file`, the one of
`zoe_bandwidth`. The object's metadata record the applied filters, and a read undoes these, even if the rules have
changed. Clients, listings, views and conditional requests see size and ETag of the object as the client sent it. Put
this filter after every filter that makes subrequests, so that segments and copies are filtered like any other object.
Manifests of static large objects (`manifests.py`), dynamic manifests and symlinks are not filtered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from eventlet import tpool
from swift.common.http import HTTP_REQUESTED_RANGE_NOT_SATISFIABLE
from swift.common.request_helpers import get_container_update_override_key, update_etag_is_at_header
from swift.common.swob import HTTPForbidden, Request, Response
from swift.common.utils import close_if_possible, config_true_value, get_logger

from storage_bridge.model import REWRITE, STORED_HEADER, WHY_HEADER
from storage_filters.cache.setup import with_cache
from storage_filters.counting.rate_table import Direction, RateTable, belonging_to
from storage_filters.counting.request_computing import computing_of, noted_execution
from storage_filters.counting.use_counters import UseCounters, uses_file
from storage_filters.execution_auth.callers import credential_of
from storage_filters.filter_host.applied_filters import OWN, AppliedFilters
from storage_filters.filter_host.filtered_body import FilteredBody
from storage_filters.filter_host.manifests import check_manifest
from storage_filters.filter_host.original_bytes import Form, OriginalBytes, plain_request
from storage_filters.filter_host.records import KINDS, stored_by
from storage_filters.filter_host.refusals import refusal
from storage_filters.filter_host.rewriting import Rewriting
from storage_filters.filter_host.second_look import WITHOUT_BODY, answer_of
from storage_filters.filter_host.source_bodies import replace_source_body
from storage_filters.filter_host.stages import Servers, Stages, no_servers, servers_by_policy
from storage_filters.filter_host.transformed_read import may_be_transformed, read_transformed
from storage_filters.rules.chains import chain_of
from storage_filters.rules.documents import RuleBook
from storage_filters.rules.file import DamagedRulesError, RuleFile, operations_file, rules_file
from storage_filters.rules.hosted import hosted
from storage_filters.rules.metrics import counter_name, rules_to_count
from storage_filters.rules.placing import AT_OBJECT_SERVERS
from storage_filters.transforms.encryption import MARK, check_unencrypted
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.files import ModuleFiles, modules_directory
from storage_filters.transforms.modules.memory import MemoryBudget
from storage_filters.transforms.modules.modules import Modules, metadata_of
from storage_filters.transforms.stream_filters import DamagedObjectError, FilterRefusedError, ObjectReplacedError
from storage_filters.wsgi.client_lines import ClientLines
from storage_filters.wsgi.delivery import begin
from storage_filters.wsgi.headers import NODE_EXECUTION, NODE_STEPS, NODE_STORED, PUT_ETAG, PUT_SIZE, SELECTED, UNDONE
from storage_filters.wsgi.object_requests import ObjectRequest, name_behind, object_of, tags_of

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
_OBJECT_PATH_PARTS = 4
_TRIES = 5
_MANIFEST = "X-Static-Large-Object"
_REFERS = ("X-Object-Manifest", "X-Symlink-Target")
"""Headers of objects that refer to others, and have no bytes of their own unless the client sends some."""
_OVERRIDES = (get_container_update_override_key("etag"), get_container_update_override_key("size"))
_OF_BYTES = (200, 206, 416)
_WHOLE, _PART = 200, 206
_OF_LENGTH = ("content-length", "content-range")
_SEVERAL_RANGES = "multipart/byteranges"
_METHODS = ("PUT", REWRITE, *WITHOUT_BODY)
_CONDITIONS = ("If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since")


Met = Callable[[Environ, Iterable[tuple[int, str]], Direction], None]
"""Is called with the rules, and their filters, that apply to a request."""


class FilterHost:
    """The WSGI filter. book: returns the present rules; raises DamagedRulesError. operations: counts one under a name.
    met: counts rules by execution. servers: returns why the object servers of a request run no filters. warn: logs why
    an object could not be read or copied to its end.
    """

    def __init__(
        self,
        app: Any,
        book: Callable[[], RuleBook],
        keyring: Keyring,
        prefix: str = "AUTH_",
        size_max: int = 5 * 2**30,
        operations: Callable[[str, Direction], None] = lambda *_: None,
        modules: ModuleFiles | None = None,
        met: Met = lambda *_: None,
        servers: Servers = no_servers,
        memory: MemoryBudget | None = None,
        warn: Callable[[Environ, str], None] = lambda *_: None,
    ) -> None:
        self._memory = memory or MemoryBudget()
        self._warn = warn
        self._app = app
        self._book = book
        self._keyring = keyring
        self._prefix = prefix
        self._size_max = size_max
        self._operations = operations
        self._met = met
        self._files = modules or ModuleFiles(Path("/nonexistent"))
        self._stages = Stages(keyring, servers)
        self._rewriting = Rewriting(app, self._stages, size_max, _OVERRIDES)

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer requests of objects; pass all others on."""
        parts = env["PATH_INFO"].split("/", _OBJECT_PATH_PARTS)
        method = env["REQUEST_METHOD"]
        if len(parts) <= _OBJECT_PATH_PARTS or not parts[4] or method not in _METHODS:
            passed: Iterable[bytes] = self._app(env, start_response)
            return passed
        request = Request(env)
        request.headers.pop(NODE_EXECUTION, None)
        if execution := noted_execution(env):
            request.headers[NODE_EXECUTION] = execution
        if method in ("PUT", "POST"):
            for name in (*OWN, NODE_STEPS):  # only hosts record filters, or request them
                request.headers.pop(name, None)
        try:
            answered = self._answer_begun(request, object_of(parts, self._prefix), start_response)
        except (FilterRefusedError, DamagedObjectError, DamagedRulesError) as error:
            answered = refusal(request, error)(env, start_response)
        return answered

    def _answer_begun(self, request: Request, place: ObjectRequest, start_response: StartResponse) -> Iterable[bytes]:
        """Answer, and read the beginning of a range, which fails if a client stores another object meanwhile."""
        before = request.environ.copy()
        for _ in range(_TRIES - 1):
            with suppress(ObjectReplacedError):
                answered: Iterable[bytes] = self._answer(request, place)(request.environ, start_response)
                return answered
            request.environ.clear()
            request.environ.update(before)
        last: Iterable[bytes] = self._answer(request, place)(request.environ, start_response)
        return last

    def _answer(self, request: Request, place: ObjectRequest) -> Response:
        if request.method == "PUT":
            source = replace_source_body(request, lambda why: self._warn(request.environ, why))
            answer = self._store(request, place)
            if source is not None:
                source.check_stored(answer)
        elif request.method in ("POST", "DELETE"):
            answer = answer_of(request, self._app)
        elif request.method == REWRITE:
            answer = self._rewrite(request, place)
        else:
            answer = self._read(request, place)
        if answer.is_success and request.method in ("GET", "PUT"):
            self._count("get" if request.method == "GET" else "put", place)
        return answer

    def _modules(self, book: RuleBook, request: Request, tenant: str) -> Modules:
        return Modules(book, self._files, computing_of(request.environ).yield_turn, lambda: self._memory.share(tenant))

    def _count(self, direction: Direction, place: ObjectRequest) -> None:
        with suppress(DamagedRulesError):
            for rule in rules_to_count(self._book(), place):
                self._operations(counter_name(rule), direction)

    def _store(self, request: Request, place: ObjectRequest) -> Response:
        length = request.content_length
        unsaid = length is None and "chunked" not in request.headers.get("Transfer-Encoding", "").lower()
        refers = length == 0 and any(header in request.headers for header in _REFERS)
        if unsaid or refers or (length or 0) > self._size_max:
            return request.get_response(self._app)
        book, place = self._book(), replace(place, size=length, tags=tags_of(request.headers))
        modules, seen = self._modules(book, request, place.tenant), metadata_of(place, request.headers)
        its = stored_by(chain_of(book, place).steps, place.tenant, modules)
        if not its:
            return request.get_response(self._app)
        if _MANIFEST in request.headers:
            check_manifest(request)
            return request.get_response(self._app)
        stages = self._stages.stages_for(request, its, place.tenant, modules, seen)
        body = FilteredBody(request, stages.proxy_steps, self._size_max, _OVERRIDES, stages.has_node_steps)
        answer = request.get_response(self._app)
        if body.refused is not None and not answer.is_success:
            close_if_possible(answer.app_iter)
            raise body.refused
        stages.check(answer, body.differs)
        if answer.is_success and body.etag:
            answer.headers["Etag"] = body.etag
        if answer.is_success:
            self._met(request.environ, [(verdict.rule.id, verdict.action.kind) for verdict in its], "put")
        return answer

    def _rewrite(self, request: Request, place: ObjectRequest) -> Response:
        if not request.environ.get("reseller_request"):
            return HTTPForbidden(body="only a reseller admin can rewrite objects\n", request=request)
        book = self._book()
        return self._rewriting.answer(request, place, book, self._modules(book, request, place.tenant))

    def _read(self, request: Request, place: ObjectRequest) -> Response:
        try:
            book = self._book()
        except DamagedRulesError:
            if self._files.has_modules():  # a module may hide unknown parts from readers
                raise
            book = RuleBook()
        modules = self._modules(book, request, place.tenant)
        if may_be_transformed(book, place):
            return read_transformed(
                request, place, book, modules, lambda entry: self._restore(entry, place.tenant, modules)
            )
        return self._restore(request, place.tenant, modules)

    def _restore(self, request: Request, tenant: str, modules: Modules) -> Response:
        update_etag_is_at_header(request, PUT_ETAG)
        why = request.headers.pop(WHY_HEADER, None)
        answer = answer_of(request, self._app)
        done, name = self._applied_filters(answer), name_behind(request.environ["PATH_INFO"], answer.headers)
        if SELECTED in answer.headers:
            _drop(answer, (*OWN, UNDONE, NODE_STORED))
            return answer
        if done is None:
            return self._plain(request, answer, tenant)
        stored_etag = answer.headers.get("Etag", "")
        there = (answer.headers.get("Content-Range") or f"/{answer.content_length or 0}").rpartition("/")[2]
        stored_bytes = answer.headers.get(NODE_STORED, there)
        size, etag = _original_size_and_etag(answer)
        _drop(answer, (*OWN, *_OVERRIDES, UNDONE, NODE_STORED))
        answer.headers["Etag"] = etag
        if why is not None and _may_know(request.environ):
            answer.headers[WHY_HEADER] = done.description()
            answer.headers[STORED_HEADER] = stored_bytes
        if request.method == "HEAD" or answer.status_int not in _OF_BYTES:
            if request.method == "HEAD" and answer.is_success:
                answer.content_length = size
                if why is None:  # like GET; the record of filters is readable without the key
                    done.filters(tenant, self._keyring, name, modules)
            return answer
        try:
            filters = done.filters(tenant, self._keyring, name, modules)
        except (FilterRefusedError, DamagedObjectError):
            close_if_possible(answer.app_iter)
            raise
        self._met(request.environ, done.rules_and_kinds(), "get")
        whole = answer.app_iter if answer.status_int == 200 else None
        if whole is None:
            close_if_possible(answer.app_iter)
        headers = {key: value for key, value in answer.headers.items() if key.lower() not in _OF_LENGTH}
        # A range of the stored bytes: its answer lacks the object's type; with fragments, also a range beyond the end.
        if answer.content_type == _SEVERAL_RANGES or answer.status_int == HTTP_REQUESTED_RANGE_NOT_SATISFIABLE:
            headers["Content-Type"] = self._head(request).headers.get("Content-Type", "")
        made = Response(request=request, headers=headers, conditional_response=True, conditional_etag=etag)
        made.app_iter = OriginalBytes(
            self._app,
            request,
            Form(filters, stored_etag),
            etag,
            size,
            whole,
            lambda entry: self._form(entry, tenant, name, modules),
            at_damage=lambda why: self._warn(request.environ, f"{request.path} is damaged: {why}"),
        )
        made.content_length = size
        return made

    def _applied_filters(self, answer: Response) -> AppliedFilters | None:
        try:
            return AppliedFilters.from_headers(answer.headers)
        except DamagedObjectError:
            close_if_possible(answer.app_iter)
            raise

    def _plain(self, request: Request, answer: Response, tenant: str) -> Response:
        """Return the answer for an object without filters. Raises DamagedObjectError if its bytes are encrypted."""
        if request.method == "GET" and answer.status_int == _PART and self._keyring.any_for(tenant):
            try:
                self._check_beginning(request, answer)
            except (DamagedObjectError, ObjectReplacedError):
                close_if_possible(answer.app_iter)
                raise
        elif request.method == "GET" and answer.status_int == _WHOLE:
            # A new response, since an answer closes its body when it gets another one.
            made = Response(request=request, status=answer.status, headers=answer.headers)
            made.app_iter, made.content_length = _BegunAnswer(answer.app_iter), answer.content_length
            return made
        return answer

    def _check_beginning(self, request: Request, answer: Response) -> None:
        """Check the object of a partial answer. Raises DamagedObjectError if it is encrypted, ObjectReplacedError if
        it was
        replaced.
        """
        asked = plain_request(request, "GET")
        asked.headers["Range"] = f"bytes=0-{len(MARK) - 1}"
        beginning = answer_of(asked, self._app)
        try:
            if beginning.headers.get("Etag") != answer.headers.get("Etag"):
                raise ObjectReplacedError("the object was replaced while it was read: try again")
            for _ in check_unencrypted(beginning.app_iter):
                pass
        finally:
            close_if_possible(beginning.app_iter)

    def _form(self, answer: Response, tenant: str, name: bytes, modules: Modules) -> Form:
        done = AppliedFilters.from_headers(answer.headers)
        filters = done.filters(tenant, self._keyring, name, modules) if done is not None else []
        return Form(filters, answer.headers.get("Etag", ""))

    def _head(self, request: Request) -> Response:
        answer = plain_request(request, "HEAD").get_response(self._app)
        close_if_possible(answer.app_iter)
        return answer


class _BegunAnswer:
    """The bytes of an answer, with the first of them read: until then, an error can still replace the answer."""

    def __init__(self, app_iter: Iterable[bytes]) -> None:
        self._app_iter = app_iter
        try:
            self._pieces = begin(check_unencrypted(app_iter))
        except DamagedObjectError:
            self.close()
            raise

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces

    def close(self) -> None:
        """Close the answer."""
        close_if_possible(self._app_iter)


def _may_know(env: Environ) -> bool:
    """Return whether the caller may see names of keys and the stored size: owners of the account, and all where nothing
    authorises.
    """
    return bool(env.get("swift_owner") or env.get("reseller_request")) or "swift.authorize" not in env


def _drop(answer: Response, names: Iterable[str]) -> None:
    for name in names:
        answer.headers.pop(name, None)


def _original_size_and_etag(answer: Response) -> tuple[int, str]:
    """Return size and ETag of the object as the client sent it. Raises DamagedObjectError."""
    try:
        return int(answer.headers[PUT_SIZE]), str(answer.headers[PUT_ETAG])
    except (KeyError, TypeError, ValueError):  # Swift gives None for a header that is missing
        close_if_possible(answer.app_iter)
        raise DamagedObjectError("its size is not known") from None


def filter_factory(global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], FilterHost]:
    """Return the filter, for paste."""
    conf = {**global_conf, **local_conf}
    logger = get_logger(conf, log_route="zoe-filters")
    keyring = Keyring(Path(conf["keyring_file"]) if conf.get("keyring_file") else None)
    rules = RuleFile(rules_file(conf["rates_file"]), logger.error)

    hosted.update(KINDS)
    at_servers = config_true_value(conf.get("object_filters", "no"))
    if at_servers:
        hosted.add(AT_OBJECT_SERVERS)

    def build(app: Any) -> FilterHost:
        with belonging_to(global_conf.get("user", "swift")):
            table = RateTable(operations_file(conf["rates_file"]))
            uses = UseCounters(uses_file(conf["rates_file"]))

        def count_rules(env: Environ, rules: Iterable[tuple[int, str]], direction: Direction) -> None:
            if (user := credential_of(env)) is not None:
                uses.rules(user, rules, direction)

        def count_operation(name: str, direction: Direction) -> None:
            table.turn(name, direction, 1, time.monotonic())

        servers = servers_by_policy(app) if at_servers else no_servers
        app = with_cache(app, conf, rules.book, logger)
        files = ModuleFiles(modules_directory(conf["rates_file"]), tpool.execute)
        prefix = conf.get("account_prefix", "AUTH_")
        lines = ClientLines(logger)
        return FilterHost(
            app,
            rules.book,
            keyring,
            prefix,
            operations=count_operation,
            modules=files,
            met=count_rules,
            servers=servers,
            warn=lambda env, text: lines.warning(env, "%s", text),
        )

    return build
