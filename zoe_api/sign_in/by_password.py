"""Whose password it is: a local user's, or one of a directory's."""

from __future__ import annotations

from starlette.requests import Request

from zoe_api import passwords
from zoe_api.codes import Code
from zoe_api.dependencies import Services
from zoe_api.problems import ApiProblem
from zoe_api.sign_in.identity import admit
from zoe_lib.wire import SignIn


def user_of(body: SignIn, request: Request, its: Services) -> str:
    """Whose password that is, of the provider that was named."""
    address = request.client.host if request.client else ""
    if body.provider == passwords.LOCAL:
        passwords.verify(its.store, body.user, body.password, address)
        return body.user
    settings = its.settings.ldap.get(body.provider)
    if settings is None:
        raise ApiProblem(Code.NOT_FOUND, f"there is no directory {body.provider!r}")
    # Only where there is one: the client takes a tenth of the API's start to load.
    from zoe_api.sign_in.ldap import Ldap, alike

    directory = Ldap(body.provider, settings)
    user = alike(body.user)
    identity = passwords.guess(
        its.store, body.provider, user, address, lambda: directory.identity(body.user, body.password)
    )
    return admit(its.store, identity, its.settings.sign_in_roles, request)
