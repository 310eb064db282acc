"""Memory that grew after a failure can be stored and read back."""

from __future__ import annotations

import pytest

from tests.support.documents import document, part
from zoe_lib.descriptions import parse
from zoe_lib.domain.applications.application import with_memory
from zoe_lib.store.documents.documents import Applications


@pytest.mark.parametrize("limits", [{}, {"memory": "64TiB"}])
def test_it_grows_no_further_than_a_description_may_say(limits: dict[str, str]) -> None:
    """A stored description that cannot be read would keep a master from starting."""
    resources = {"memory": "40TiB", "cores": 1, "limits": limits}
    application = parse(document(part("main", "true", resources=resources)))
    grown = with_memory(application, {"main": 320 << 40})
    assert grown.components[0].reservation.memory_bytes == 64 << 40
    Applications().keep(grown)
