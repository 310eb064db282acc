"""Sixteen clients put the largest question of each kind as fast as they can: another tenant is hardly delayed.

Delays are compared within a run, since machines differ: the same requests with and without the flood, in turns.
tests/storage/test_flood_of_tries.py has the question that the storage controller answers.
"""

from __future__ import annotations

import pytest

from tests.support.flooded_site import SLOWER_MAX, Site
from tests.support.installation import Installation
from tests.support.largest_questions import largest_question, question_paths
from tests.support.long import LONG
from tests.support.waiting import until
from zoe_lib.descriptions import catalogue

PATHS = tuple(question_paths()) if LONG else ("/api/v1/workflows:validate",)
"""All in the long form."""


@pytest.fixture
def site(installation: Installation) -> Site:
    return Site.of(installation)


def test_no_question_of_a_reader_slows_others(site: Site) -> None:
    slower: dict[str, float] = {}
    for path in PATHS:
        filled = path.replace("{entry_id}", catalogue()[0].id)
        slower[path], _ = site.slower(filled, largest_question(path))
        # Long checks of a tenant take turns: behind this one, none of the flood is left.
        until(lambda: site.status_of_a_long_check() == 200, deadline_s=120)
    assert max(slower.values()) <= SLOWER_MAX, slower
