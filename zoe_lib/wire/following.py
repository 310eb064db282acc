"""Former name of `zoe_client.wire.following`, until 1.0."""

from zoe_client.wire.following import *  # noqa: F403
