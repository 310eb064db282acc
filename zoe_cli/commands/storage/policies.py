"""storage policy, storage why: rules that compress, encrypt or throttle objects."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from zoe_cli.commands.storage.rewrites import (
    apply_rules,
    cancel_applying,
    list_applying,
    resume_applying,
)
from zoe_cli.context import options
from zoe_cli.output import Format, emit, note, table, write
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.text import printable
from zoe_cli.units import clock, duration, rate
from zoe_client.wire import (
    StorageChainView,
    StorageDoneView,
    StorageHourView,
    StorageRuleList,
    StorageRuleTry,
    StorageRuleView,
)

_HOUR_S = 3600
_DIGEST = re.compile(r"[0-9a-f]{6,64}")
app = typer.Typer(help="Rules of the object store: filters for stored objects.", no_args_is_help=True)

Object = Annotated[str, typer.Argument(metavar="CONTAINER/OBJECT", help="Container and name of an object.")]
Tenant = Annotated[str | None, typer.Option(help="Tenant of rules and objects that name none (default: yours).")]
_JOBS = "`zoe storage policy applying` lists the jobs"


def add_rules(
    context: typer.Context,
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE",
            help="Rule of the form FOR TARGET [WHEN CONDITION] DO SET FILTER; `-` reads rules from standard input.",
        ),
    ],
    tenant: Tenant = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Store the rule as a dry run: no object is filtered; `ls` says when metrics would switch it.",
        ),
    ] = False,
) -> None:
    """Add a rule, for admins. It applies to objects stored from now on."""
    text = sys.stdin.read() if rule == "-" else rule
    if not text.strip():
        raise typer.BadParameter("the text has no rule: write one such as FOR TENANT acme DO SET COMPRESSION")
    with options(context).client() as client:
        answer = client.add_storage_rules(text, tenant, dry_run)
    emit(answer, options(context).output, _rows(answer.rules))
    for entry in answer.rules:
        if not entry.enforced and not dry_run:
            note(f"note: rule {entry.id} is stored, but proxies do not have all of its filters")


def list_rules(
    context: typer.Context,
    removed: Annotated[bool, typer.Option("--removed", help="List removed rules, the last one first.")] = False,
) -> None:
    """List the rules with their authors and dates."""
    with options(context).client() as client:
        answer = client.storage_rules(removed)
        present = client.storage_rules().rules if removed else []
    again = {rule.rule: str(rule.id) for rule in present}
    emit(answer, options(context).output, _removed_rule_rows(answer.rules, again) if removed else _rows(answer.rules))


def remove_rule(
    context: typer.Context, number: Annotated[int, typer.Argument(metavar="ID", help="Number of the rule.")]
) -> None:
    """Remove a rule. Objects stored under it stay unchanged and readable.

    The command names, then removes, versions of uploaded filters that only this rule runs.
    """
    with options(context).client() as client:
        _print_removed_filters(client.storage_rules().rules, number)
        client.remove_storage_rule(number)
    emit({"removed": number}, options(context).output, Rows(("removed",), [(str(number),)]))


def move_rule(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="ID", help="Number of the rule.")],
    name: Annotated[str, typer.Argument(metavar="FILTER", help="An uploaded filter that the rule uses.")],
    to: Annotated[str | None, typer.Option(help="Beginning of the version's SHA-256 (default: the newest).")] = None,
) -> None:
    """Switch a rule to another version of an uploaded filter, for admins. The audit log records both versions.

    The command names, then removes, a version that only this rule ran.
    """
    if to is not None and not _DIGEST.fullmatch(to):
        raise typer.BadParameter(f"--to: {to!r} is no SHA-256: write 6 to 64 of its digits, 0 to 9 and a to f")
    with options(context).client() as client:
        _print_removed_filters(client.storage_rules().rules, number, name)
        answer = client.move_storage_rule(number, name, to)
    emit(answer, options(context).output, _rows([answer]))


def restore_rule(
    context: typer.Context, number: Annotated[int, typer.Argument(metavar="ID", help="Number of a removed rule.")]
) -> None:
    """Restore a removed rule under a new number; one that was not on returns as a dry run.

    It runs its former versions of uploaded filters. If one of them no longer exists, the rule stays removed.
    """
    with options(context).client() as client:
        answer = StorageRuleList(rules=[client.restore_storage_rule(number)])  # the JSON of `add`, for scripts
    emit(answer, options(context).output, _rows(answer.rules))


def try_rules(
    context: typer.Context,
    name: Object,
    rule: Annotated[str, typer.Option(help="Rule to try beside the active rules.")] = "",
    size: Annotated[int | None, typer.Option(min=0, help="Size of the object in bytes (default: unknown).")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag of the object; may be repeated.")] = None,
    tenant: Tenant = None,
) -> None:
    """Show the filters for an object, and the effect of a new rule; nothing is stored."""
    container, rest = _container_and_object(name)
    wanted = StorageRuleTry(container=container, object=rest, size=size, tags=tag or [], text=rule, tenant=tenant)
    with options(context).client() as client:
        answer = client.try_storage_rules(wanted)
    if options(context).output is not Format.TABLE:
        emit(answer, options(context).output, _verdicts(answer.then))
        return
    write(f"now   {_chain(answer.now)}\n")
    if rule:
        write(f"then  {_chain(answer.then)}\n")
    if answer.last_hour is not None:
        write(f"{_matched_requests(answer.last_hour)}\n")
    if answer.then.verdicts:
        write("\n" + table(_verdicts(answer.then)))


def _print_removed_filters(rules: list[StorageRuleView], number: int, name: str | None = None) -> None:
    """Print the versions of filters that a removal or a move deletes. name: the filter that moves."""
    for entry in (module for rule in rules if rule.id == number for module in rule.modules if module.only_here):
        if name in (None, entry.name) or (name or "").lower() == entry.name:
            note(f"note: version {entry.sha256[:12]} of {entry.name} is removed, since only rule {number} runs it")


def _container_and_object(name: str) -> tuple[str, str]:
    container, _, rest = name.partition("/")
    if not container or not rest:
        raise typer.BadParameter(f"{name!r} does not name an object: write CONTAINER/OBJECT")
    return container, rest


def _matched_requests(told: StorageHourView) -> str:
    """Return how many requests of the last hour the new rule would have matched."""
    of = "hour" if told.seconds >= _HOUR_S else duration(told.seconds)
    most = " at most" if told.narrowed else ""
    puts, gets = f"{told.puts} PUTs of {_size(told.put_bytes)}", f"{told.gets} GETs of {_size(told.get_bytes)}"
    return f"In the last {of}, it would have been for{most} {puts} and {gets}."


def _size(count: int) -> str:
    return rate(count).removesuffix("/s")


def why(context: typer.Context, name: Object, tenant: Tenant = None) -> None:
    """Show the filters of a stored object with their rules, and those that would apply now."""
    container, rest = _container_and_object(name)
    with options(context).client() as client:
        answer = client.why_stored(container, rest, tenant)
    done = Rows(
        ("done", "how", "at", "rule"),
        [
            (entry.filter, entry.type or entry.key or _version(entry), _place(entry), str(entry.rule))
            for entry in answer.done
        ],
    )
    if options(context).output is not Format.TABLE:
        emit(answer, options(context).output, done)
        return
    write(table(done) if answer.done else "no filter: it is stored as it was put\n")
    write(f"\nnow   {_chain(answer.now)}\n")
    if answer.now.verdicts:
        write("\n" + table(_verdicts(answer.now)))


def _place(one: StorageDoneView) -> str:
    return f"{one.at or ''}{f', since {one.moved}' if one.moved else ''}"


def _version(one: StorageDoneView) -> str:
    return f"{one.name} {(one.module or '')[:12]}" if one.name else ""


def _chain(chain: StorageChainView) -> str:
    return printable(", then ".join(chain.filters)) or "no filter"


def _rows(rules: list[StorageRuleView]) -> Rows:
    rows = [
        (
            str(rule.id),
            rule.rule,
            rule.author or "",
            _time_text(rule.created_s),
            _state(rule),
            _modules(rule),
            _metrics(rule),
        )
        for rule in rules
    ]
    return Rows(("id", "rule", "by", "at", "enforced", "runs", "metrics"), rows)


def _removed_rule_rows(rules: list[StorageRuleView], again: Mapping[str, str]) -> Rows:
    """Return the rows of removed rules. again: the number of each active rule by its content."""
    rows = [
        (
            str(rule.id),
            rule.rule,
            rule.author or "",
            rule.removed_by or "",
            _time_text(rule.removed_s),
            again.get(rule.rule, ""),
        )
        for rule in rules
    ]
    return Rows(("id", "rule", "by", "removed by", "at", "again as"), rows)


def _modules(rule: StorageRuleView) -> str:
    """Return the versions of uploaded filters that a rule runs."""
    several = len({module.tenant for module in rule.modules}) > 1
    return ", ".join(
        f"{module.name}{f' of {module.tenant}' if several else ''} {module.sha256[:12]}"
        + " (not the newest)" * (not module.newest)
        for module in rule.modules
    )


def _metrics(rule: StorageRuleView) -> str:
    """Return the proxies' values of the metrics in a rule's condition."""
    return ", ".join(f"{name} {value:g}" for name, value in sorted(rule.metrics.items()))


def _state(rule: StorageRuleView) -> str:
    if rule.mode != "on":
        return {"dry": "dry run"}.get(rule.mode, rule.mode)
    return "yes" if rule.enforced else "no"


def _time_text(at_s: float | None) -> str:
    return "" if at_s is None else clock(at_s)


def _verdicts(chain: StorageChainView) -> Rows:
    rows = [
        (str(verdict.rule) if verdict.rule else "tried", verdict.filter, verdict.outcome, verdict.sentence)
        for verdict in chain.verdicts
    ]
    return Rows(("rule", "filter", "outcome", "why"), rows)


add(
    app,
    "add",
    add_rules,
    ('zoe storage policy add "FOR TENANT acme WHEN OBJECT_TYPE=DOCS DO SET COMPRESSION, SET ENCRYPTION"',),
)
add(app, "ls", list_rules, ("zoe storage policy ls", "zoe storage policy ls --removed"))
add(app, "rm", remove_rule, ("zoe storage policy rm 7",))
add(
    app,
    "move",
    move_rule,
    ("zoe storage policy move 7 mask", "zoe storage policy move 7 mask --to 3f1c09ab77de"),
)
add(app, "restore", restore_rule, ("zoe storage policy restore 7",))
add(
    app,
    "try",
    try_rules,
    ('zoe storage policy try logs/2026.txt --size 10000 --rule "FOR CONTAINER logs DO SET COMPRESSION"',),
)
add(
    app,
    "apply",
    apply_rules,
    ("zoe storage policy apply acme/docs --dry-run", "zoe storage policy apply acme --rate 10MB/s"),
    listed="`zoe ls store:SERVICE:` lists the containers of your tenant",
)
add(app, "applying", list_applying, ("zoe storage policy applying",))
add(app, "resume", resume_applying, ("zoe storage policy resume 3",), listed=_JOBS)
add(app, "cancel", cancel_applying, ("zoe storage policy cancel 3",), listed=_JOBS)
