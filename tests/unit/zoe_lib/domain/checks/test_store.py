from __future__ import annotations

import pytest

from tests.support.scheduling import component
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.checks.store import check_store_uris
from zoe_lib.domain.values.storage import StorageDemand, StorageObject, StoreAccess

WRITES = Application("a", (component(),), storage=StorageDemand(outputs=(StorageObject("out", "swift2d://c.red/o"),)))


@pytest.mark.parametrize(
    ("access", "code"),
    [
        (StoreAccess(), None),
        (StoreAccess(frozenset({"red"}), "t", frozenset({"red"})), None),
        (StoreAccess(frozenset({"blue"}), "t", frozenset({"blue"})), "no_such_service"),
        (StoreAccess(frozenset({"red"}), "t", frozenset()), "no_storage_credential"),
        (StoreAccess(frozenset({"red"}), "t"), None),
    ],
)
def test_services_and_credentials_are_noted(access: StoreAccess, code: str | None) -> None:
    found = list(check_store_uris(WRITES, Target(access=access)))
    assert [(finding.place, finding.code, finding.certain) for finding in found] == (
        [] if code is None else [(("storage", "outputs", 0, "uri"), code, False)]
    )


def test_application_without_uris_has_no_findings() -> None:
    access = StoreAccess(frozenset(), "t", frozenset())
    assert list(check_store_uris(Application("a", (component(),)), Target(access=access))) == []
