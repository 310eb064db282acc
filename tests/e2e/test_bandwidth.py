"""A real master beside a real storage controller keeps what tenants get of the store."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from storage_bridge.model import AchievedBandwidth
from tests.support.installation import Installation
from tests.support.storage_controller import MB, TOKEN, served_controller
from tests.support.waiting import until
from zoe_lib.domain.executions.promises import Rates


def test_the_master_keeps_what_tenants_get_at_every_sample(postgres_url: str, tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text(TOKEN)
    with served_controller(postgres_url) as controller:
        controller.achieved["red"] = AchievedBandwidth(7 * MB, 2 * MB)
        asked = {"storage_url": controller.url, "storage_token_file": str(token_file), "storage_interval_s": 0.1}
        with closing(Installation(postgres_url, usage_interval_s=0.1, **asked)) as installation:
            began_s = time.time()
            installation.start_master()

            def looks() -> int:
                """A stretch of a tenth of a second holds one look or two."""
                return len(installation.store.bandwidth_over_time(began_s, began_s + 3600, 0.1))

            until(lambda: looks() >= 3, lambda: installation.log("master"))
            [whole] = installation.store.bandwidth_over_time(began_s, began_s + 3600, 10 * began_s)
            assert (whole.tenant, whole.means.achieved) == ("red", Rates(7 * MB, 2 * MB))
