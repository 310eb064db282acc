"""Rules of the object store: which filters objects get when they are stored."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from zoe_client.wire.base import Numbers, Wire
from zoe_client.words.names import TENANT_AT_THE_STORE

_NAME_MAX = 1024
_RULES_MAX = 2**18
ObjectPart = Annotated[str, StringConstraints(min_length=1, max_length=_NAME_MAX, pattern=r"^[^\x00]+$")]


class StorageRuleModuleView(Wire):
    """The version of an uploaded filter that a rule runs."""

    name: str
    tenant: str | None = Field(description="Owner of the filter; null if all tenants share it.")
    sha256: str = Field(
        description="Digest of the version: the newest one when the rule was added, until an admin moves it."
    )
    newest: bool = Field(description="Whether it is the newest version.")
    only_here: bool = Field(
        default=False, description="Whether the version is removed when this rule is removed or moved."
    )


class StorageRuleView(Wire):
    """A rule of the object store, its author, and its time."""

    id: int
    target: str
    rule: str = Field(description="Text of the rule, as `zoe storage policy add` takes it.")
    enforced: bool = Field(description="Whether proxies have all of its filters.")
    author: str | None = Field(default=None, description="Author; null if the client did not name one.")
    created_s: float | None = None
    removed_by: str | None = None
    removed_s: float | None = None
    mode: Literal["on", "dry", "off"] = Field(
        default="on", description="For a rule with metrics: `dry`: evaluated, but on no proxy; `off`: not evaluated."
    )
    metrics: dict[str, float] = Field(
        default={},
        description="Values of the metrics of its WHEN at the proxies; empty: it has none, or none are known.",
    )
    modules: list[StorageRuleModuleView] = Field(
        default=[], description="Versions of uploaded filters that it runs, regardless of later uploads."
    )


class StorageRuleMoved(StorageRuleView):
    """A rule moved to another version, in the form of the storage controller."""

    was: list[str] = Field(description="SHA-256 of its earlier versions.")


class StorageRuleMove(Wire):
    """A request to move a rule to another version of a filter."""

    sha256: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{6,64}$",
        description="First digits of the version's SHA-256 (default: the newest version).",
    )


class StorageRuleList(Wire):
    """Rules in the order of their numbers; removed ones, the last removed first."""

    rules: list[StorageRuleView]


class StorageRuleRequest(Wire):
    """Rules to add, one a line, all of them or none."""

    text: str = Field(
        min_length=1, max_length=_RULES_MAX, examples=["FOR TENANT acme WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION"]
    )
    tenant: str | None = Field(
        default=None,
        min_length=1,
        max_length=256,
        pattern=TENANT_AT_THE_STORE,
        description="Tenant of targets that name none; default: yours.",
    )
    dry_run: bool = Field(
        default=False,
        description="Evaluate rules with metrics, and report when each would be switched; proxies get none.",
    )


class StorageRuleTry(Numbers):
    """An object, and rules to try in addition to the present ones; without any, the present rules alone."""

    container: ObjectPart
    object: ObjectPart
    size: int | None = Field(default=None, ge=0, description="Size in bytes; null if unknown.")
    tags: list[str] = Field(default=[], max_length=100, description="Of X-Object-Meta-Tag.")
    text: str = Field(default="", max_length=_RULES_MAX)
    tenant: str | None = Field(
        default=None,
        min_length=1,
        max_length=256,
        pattern=TENANT_AT_THE_STORE,
        description="Tenant of the object (default: yours).",
    )


class StorageVerdictView(Wire):
    """The effect of a rule's action, for a rule whose target matches an object."""

    rule: int = Field(description="Number of the rule; 0 for a tried rule.")
    text: str
    filter: str
    outcome: str = Field(
        description="applies, displaced, condition, deletes, or missing: proxies do not have the filter"
    )
    sentence: str


class StorageChainView(Wire):
    """The filters that an object gets, in the order in which they run when it is stored, and why."""

    filters: list[str]
    verdicts: list[StorageVerdictView]


class StorageHourView(Wire):
    """Requests answered in the last hour for objects of the tenant that match the tried rules' targets, by whole
    containers.
    """

    seconds: float = Field(description="Seconds of the hour for which proxies reported.")
    puts: int
    put_bytes: int
    gets: int
    get_bytes: int
    narrowed: bool = Field(
        description="Whether fewer requests are affected: the rules have WHEN or TO, or are for single objects."
    )


class StorageRuleTryView(Wire):
    """The present filters of an object, and those with the tried rules."""

    now: StorageChainView
    then: StorageChainView
    last_hour: StorageHourView | None = Field(default=None, description="Null without rules to try.")


class StorageDoneView(Wire):
    """A filter that processed a stored object, and the rule that set it."""

    filter: str
    rule: int
    type: str | None = Field(default=None, description="Of compression.")
    key: str | None = Field(default=None, description="Name of the key of encryption.")
    name: str | None = Field(default=None, description="Name of an uploaded filter.")
    module: str | None = Field(default=None, description="SHA-256 of the filter's version.")
    at: str | None = Field(default=None, description="Where it ran: proxy or object server.")
    moved: str | None = Field(default=None, description="Why it ran at the proxy, though its rule says ON OBJECT.")


class StorageWhyView(Wire):
    """The filters that processed an object, in order, and the filters that it would get if it were stored now."""

    done: list[StorageDoneView]
    now: StorageChainView
