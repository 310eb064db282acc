"""Check passwords of local users and of directories."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from zoe_api.http.addresses import address_of
from zoe_api.http.attempts.guess_limit import Brake, network_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in import passwords
from zoe_api.people.sign_in.identity import admit
from zoe_api.services.dependencies import Services
from zoe_client.wire import SignIn

T = TypeVar("T")


async def signed_in(body: SignIn, request: Request, services: Services, then: Callable[[str], T]) -> T:
    """Return the result of `then` for the user with this password, run in a thread of the chosen provider."""
    name, check = _local(body, services) if body.provider == passwords.LOCAL else _directory(body, request, services)
    brake = Brake(body.provider, name, network_of(address_of(request)), clock=services.clock)
    try:
        result = await services.password_checks.run(
            brake, services.accounts, lambda: then(passwords.guess(services.accounts, brake, check)())
        )
    except ApiProblem:
        await run_in_threadpool(
            services.sign_in_audit.note_refused, request, services.accounts, body.user, body.provider
        )
        raise
    services.sign_in_audit.note_right(request, body.user, body.provider)
    return result


Check = Callable[[], Callable[[], str] | None]
"""Returns None for a wrong password; for a right one, a function that admits the user, which may refuse."""


def _local(body: SignIn, services: Services) -> tuple[str, Check]:
    def check() -> Callable[[], str] | None:
        user = passwords.user_with_password(services.accounts, body.user, body.password)
        return None if user is None else lambda: user

    return body.user, check


def _directory(body: SignIn, request: Request, services: Services) -> tuple[str, Check]:
    settings = services.settings.ldap.get(body.provider)
    if settings is None:
        raise ApiProblem(Code.NOT_FOUND, f"directory {body.provider!r} does not exist")
    # Only if a directory is configured: importing the client takes a tenth of the API's start.
    from zoe_api.people.sign_in.ldap import Ldap, comparable_name

    directory = Ldap(body.provider, settings)

    def check() -> Callable[[], str] | None:
        identity = directory.identity(body.user, body.password)
        if identity is None:
            return None
        return lambda: admit(
            services.accounts, identity, services.settings.sign_in_roles, request, clock=services.clock
        )

    return comparable_name(body.user), check
