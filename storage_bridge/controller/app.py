"""The controller's web application: both dialects and the extensions, behind one token."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Depends, FastAPI, Header

from storage_bridge.controller.answers import Refused, answer_errors
from storage_bridge.controller.extensions import Works, extension_routes
from storage_bridge.controller.filters import filter_routes, policy_routes, project_routes
from storage_bridge.controller.ledger import Ledger
from storage_bridge.controller.slos import appendix_routes, later_routes


def make_app(ledger: Ledger, works: Works, token: str) -> FastAPI:
    """All routes; `/health` alone needs no token."""

    def known(x_auth_token: Annotated[str | None, Header()] = None) -> None:
        if x_auth_token is None or not hmac.compare_digest(x_auth_token.encode(), token.encode()):
            raise Refused(401, "a valid X-Auth-Token is needed")

    app = FastAPI(title="Zoe's storage controller", version="1", docs_url=None, redoc_url=None)
    answer_errors(app)
    for routes in (
        appendix_routes(ledger, works.promisable),
        policy_routes(ledger, works.promisable),
        later_routes(ledger, works.promisable),
        filter_routes(ledger),
        project_routes(ledger),
        extension_routes(ledger, works),
    ):
        app.include_router(routes, dependencies=[Depends(known)])

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "up"}

    return app
