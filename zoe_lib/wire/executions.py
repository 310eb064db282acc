"""Former name of `zoe_client.wire.executions`, until 1.0."""

from zoe_client.wire.executions import *  # noqa: F403
