"""Former name of `zoe_client.sse`, until 1.0."""

from zoe_client.sse import *  # noqa: F403
