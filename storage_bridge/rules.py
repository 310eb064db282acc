"""The object store's rules, and the requests that its proxies serve, at Zoe's own controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from storage_bridge.http import ControllerHttp, ControllerSettings, understood
from storage_bridge.model import StorageUnavailableError

_FIELDS = ("id", "target", "rule", "enforced", "author", "created_s", "removed_by", "removed_s")
_UPLOAD_S = 20.0  # the controller compiles it
Document = Mapping[str, Any]


class RuleClient:
    """Calls raise StorageRefusedError, with a sentence for users, or StorageUnavailableError."""

    def __init__(self, settings: ControllerSettings) -> None:
        # A rule that was added is not added again because its answer was lost.
        self._owner = settings.owner
        self._http = ControllerHttp(replace(settings, attempts=1))
        self._uploads = ControllerHttp(replace(settings, attempts=1, timeout_s=_UPLOAD_S))

    def rules(self, removed: bool = False) -> Sequence[Document]:
        """Return the rules that hold, or those that were removed, the last one first."""
        rows = self._http.ask("GET", f"/v1/rules?removed={str(removed).lower()}", absent=None)
        if rows is None:
            raise StorageUnavailableError("this storage controller has no rules: Zoe's own one is needed")
        return understood(lambda: [_rule(row) for row in rows])

    def add(self, text: str, tenant: str, author: str) -> Sequence[Document]:
        """Add rules, one a line, all of them or none; `tenant` is that of targets which name none."""
        rows = self._http.ask("POST", "/v1/rules", {"text": text, "tenant": tenant}, headers=_by(author))
        return understood(lambda: [_rule(row) for row in rows])

    def remove(self, number: int, author: str) -> None:
        """Remove a rule."""
        self._http.ask("DELETE", f"/v1/rules/{number}", headers=_by(author))

    def filters(self, tenant: str | None) -> Sequence[Document]:
        """Return uploaded filters: those that rules for a tenant may set, or all."""
        rows = self._http.ask("GET", f"/v1/modules?{urlencode({'tenant': tenant} if tenant is not None else {})}")
        return understood(lambda: [dict(row) for row in rows])

    def upload(self, tenant: str, name: str, module: str, author: str) -> Document:
        """Upload a filter of a tenant, an empty one for all; `module` is in base64."""
        path = f"/v1/modules/{quote(name, safe='')}?{urlencode({'tenant': tenant})}"
        answer = self._uploads.ask("PUT", path, {"data": module}, headers=_by(author))
        return understood(lambda: dict(answer))

    def drop(self, tenant: str, name: str, author: str) -> None:
        """Remove an uploaded filter."""
        path = f"/v1/modules/{quote(name, safe='')}?{urlencode({'tenant': tenant})}"
        self._http.ask("DELETE", path, headers=_by(author))

    def attempt(self, wanted: Document) -> Document:
        """Return what holds for an object, now and with rules beside."""
        answer = self._http.ask("POST", "/v1/rules/try", wanted)
        return understood(lambda: dict(answer))

    def why(self, tenant: str, container: str, name: str) -> Document:
        """Return which filters a stored object went through, and what would hold for it now."""
        query = urlencode({"tenant": tenant, "container": container, "object": name})
        answer = self._http.ask("GET", f"/v1/rules/why?{query}")
        return understood(lambda: dict(answer))

    def slos(self) -> Sequence[Document]:
        """Return what tenants are guaranteed, and by what."""
        rows = self._http.ask("GET", "/v1/slos")
        return understood(lambda: [dict(row) for row in rows])

    def set_slo(self, tenant: str, rates: Document) -> Document:
        """Guarantee a tenant bandwidth for good. rates: `read_bytes_per_s` and `write_bytes_per_s`; None removes one,
        and what is left out stays.
        """
        answer = self._http.ask("PUT", f"/v1/slos/{quote(tenant, safe='')}", rates)
        return understood(lambda: dict(answer))

    def clear_slo(self, tenant: str) -> None:
        """Remove what a tenant is guaranteed for good."""
        self._http.ask("DELETE", f"/v1/slos/{quote(tenant, safe='')}")

    def rewrites(self) -> Sequence[Document]:
        """Return the jobs that store objects again, the newest first."""
        rows = self._http.ask("GET", "/v1/rewrites")
        return understood(lambda: [dict(row) for row in rows])

    def rewrite(self, wanted: Document, author: str) -> Document:
        """Begin a job that stores objects again."""
        answer = self._http.ask("POST", "/v1/rewrites", wanted, headers=_by(author))
        return understood(lambda: dict(answer))

    def resume_rewrite(self, number: int) -> Document:
        """Let a job go on that was cancelled or gave up."""
        answer = self._http.ask("POST", f"/v1/rewrites/{number}/resume")
        return understood(lambda: dict(answer))

    def cancel_rewrite(self, number: int) -> None:
        """Cancel a job that stores objects again."""
        self._http.ask("DELETE", f"/v1/rewrites/{number}")

    def history(self, wanted: Document) -> Document:
        """Return the requests, rules and bytes over time of this Zoe's executions. wanted: `execution` or `tenant`, and
        `from_s`, `to_s`, `stretch_s`.
        """
        query = urlencode({name: value for name, value in wanted.items() if value is not None})
        answer = self._http.ask("GET", f"/v1/owners/{quote(self._owner, safe='')}/history?{query}", absent=None)
        if answer is None:
            raise StorageUnavailableError(
                "this storage controller keeps no history of executions: they need credentials of their own"
            )
        return understood(lambda: dict(answer))

    def traffic(self, by: Sequence[str], seconds: float, tenant: str | None) -> Document:
        """Return rates of requests at the proxies over the last seconds, added up by these dimensions."""
        query = urlencode({"by": by, "seconds": seconds} | ({"tenant": tenant} if tenant else {}), doseq=True)
        answer = self._http.ask("GET", f"/v1/traffic?{query}", absent=None)
        if answer is None:
            raise StorageUnavailableError("this storage controller tells no requests: Zoe's own one is needed")
        return understood(lambda: dict(answer))


def _rule(row: Document) -> Document:
    return {name: row[name] for name in _FIELDS} | {"metrics": row.get("metrics", {})}


def _by(author: str) -> Mapping[str, str]:
    return {"X-Zoe-Author": author}
