"""Former name of `zoe_client.wire.use`, until 1.0."""

from zoe_client.wire.use import *  # noqa: F403
