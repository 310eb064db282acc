"""Former name of `zoe_client.wire.places`, until 1.0."""

from zoe_client.wire.places import *  # noqa: F403
