"""Former name of `zoe_client.wire.people`, until 1.0."""

from zoe_client.wire.people import *  # noqa: F403
