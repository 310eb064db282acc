"""Check that the secrets of components exist, and can be passed in the requested way."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.applications.secrets import how_to_set, no_secrets
from zoe_lib.domain.checks.finding import Finding, Target


def check_secrets(application: Application, target: Target) -> Iterator[Finding]:
    """Yield a finding for each secret that the owner lacks, or that this back-end cannot pass as a variable."""
    known, variables = target.secrets.names, target.platform.capabilities.secret_variables
    for index, component in enumerate(application.components):
        for number, secret in enumerate(component.secrets):
            place = ("components", index, "secrets", number)
            if known is not None and secret.name not in known:
                yield _absent((*place, "name"), component.name, secret.name, target)
            if secret.variable and not variables:
                message = f"component {component.name} requests secret {secret.name} as a variable"
                hint = "use `file`: on this back-end, anyone who may inspect a container sees its environment"
                yield Finding((*place, "variable"), "secret_as_variable", message, hint)
        for number, source in enumerate(component.sources):
            if source.secret and known is not None and source.secret not in known:
                yield _absent(("components", index, "sources", number, "secret"), component.name, source.secret, target)


def _absent(place: tuple[str | int, ...], component: str, secret: str, target: Target) -> Finding:
    message = f"component {component}: {no_secrets([secret], target.secrets.user, target.secrets.tenant)}"
    return Finding(place, "no_secret", message, how_to_set([secret]))
