"""Exceptions of the store."""

from __future__ import annotations

from zoe_client.words.amounts import count_with_noun


class StoreError(Exception):
    """Base class of the store's errors."""


class NotFound(StoreError):  # noqa: N818 - the name is the fact
    """The object does not exist, or belongs to another tenant."""


class ConcurrentUpdate(StoreError):  # noqa: N818
    """Another writer was faster: the version is not the expected one. Read again and decide again."""


class NameTaken(ConcurrentUpdate):
    """A user or tenant of this name exists: repeating the call does not help."""


class NotLeader(StoreError):  # noqa: N818
    """The epoch is not the newest: another master leads now."""


class IdempotencyConflict(StoreError):  # noqa: N818
    """The same idempotency key came with a different request."""


class QuotaExceeded(StoreError):  # noqa: N818
    """The tenant, or the user in it, has the maximum of waiting and running executions."""

    def __init__(self, holder: str, executions_max: int) -> None:
        super().__init__(
            f"maximum for {holder}: {count_with_noun(executions_max, 'execution')} that have not ended, held ones too; "
            "`zoe quota` shows how many there are"
        )


class NoSystemIds(StoreError):  # noqa: N818
    """The range of system users and groups is used up."""


class TooManyShares(StoreError):  # noqa: N818
    """The execution has the maximum number of shares."""


class TooManyWaiting(StoreError):  # noqa: N818
    """The maximum of unfinished sign-ins from a network, or in total, is reached."""


class TooManyTargets(StoreError):  # noqa: N818
    """The user or the tenant has the maximum of notification targets."""


class TooManyStored(StoreError):  # noqa: N818
    """The user or the tenant has the maximum of stored applications, or schedules."""


class AlreadyMade(StoreError):  # noqa: N818
    """This time of the schedule has an outcome already, or the schedule was changed concurrently."""


class TooManyTokens(StoreError):  # noqa: N818
    """The user has the maximum of API tokens."""


class TooManySecrets(StoreError):  # noqa: N818
    """The user or the tenant has the maximum of secrets."""


class TooManyVolumes(StoreError):  # noqa: N818
    """The volumes of the tenant would have more bytes than it may have."""


class VolumeAttached(StoreError):  # noqa: N818
    """The volume is attached to an execution that has not ended."""

    def __init__(self, name: str, execution_id: str) -> None:
        super().__init__(f"volume {name} is attached to execution {execution_id}, which has not ended")


class TooManyArrays(QuotaExceeded):
    """The tenant has the maximum of unfinished arrays."""

    def __init__(self, tenant: str, arrays_max: int) -> None:
        StoreError.__init__(self, f"maximum for {tenant}: {arrays_max} arrays that have not ended")


class TimeLimitTooLong(StoreError):  # noqa: N818
    """The requested time limit exceeds the longest one that the tenant allows."""


class PriceListRefused(StoreError):  # noqa: N818
    """The price list would change earlier charges or published prices, or conflicts with other lists."""


class StatementRefused(StoreError):  # noqa: N818
    """The month cannot be closed or opened now."""


class BatchRefused(StoreError):  # noqa: N818
    """One of several submissions is refused, and all others with it; `index` is its position, `reason` the cause."""

    def __init__(self, index: int, reason: StoreError) -> None:
        super().__init__(str(reason))
        self.index = index
        self.reason = reason


class StoreUnavailable(StoreError):  # noqa: N818
    """The database cannot be reached now; the same call may succeed later.

    The write may have been done: the connection can break between the commit and its answer. Repeating it is safe,
    because of the expected version, and in `submit` because of the execution's id or the idempotency key.
    """


class InvalidCursor(StoreError, ValueError):  # noqa: N818
    """The cursor of a page is malformed."""

    def __init__(self, cursor: str) -> None:
        super().__init__(f"not a cursor of this list: {cursor[:80]!r}")


class Unstorable(StoreError, ValueError):  # noqa: N818
    """PostgreSQL cannot hold this value, such as a text with a NUL character."""
