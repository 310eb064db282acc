"""The published averages of EASY and EASY-SJBF, to every printed digit, through the production master."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.needs import test_data
from zoe_lib.domain.policy import Policy
from zoe_master.simulator.figures import figures
from zoe_master.simulator.formats.swf import read_swf
from zoe_master.simulator.trace import Replay

# Gaussier, Glesser, Reis, Trystram, SC'15: mean bounded slowdown by trace, backfill and whether run times are exact.
PUBLISHED = [
    ("KTH-SP2-1996-2.1.sc15filtered.swf.gz", "easy", False, 92.577),
    ("KTH-SP2-1996-2.1.sc15filtered.swf.gz", "easy-sjbf", False, 69.405),
    ("KTH-SP2-1996-2.1.sc15filtered.swf.gz", "easy", True, 71.722),
    ("KTH-SP2-1996-2.1.sc15filtered.swf.gz", "easy-sjbf", True, 49.848),
    ("SDSC-SP2-1998-4.2.sc15filtered.swf.gz", "easy", False, 87.870),
    ("SDSC-SP2-1998-4.2.sc15filtered.swf.gz", "easy-sjbf", False, 84.889),
    ("SDSC-SP2-1998-4.2.sc15filtered.swf.gz", "easy", True, 70.478),
    ("SDSC-SP2-1998-4.2.sc15filtered.swf.gz", "easy-sjbf", True, 56.836),
]


@pytest.mark.parametrize(("file", "backfill", "exact", "published"), PUBLISHED)
def test_the_published_average_comes_out(file: str, backfill: str, exact: bool, published: float) -> None:
    path: Path = test_data() / "traces" / file
    trace = read_swf(path)
    result = figures(trace, Replay(trace, Policy(backfill=backfill), exact).run(), 1.0)
    assert round(result["mean_bounded_slowdown"], 3) == published
