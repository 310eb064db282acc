"""Settings that a back-end ignores are reported at submission, and by a check before it."""

from __future__ import annotations

from tests.support.documents import document, part
from zoe_client import Client

LIMITS = {"memory": "64MiB", "cores": 0.1, "shm": "64MiB"}


def test_settings_ignored_by_the_local_backend_are_noted(client: Client) -> None:
    asking = document(part("main", resources=LIMITS, read_only_root=True), part("other", resources=LIMITS))
    expected = [
        "the local back-end ignores shm, which these components set: main, other",
        "the local back-end ignores read_only_root, which these components set: main",
    ]
    assert client.validate(asking).notes == expected
    assert client.execution(client.submit(asking).id).notes == expected
    assert client.submit(document(part("main"))).notes == []
