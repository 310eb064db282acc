"""Former name of `zoe_client.wire.cluster`, until 1.0."""

from zoe_client.wire.cluster import *  # noqa: F403
