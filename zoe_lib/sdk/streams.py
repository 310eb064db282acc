"""Former name of `zoe_client.streams`, until 1.0."""

from zoe_client.streams import *  # noqa: F403
