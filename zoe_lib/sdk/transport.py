"""Former name of `zoe_client.transport`, until 1.0."""

from zoe_client.transport import *  # noqa: F403
