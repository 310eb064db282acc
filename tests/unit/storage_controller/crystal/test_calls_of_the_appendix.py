"""The calls of the founding document's appendix: the documented list is whole, and each has a route."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

from starlette.routing import Match

from storage_bridge.model import BandwidthSlo
from storage_controller.app import RequestCheck, make_app
from storage_controller.database.guarantee_store import Ledger
from storage_controller.promises.promisable import Promisable
from storage_controller.routes.services import Services
from storage_controller.swift.kept_views import KeptViews
from tests.support.controller_reports import GivenReports

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "crystal-calls.md"
APPENDIX = PAGE.read_text("utf-8").partition("## The later dialect")[0]
CALLS = re.findall(r"^\| `(GET|POST|PUT|DELETE) (/\S+)` \| (.+) \|$", APPENDIX, re.MULTILINE)
CALLS_OF_THE_APPENDIX = 62


def test_all_are_documented_and_have_a_route() -> None:
    ledger = Ledger(mock.Mock())
    views = KeptViews(ledger, mock.Mock(), mock.Mock())
    app = make_app(Services(ledger, Promisable(BandwidthSlo(1, 1)), GivenReports(), views), RequestCheck("token"))

    def answered(method: str, path: str) -> bool:
        scope = {"type": "http", "method": method, "path": path, "headers": []}
        return any(route.matches(scope)[0] is Match.FULL for route in app.routes)

    assert len({(method, path) for method, path, _ in CALLS}) == CALLS_OF_THE_APPENDIX
    assert [path for method, path, _ in CALLS if not answered(method, re.sub("<[a-z]+>", "7", path))] == []
    assert not answered("GET", "/registry/nothing")
    assert not answered("POST", "/registry/metric_module/7")
