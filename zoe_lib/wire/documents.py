"""Former name of `zoe_client.wire.documents`, until 1.0."""

from zoe_client.wire.documents import *  # noqa: F403
