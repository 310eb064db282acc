"""What users read if an engine does not run a command."""

from __future__ import annotations

import pytest

from zoe_master.backends.terminal.container_exec import refusal_text
from zoe_master.backends.terminal.engine_api import EngineRefused


@pytest.mark.parametrize(
    ("status", "words", "expected"),
    [
        (404, "No such container: x", "the service has ended"),
        (409, "Container x is not running", "the service has ended"),
        (409, "Container x is paused, unpause the container before exec", "the service's container is paused"),
        (500, "no space left", "the engine refuses the command: no space left"),
    ],
)
def test_a_refusal_is_a_sentence(status: int, words: str, expected: str) -> None:
    assert refusal_text(EngineRefused(status, words)) == expected
