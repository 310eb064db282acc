"""Schemathesis plays clients of our OpenAPI document: no response contradicts it.

ZOE_PROPERTY_CHECKS makes it longer, and plays viewers and strangers, too. Streams, which do not end, are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.support import LocalWorld
from tests.support.api import Api
from tests.support.checks import CHECKS, of_checks
from tests.support.people import ALL_SCOPES, make_token
from tests.support.postgres import PostgresServer
from tests.support.secrets_in_logs import Logged
from zoe_master.loop.system_users import SystemUsers

ST = Path(sys.executable).with_name("st")
HOOKS = Path(__file__).parents[1] / "support" / "schemathesis_hooks.py"
STREAMS = r"(/v1/events|/stream)$"
# A schema cannot say all that a description, a name, a policy or a period must be.
CONFIGURATION = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404, 409, 412, 413, 416, 422, 423, 429, 503, 507]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
"""
EXAMPLES = of_checks(0.002, 100)
# Values at the edges of each schema: thousands of requests, for `make test-all`.
LONG = CHECKS >= 1000
PHASES = "examples,coverage,fuzzing" if LONG else "examples,fuzzing"
# Each run makes its cases of the document anew, 8 CPU s. test_tokens.py and test_roles.py compare what viewers and
# strangers are refused with the form of a problem, for each operation.
ROLES = ["admin", "user", "viewer", None] if LONG else ["admin"]


@pytest.fixture(autouse=True)
def no_secret_is_logged(logged: Logged) -> Iterator[None]:
    """A client that gives one text as a name and as a password finds it in the log."""
    yield
    logged.take()


@pytest.fixture(scope="module")
def walked(postgres_server: PostgresServer) -> Iterator[Api]:
    url = postgres_server.create_database()
    services = {"zoe": {"url": "http://127.0.0.1:1/auth/v1.0", "region": "R"}}
    api, world = Api(url, storage_services=services, master_timeout_s=4), LocalWorld()
    api.start_master(files_by=world.backend, system_users=SystemUsers(api.store.accounts, 450_001, 450_999))
    yield api
    api.close()
    world.finish()
    postgres_server.drop_database(url)


@pytest.mark.parametrize("role", ROLES)
def test_no_response_contradicts_the_document(walked: Api, role: str | None, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    header = []
    if role is not None:
        header = ["-H", f"Authorization: Bearer {make_token(walked.store, f's-{role}', 'red', role, ALL_SCOPES)}"]
    done = subprocess.run(
        [
            ST, "run", f"{walked.url}/api/v1/openapi.json", *header, "--phases", PHASES,
            "--exclude-path-regex", STREAMS, "--seed", "11", "--generation-deterministic", "-n", str(EXAMPLES),
            "--no-shrink", "--continue-on-failure", "--generation-allow-x00", "false",
            "--generation-codec", "utf-8", "--request-timeout", "30", "--no-color", "--warnings", "off",
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "SCHEMATHESIS_HOOKS": str(HOOKS)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "Tested: " in done.stdout
