"""Former name of `zoe_client.wire.replays`, until 1.0."""

from zoe_client.wire.replays import *  # noqa: F403
