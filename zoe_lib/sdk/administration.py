"""Former name of `zoe_client.administration`, until 1.0."""

from zoe_client.administration import *  # noqa: F403
