"""admin limit: concurrent resources of tenants and users."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import rate, size
from zoe_client.documents.quantities import bytes_of, bytes_per_s_of
from zoe_client.wire import LimitAmounts, LimitView, MetersView
from zoe_client.wire.base import INTEGER_MAX
from zoe_client.wire.people.people import TIME_LIMIT_S_MAX

app = typer.Typer(help="Limits on the concurrent resources of tenants and users.", no_args_is_help=True)
NO_LIMIT = "none"


def count(text: str) -> float:
    """Return a number of executions; infinity stands for no limit."""
    return _bound(text, int, "a number of at least 0")


def hours(text: str) -> float:
    """Return the hours of a time limit; infinity stands for no limit."""
    found = _bound(text, float, "a number of at least 0")
    if not 0 < found * 3600 <= TIME_LIMIT_S_MAX and found != math.inf:
        raise typer.BadParameter(
            f"{text!r} is not a time limit: use hours above 0, up to {TIME_LIMIT_S_MAX / 3600:.0f}, "
            f"or `{NO_LIMIT}`; to accept no more executions, use --executions 0"
        )
    return found


def _cores(text: str) -> float:
    return _bound(text, lambda cores: round(float(cores) * 1000), "a number of at least 0")


def _memory(text: str) -> float:
    return _bound(text, bytes_of, "a size such as 64GiB")


def _rate(text: str) -> float:
    return _bound(text, bytes_per_s_of, "a rate such as 200MB/s")


def _bound(text: str, number: Callable[[str], float], form: str) -> float:
    if text == NO_LIMIT:
        return math.inf
    try:
        most = number(text)
    except (ValueError, OverflowError):
        most = math.nan
    if not 0 <= most < math.inf:
        raise typer.BadParameter(f"{text!r} is neither {form} nor `{NO_LIMIT}`")
    if most > INTEGER_MAX:
        raise typer.BadParameter(f"{text!r} is above the maximum of a limit; for no limit use `{NO_LIMIT}`")
    return most


Tenant = Annotated[str, typer.Option(metavar="TENANT", help="Tenant of the limit.", show_default="all tenants")]
User = Annotated[str | None, typer.Option(metavar="USER", help="User in the tenant.")]
EachUser = Annotated[bool, typer.Option("--each-user", help="Each user of the tenant without a limit of their own.")]
# Amount -> the option that sets it, and its metavar.
WORDS: dict[str, tuple[str, Callable[[float], str]]] = {
    "executions": ("executions", lambda most: f"{most:.15g}"),
    "time_limit_s": ("hours", lambda most: f"{most / 3600:.15g}"),
    "cores_milli": ("cores", lambda most: f"{most / 1000:.15g}"),
    "memory_bytes": ("memory", lambda most: size(int(most))),
    "read_bytes_per_s": ("read", rate),
    "write_bytes_per_s": ("write", rate),
}
AMOUNT_OF = {option: amount for amount, (option, _) in WORDS.items()}


def set_limit(
    context: typer.Context,
    tenant: Tenant = "*",
    user: User = None,
    each_user: EachUser = False,
    executions: Annotated[
        float | None, typer.Option(parser=count, metavar="N|none", help="Maximum executions that wait or run.")
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option(parser=hours, metavar="HOURS|none", help="Longest time limit of an execution, in hours."),
    ] = None,
    cores: Annotated[
        float | None, typer.Option(parser=_cores, metavar="N|none", help="Maximum cores that services reserve.")
    ] = None,
    memory: Annotated[
        float | None, typer.Option(parser=_memory, metavar="SIZE|none", help="Maximum memory that services reserve.")
    ] = None,
    read: Annotated[
        float | None, typer.Option(parser=_rate, metavar="RATE|none", help="Maximum bandwidth guaranteed for reading.")
    ] = None,
    write: Annotated[
        float | None, typer.Option(parser=_rate, metavar="RATE|none", help="Maximum bandwidth guaranteed for writing.")
    ] = None,
) -> None:
    """Set limits for all tenants, a tenant, each of its users, or one user.

    Amounts that you do not give stay unchanged; `none` is unlimited. A submission beyond --executions or --hours is
    refused; beyond the other limits it waits.
    """
    amounts = {
        "executions": executions,
        "time_limit_s": None if hours is None else hours * 3600,
        "cores_milli": cores,
        "memory_bytes": memory,
        "read_bytes_per_s": read,
        "write_bytes_per_s": write,
    }
    named = {name: None if most == math.inf else most for name, most in amounts.items() if most is not None}
    if not named:
        raise typer.BadParameter(f"give at least one of {', '.join(f'--{option}' for option in AMOUNT_OF)}")
    with options(context).client() as client:
        limit = client.admin.set_limit(LimitAmounts.model_validate(named), tenant, _user(user, each_user))
    emit(limit, options(context).output, _set_rows([limit]))


def get_limit(context: typer.Context, tenant: Tenant = "*", user: User = None, each_user: EachUser = False) -> None:
    """Show the limits of a tenant or a user, and how much of them is in use."""
    user_key = _user(user, each_user)
    with options(context).client() as client:
        answer = client.admin.limits(tenant, user_key)
    meters = [meter for meter in answer.meters if (meter.tenant, meter.user) == (tenant, user_key)]
    if meters:
        emit(meters[0], options(context).output, Rows(("what", "used", "limit"), list(_meter_rows(meters[0]))))
        return
    limits = [limit for limit in answer.limits if (limit.tenant, limit.user) == (tenant, user_key)]
    emit(answer.model_copy(update={"limits": limits}), options(context).output, _set_rows(limits))


def list_limits(context: typer.Context) -> None:
    """List the limits that are set. Amounts shown as `-` have the default."""
    with options(context).client() as client:
        answer = client.admin.limits()
    emit(answer, options(context).output, _set_rows(answer.limits))


def clear_limit(
    context: typer.Context,
    tenant: Tenant = "*",
    user: User = None,
    each_user: EachUser = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="AMOUNT", help=f"One of {', '.join(AMOUNT_OF)}; may be repeated (default: all)."),
    ] = None,
) -> None:
    """Clear limits; the defaults apply again."""
    unknown = [name for name in only or () if name not in AMOUNT_OF]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is not an amount: use one of {', '.join(AMOUNT_OF)}")
    user_key = _user(user, each_user)
    with options(context).client() as client:
        client.admin.clear_limit(tenant, user_key, [AMOUNT_OF[name] for name in only or ()])
    emit(
        {"tenant": tenant, "user": user_key, "cleared": only or list(AMOUNT_OF)},
        options(context).output,
        Rows(("tenant", "user", "cleared"), [(_tenant(tenant), _whose(user_key), ", ".join(only or AMOUNT_OF))]),
    )


def _user(user: str | None, each_user: bool) -> str | None:
    if user is not None and each_user:
        raise typer.BadParameter("use either --user or --each-user")
    return "*" if each_user else user


def _set_rows(limits: list[LimitView]) -> Rows:
    rows = [(_tenant(limit.tenant), _whose(limit.user), *(_text(limit, name) for name in WORDS)) for limit in limits]
    return Rows(("tenant", "user", *AMOUNT_OF), rows)


def _tenant(name: str) -> str:
    return "all others" if name == "*" else name


def _whose(user: str | None) -> str:
    return "" if user is None else "each" if user == "*" else user


def _text(limit: LimitView, name: str) -> str:
    if name not in limit.amounts:
        return "-"
    most = limit.amounts[name]
    return "no limit" if most is None else WORDS[name][1](most)


def _meter_rows(view: MetersView) -> Iterator[tuple[str, str, str]]:
    for name, (option, text) in WORDS.items():
        meter = view.meters.get(name)
        if meter is not None:
            yield option, text(meter.used), "no limit" if meter.limit is None else text(meter.limit)
        elif name == "time_limit_s":
            longest_s = view.time_limit_s
            yield "hours of an execution", "-", "no limit" if longest_s is None else text(longest_s)


add(app, "set", set_limit, ("zoe admin limit set --tenant physics --cores 64 --memory 256GiB --executions 20",))
add(app, "get", get_limit, ("zoe admin limit get --tenant physics", "zoe admin limit get --tenant physics --user ada"))
add(app, "ls", list_limits, ("zoe admin limit ls",))
add(app, "list", list_limits, hidden=True)
add(app, "clear", clear_limit, ("zoe admin limit clear --tenant physics --only cores",))
