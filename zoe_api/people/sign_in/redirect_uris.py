"""Print the redirect URI of each provider, if there are several."""

from __future__ import annotations

import structlog

from zoe_api.people.sign_in.oidc_answers import callback_path
from zoe_lib.settings.config import Settings

log = structlog.get_logger(__name__)


def redirect_uris(settings: Settings) -> dict[str, str]:
    """Return the redirect URI to register at each OpenID Connect provider, by the name of the provider."""
    here = settings.public_url or "https://ADDRESS-OF-ZOE"
    return {name: f"{here}{callback_path(name, settings.oidc)}" for name in settings.oidc}


def log_redirect_uris(settings: Settings) -> None:
    """Log the redirect URIs of several providers: they differ from that of a single provider."""
    if len(settings.oidc) > 1:
        for name, uri in redirect_uris(settings).items():
            log.warning("redirect_uri", provider=name, register=uri)
