"""Former name of `zoe_client.errors`, until 1.0."""

from zoe_client.errors import *  # noqa: F403
