"""Former name of `zoe_client.problems`, until 1.0."""

from zoe_client.problems import *  # noqa: F403
