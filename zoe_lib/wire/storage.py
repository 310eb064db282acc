"""Former name of `zoe_client.wire.storage`, until 1.0."""

from zoe_client.wire.storage import *  # noqa: F403
