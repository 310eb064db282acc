"""Former name of `zoe_client.wire.base`, until 1.0."""

from zoe_client.wire.base import *  # noqa: F403
