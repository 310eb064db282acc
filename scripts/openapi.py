"""Write the API's OpenAPI document to standard output; it needs no installation."""

from __future__ import annotations

import sys

from zoe_api.http import openapi
from zoe_api.main import bare_app

sys.stdout.write(openapi.text(bare_app()))
