"""Former name of `zoe_client.wire.credentials`, until 1.0."""

from zoe_client.wire.credentials import *  # noqa: F403
