"""The object store's rules, and the requests that its proxies serve, at Zoe's own controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from storage_bridge.http import ControllerHttp, ControllerSettings, understood
from storage_bridge.model import StorageUnavailableError

_FIELDS = ("id", "target", "rule", "enforced", "author", "created_s", "removed_by", "removed_s")
_OF_CONTROLLERS = ("name", "kind", "what", "mode", "active", "last", "last_s", "runs", "failures", "problem", "waits_s")
_OF_MODULES = ("name", "tenant", "sha256", "newest")
_LATER_OF_MODULES = ("only_here",)
_OF_SWITCHES = ("at_s", "active", "dry", "metrics")
_UPLOAD_S = 20.0  # the controller compiles it, and tries modules of rules
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

    def add(self, text: str, tenant: str, author: str, dry_run: bool = False) -> Sequence[Document]:
        """Add rules, one a line, all of them or none; `tenant` is that of targets which name none. dry_run: they are
        judged, and no proxy gets them.
        """
        wanted = {"text": text, "tenant": tenant} | ({"dry_run": True} if dry_run else {})
        rows = self._uploads.ask("POST", "/v1/rules", wanted, headers=_by(author))
        return understood(lambda: [_rule(row) for row in rows])

    def remove(self, number: int, author: str) -> None:
        """Remove a rule."""
        self._http.ask("DELETE", f"/v1/rules/{number}", headers=_by(author))

    def restore(self, number: int, author: str) -> Document:
        """Add a removed rule again, with the versions of filters that it ran."""
        row = self._uploads.ask("POST", f"/v1/rules/{number}/again", {}, headers=_by(author))
        return understood(lambda: _rule(row))

    def filters(self, tenant: str | None) -> Sequence[Document]:
        """Return uploaded filters: those that rules for a tenant may set, or all."""
        rows = self._http.ask("GET", f"/v1/modules?{urlencode({'tenant': tenant} if tenant is not None else {})}")
        return understood(lambda: [dict(row) for row in rows])

    def move(self, number: int, name: str, sha256: str | None, author: str) -> Document:
        """Let a rule run another version of a filter, by default the newest; `was` has what it ran."""
        path = f"/v1/rules/{number}/modules/{quote(name, safe='')}"
        row = self._uploads.ask("PUT", path, {"sha256": sha256}, headers=_by(author))
        return understood(lambda: {"rule": _rule(row), "was": [str(one) for one in row["was"]]})

    def filter_versions(self, tenant: str | None) -> Sequence[Document]:
        """Return the versions of filters that are kept; nothing for an older controller."""
        query = urlencode({"tenant": tenant} if tenant is not None else {})
        rows = self._http.ask("GET", f"/v1/modules/versions?{query}", absent=[])
        return understood(lambda: [dict(row) for row in rows])

    def forget(self, tenant: str, name: str, sha256: str, author: str) -> None:
        """Remove a version of a filter that neither a rule nor a stored object needs."""
        path = f"/v1/modules/{quote(name, safe='')}/versions/{quote(sha256, safe='')}?{urlencode({'tenant': tenant})}"
        self._http.ask("DELETE", path, headers=_by(author))

    def upload(self, tenant: str, name: str, module: str, author: str, only_author: bool = False) -> Document:
        """Upload a filter of a tenant, an empty one for all; `module` is in base64. only_author: a new version of
        another author's filter is refused.
        """
        path = _filter_path(tenant, name, only_author)
        answer = self._uploads.ask("PUT", path, {"data": module}, headers=_by(author))
        return understood(lambda: dict(answer))

    def drop(self, tenant: str, name: str, author: str, only_author: bool = False) -> None:
        """Remove an uploaded filter. only_author: that of another author is refused."""
        self._http.ask("DELETE", _filter_path(tenant, name, only_author), headers=_by(author))

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

    def cores(self) -> Sequence[Document]:
        """Return the cores that filters and views of tenants may take at each proxy, and what set them."""
        rows = self._http.ask("GET", "/v1/filter-cores")
        return understood(lambda: [dict(row) for row in rows])

    def set_cores(self, tenant: str, cores: float, author: str) -> Document:
        """Bound the cores of a tenant, or by `*` of all others."""
        answer = self._http.ask(
            "PUT", f"/v1/filter-cores/{quote(tenant, safe='')}", {"cores": cores}, headers=_by(author)
        )
        return understood(lambda: dict(answer))

    def clear_cores(self, tenant: str) -> None:
        """Remove what was set for a tenant."""
        self._http.ask("DELETE", f"/v1/filter-cores/{quote(tenant, safe='')}")

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

    def metrics(self) -> Sequence[Document]:
        """Return the metrics that were added for rules, with their values."""
        rows = self._http.ask("GET", "/v1/metrics")
        return understood(lambda: [dict(row) for row in rows])

    def add_metric(self, wanted: Document, author: str) -> Document:
        """Add a metric: an expression of PromQL, or a program, which is begun once."""
        answer = self._uploads.ask("POST", "/v1/metrics", wanted, headers=_by(author))
        return understood(lambda: dict(answer))

    def drop_metric(self, name: str) -> None:
        """Remove a metric that no rule uses."""
        self._http.ask("DELETE", f"/v1/metrics/{quote(name, safe='')}")

    def controllers(self) -> Sequence[Document]:
        """Return the controllers, and what each did last."""
        rows = self._http.ask("GET", "/v1/controllers")
        return understood(lambda: [_controller(row) for row in rows])

    def proxies(self) -> Sequence[Document]:
        """Return the proxies, the filters that each has, and for how long it has not reported (None: it never did);
        nothing for an older controller.
        """
        answer = self._http.ask("GET", "/v1/hosting", absent={})
        return understood(
            lambda: [
                {"name": name, "silent_s": one["silent_s"], "filters": list(one["filters"])}
                for name, one in answer.items()
            ]
        )

    def controller(self, name: str) -> Document:
        """Return a controller, with its last switches."""
        answer = self._http.ask("GET", f"/v1/controllers/{quote(name)}")
        return understood(lambda: _controller(answer))

    def set_controller(self, name: str, mode: str) -> Document:
        """Set the mode of a controller."""
        answer = self._http.ask("PUT", f"/v1/controllers/{quote(name)}", {"mode": mode})
        return understood(lambda: _controller(answer))

    def nodes(self) -> Sequence[Document]:
        """Return how each of the store's nodes is."""
        rows = self._http.ask("GET", "/v1/nodes", absent=None)
        if rows is None:
            raise StorageUnavailableError("this storage controller watches no nodes: Zoe's own one is needed")
        return understood(lambda: [dict(row) for row in rows])

    def restart_node(self, name: str, author: str) -> Document:
        """Begin to restart a node of the store."""
        answer = self._http.ask("POST", f"/v1/nodes/{quote(name, safe='')}/restart", headers=_by(author))
        return understood(lambda: dict(answer))

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


def _filter_path(tenant: str, name: str, only_author: bool) -> str:
    query = {"tenant": tenant} | ({"only_author": "true"} if only_author else {})
    return f"/v1/modules/{quote(name, safe='')}?{urlencode(query)}"


def _rule(row: Document) -> Document:
    modules = [
        {name: one[name] for name in _OF_MODULES} | {name: one[name] for name in _LATER_OF_MODULES if name in one}
        for one in row.get("modules", ())
    ]
    later = {"metrics": row.get("metrics", {}), "mode": row.get("mode", "on"), "modules": modules}
    return {name: row[name] for name in _FIELDS} | later


def _controller(row: Document) -> Document:
    switches = [{name: one[name] for name in _OF_SWITCHES} for one in row.get("switches", ())]
    later = {"switches": switches, "warning": row.get("warning", "")}
    return {name: row[name] for name in _OF_CONTROLLERS} | later


def _by(author: str) -> Mapping[str, str]:
    return {"X-Zoe-Author": author}
