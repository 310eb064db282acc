"""Sixteen clients try rules as fast as they can: another tenant is hardly delayed, and the controller goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import long
from tests.support.flooded_site import SLOWER_MAX, Site
from tests.support.largest_questions import largest_question
from tests.support.whole_storage import Whole, installation_with

pytestmark = long.of_storage

PATH = "/api/v1/storage/try"


@pytest.fixture
def site(postgres_url: str, shared_whole: Whole, tmp_path: Path) -> Iterator[Site]:
    with installation_with(shared_whole, postgres_url, tmp_path, storage_services=shared_whole.services) as made:
        yield Site.of(made)


def accepted(site: Site) -> dict[str, Any]:
    """The largest of these questions, halved until the controller does not refuse it for its steps."""
    body, headers = largest_question(PATH), {"Authorization": f"Bearer {site.installation.token}"}
    while httpx.post(f"{site.url}{PATH}", json=body, headers=headers, timeout=120, trust_env=False).status_code == 422:
        lines = body["text"].splitlines()
        body["text"] = "\n".join(lines[: len(lines) // 2])
    return body


def test_tries_of_rules_slow_nobody(site: Site, shared_whole: Whole) -> None:
    times, statuses = site.slower(PATH, accepted(site))
    assert statuses.get("200"), statuses
    assert times <= SLOWER_MAX
    assert shared_whole.controller.capacity().read_bytes_per_s
