"""Former name of `zoe_client.client`, until 1.0."""

from zoe_client.client import *  # noqa: F403
