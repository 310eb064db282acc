"""Former name of `zoe_client.wire.policy`, until 1.0."""

from zoe_client.wire.policy import *  # noqa: F403
