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
    tenant: str | None = Field(description="Whose filter it is; null if all tenants share it.")
    sha256: str = Field(description="Of the version: the newest one when the rule was added, until an admin moves it.")
    newest: bool = Field(description="Whether no newer version was uploaded.")
    only_here: bool = Field(
        default=False, description="Whether the version is removed when this rule is removed or moved."
    )


class StorageRuleView(Wire):
    """A rule of the object store, who wrote it, and when."""

    id: int
    target: str
    rule: str = Field(description="Its text, as `zoe storage policy add` takes it.")
    enforced: bool = Field(description="Whether proxies have all of its filters.")
    author: str | None = Field(default=None, description="Null for a client that did not say.")
    created_s: float | None = None
    removed_by: str | None = None
    removed_s: float | None = None
    mode: Literal["on", "dry", "off"] = Field(
        default="on", description="Of a rule with metrics: `dry`: it is judged, and no proxy has it; `off`: neither."
    )
    metrics: dict[str, float] = Field(
        default={}, description="What proxies know of the metrics of its WHEN; empty: it has none, or nothing is known."
    )
    modules: list[StorageRuleModuleView] = Field(
        default=[], description="The versions of uploaded filters that it runs, whatever is uploaded since."
    )


class StorageRuleMoved(StorageRuleView):
    """A rule that was moved, as the storage controller answers."""

    was: list[str] = Field(description="SHA-256 of the versions that it ran.")


class StorageRuleMove(Wire):
    """The version of a filter that a rule runs from now on."""

    sha256: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{6,64}$",
        description="The beginning of its SHA-256; default: the newest version.",
    )


class StorageRuleList(Wire):
    """Rules in the order in which they were made; removed ones begin with the last."""

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
        default=False, description="Judge rules with metrics, and tell when each would be switched; proxies get none."
    )


class StorageRuleTry(Numbers):
    """An object, and rules to try beside those that hold; without any, what holds now."""

    container: ObjectPart
    object: ObjectPart
    size: int | None = Field(default=None, ge=0, description="Bytes; null if it is not known before.")
    tags: list[str] = Field(default=[], max_length=100, description="Of X-Object-Meta-Tag.")
    text: str = Field(default="", max_length=_RULES_MAX)
    tenant: str | None = Field(
        default=None,
        min_length=1,
        max_length=256,
        pattern=TENANT_AT_THE_STORE,
        description="Of the object; default: yours.",
    )


class StorageVerdictView(Wire):
    """What becomes of an action of a rule whose target matches an object."""

    rule: int = Field(description="0 for a rule that is only tried.")
    text: str
    filter: str
    outcome: str = Field(
        description="applies, displaced, condition, deletes, or missing: proxies do not have the filter"
    )
    sentence: str


class StorageChainView(Wire):
    """Which filters an object gets, in their order when it is stored, and why."""

    filters: list[str]
    verdicts: list[StorageVerdictView]


class StorageHourView(Wire):
    """Answered requests of the last hour for objects of the tenant that tried rules are for: of whole containers."""

    seconds: float = Field(description="Of the hour, for so long the proxies were heard.")
    puts: int
    put_bytes: int
    gets: int
    get_bytes: int
    narrowed: bool = Field(description="Fewer: the rules say WHEN or TO, or are for single objects.")


class StorageRuleTryView(Wire):
    """What holds now, and what would hold with the tried rules."""

    now: StorageChainView
    then: StorageChainView
    last_hour: StorageHourView | None = Field(default=None, description="Null without rules to try.")


class StorageDoneView(Wire):
    """A filter that a stored object went through, and the rule that set it."""

    filter: str
    rule: int
    type: str | None = Field(default=None, description="Of compression.")
    key: str | None = Field(default=None, description="Name of the key of encryption.")
    name: str | None = Field(default=None, description="Of an uploaded filter.")
    module: str | None = Field(default=None, description="SHA-256 of its version.")
    at: str | None = Field(default=None, description="Where it ran: proxy, or object server.")
    moved: str | None = Field(default=None, description="Why it ran at the proxy, though its rule says ON OBJECT.")


class StorageWhyView(Wire):
    """What was done with an object, in order, and what would be done if it were stored now."""

    done: list[StorageDoneView]
    now: StorageChainView
