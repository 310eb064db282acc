"""Write the API's OpenAPI document to standard output; it needs no installation."""

from __future__ import annotations

import sys

from zoe_api import openapi
from zoe_api.main import create_app
from zoe_lib.config import Settings
from zoe_lib.store.memory import MemoryStore

sys.stdout.write(openapi.text(create_app(Settings(), MemoryStore(), master=None)))  # type: ignore[arg-type]
