from __future__ import annotations

from tests.support.documents import document, part
from zoe_lib.descriptions import parse
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.settings.config import Settings
from zoe_lib.submission.checks.examined import Examined
from zoe_lib.submission.checks.services import refuse_unreachable_api

ASKING = document(part(), part("calls", api="jobs"))


def test_the_api_is_refused_where_its_address_is_not_known() -> None:
    examined = Examined(ASKING, parse(ASKING), Settings(services_api_url=None), Platform())
    refused = refuse_unreachable_api(examined)
    assert refused is not None
    assert refused.code == "jobs_unreachable"
    assert [error.pointer for error in refused.errors] == ["/components/1/api"]


def test_application_without_the_api_is_not_refused() -> None:
    plain = document(part())
    assert refuse_unreachable_api(Examined(plain, parse(plain), Settings(services_api_url=None), Platform())) is None
    known = Settings(services_api_url="http://api:5000")
    assert refuse_unreachable_api(Examined(ASKING, parse(ASKING), known, Platform())) is None
