"""Files beside the zones are no zones: they are the server's own, or count leap seconds."""

from __future__ import annotations

import pytest

from zoe_client.words.times import zone_of


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory", "right/Europe/Paris", "posix/Europe/Paris"])
def test_they_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a time zone"):
        zone_of(name)
