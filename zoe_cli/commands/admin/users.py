"""admin user ls, add, password, disable, enable, hand-over."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_client.vocabulary import Role
from zoe_client.wire import UserView

app = typer.Typer(help="Users.", no_args_is_help=True)
_PAUSE_S = 1.0

Name = Annotated[str, typer.Argument(metavar="USER")]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file", help="File whose first line is the password (default: make a password and show it once)."
    ),
]


def ls(context: typer.Context) -> None:
    """List users with their roles."""
    with options(context).client() as client:
        answer = client.admin.users()
    emit(answer, options(context).output, _rows(answer.users))


def add_user(
    context: typer.Context,
    name: Name,
    tenant: Annotated[str | None, typer.Option(help="Make the user a member of this tenant.")] = None,
    role: Annotated[
        Role | None, typer.Option(help="Role of the user in the tenant (default: user).", show_default=False)
    ] = None,
    password_file: PasswordFile = None,
) -> None:
    """Make a user who signs in with a password."""
    if role is not None and tenant is None:
        raise typer.BadParameter("--role is the role in a tenant: give --tenant, too")
    password = _password(password_file)
    with options(context).client() as client:
        # Check the tenant first: otherwise the user would exist without it, with a password that was never printed.
        if tenant is not None and tenant not in {known.name for known in client.admin.tenants().tenants}:
            raise typer.BadParameter(f"tenant {tenant!r} does not exist; make it with `zoe admin tenant add`")
        user = client.admin.add_user(name, password)
        if tenant is not None:
            client.admin.set_role(name, tenant, role or Role.USER)
            user = user.model_copy(update={"roles": {tenant: role or Role.USER}})
    _tell(context, user, None if password_file else password)


def set_password(
    context: typer.Context,
    name: Name,
    password_file: PasswordFile = None,
    end_tokens: Annotated[bool, typer.Option("--end-tokens", help="Also end all tokens of the user.")] = False,
) -> None:
    """Replace a user's password and end the user's sessions."""
    password = _password(password_file)
    with options(context).client() as client:
        user = client.admin.change_user(name, password=password, end_tokens=end_tokens)
    _tell(context, user, None if password_file else password)


def sign_out(context: typer.Context, name: Name) -> None:
    """End all tokens and sessions of a user at once. The user may sign in again, and executions continue."""
    with options(context).client() as client:
        ended = client.admin.end_access(name)
    emit(ended, options(context).output, Rows(("user", "tokens", "sessions"), [(name, ended.tokens, ended.sessions)]))


def disable(context: typer.Context, name: Name) -> None:
    """Disable a user: sessions and tokens no longer work; executions continue."""
    _set_disabled(context, name, True)


def enable(context: typer.Context, name: Name) -> None:
    """Enable a disabled user."""
    _set_disabled(context, name, False)


def hand_over(
    context: typer.Context,
    name: Name,
    to: Annotated[str, typer.Argument(metavar="NEW", help="User of the same tenant who gets everything.")],
    tenant: Annotated[str | None, typer.Option(help="Tenant of both users.", show_default="your tenant")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until nothing that uses the files runs.")] = False,
) -> None:
    """Disable a user who leaves, and give executions, their shares and files to another user. It is safe to repeat."""
    number, told = 0, ""
    with options(context).client() as client:
        tenant = tenant or client.me().tenant
        while True:
            done = client.admin.hand_over(name, to, tenant)
            number += done.executions
            waits = done.files == "waiting" and wait
            if not (done.executions_left or done.files == "moving" or waits):
                break
            if done.message and done.message != told and not done.executions_left:
                note(told := done.message)
            time.sleep(0 if done.executions else _PAUSE_S)
    whole = done.model_copy(update={"executions": number})
    rows = Rows(("user", "to", "executions", "files", "directory"), [(name, to, number, done.files, done.directory)])
    emit(whole, options(context).output, rows)
    if done.files in ("waiting", "failed"):
        note(f"the files are not moved yet: {done.message}")
        raise typer.Exit(Exit.CONFLICT)


def _set_disabled(context: typer.Context, name: str, disabled: bool) -> None:
    with options(context).client() as client:
        user = client.admin.change_user(name, disabled=disabled)
    emit(user, options(context).output, _rows([user]))


def _password(file: Path | None) -> str:
    if file is None:
        return secrets.token_urlsafe(15)
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise typer.BadParameter(f"cannot read {file}: {why}") from None
    if not lines:
        raise typer.BadParameter(f"{file} is empty")
    return lines[0]


def _tell(context: typer.Context, user: UserView, shown: str | None) -> None:
    form = options(context).output
    if shown is None:
        emit(user, form, _rows([user]))
    elif form in (Format.TABLE, Format.NAME):
        note(f"password, shown once: {shown}")
        emit(user, form, _rows([user]))
    else:
        emit({**user.model_dump(mode="json"), "new_password": shown}, form, _rows([user]))


def _rows(users: list[UserView]) -> Rows:
    def roles(user: UserView) -> str:
        return ", ".join(f"{role} in {tenant}" for tenant, role in sorted(user.roles.items()))

    rows = [(u.name, roles(u), "yes" if u.password else "no", "yes" if u.disabled else "no") for u in users]
    return Rows(("name", "roles", "password", "disabled"), rows)


add(app, "ls", ls, ("zoe admin user ls",))
add(app, "add", add_user, ("zoe admin user add ada --tenant physics --role user",))
add(app, "password", set_password, ("zoe admin user password ada --password-file new.txt",))
add(app, "sign-out", sign_out, ("zoe admin user sign-out ada",))
add(app, "disable", disable, ("zoe admin user disable ada",))
add(app, "enable", enable, ("zoe admin user enable ada",))
add(app, "hand-over", hand_over, ("zoe admin user hand-over ada bob --tenant physics",))
