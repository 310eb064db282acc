"""A path that does not know a method names all that it knows."""

from __future__ import annotations

import re

import pytest

from tests.support.api import Api, problem


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PROPFIND"])
def test_every_path_names_its_methods(shared_api: Api, method: str) -> None:
    http = shared_api.http()
    for path, operations in shared_api.app.openapi()["paths"].items():
        answer = http.request(method, re.sub(r"{\w+}", "x", path))
        assert problem(answer)["code"] == "method_not_allowed"
        known = {name.upper() for name in operations}
        assert set(answer.headers["allow"].split(", ")) | {"HEAD"} == known | {"HEAD"}, path
