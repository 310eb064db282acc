"""Names that clients and server share: states, marks, causes, reasons, roles. They never change their meaning."""

from __future__ import annotations

from enum import StrEnum

SECONDS_MAX = 100 * 365 * 86_400.0
"""Longest time that a request may name."""
PRIORITY_MAX = 1000
"""Highest priority of executions; the lowest is its negative."""
SECRET_BYTES_MAX = 64 << 10


class TextEnum(StrEnum):
    """A StrEnum whose members hash as quickly as text; members of the standard library's hash by a call of Python, many
    times for each event of the journal.
    """

    __hash__ = str.__hash__


class ExecutionState(TextEnum):
    """States of an execution; the last three are terminal."""

    SUBMITTED = "submitted"
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class DependencyKind(TextEnum):
    """Required end of a dependency."""

    OK = "ok"
    """It succeeded."""
    FAIL = "fail"
    """It failed or was cancelled."""
    ANY = "any"
    """It ended in any way."""


class MissedPolicy(StrEnum):
    """Treatment of a schedule's times that passed while no master ran."""

    SKIP = "skip"
    LATEST = "latest"
    ALL = "all"


class OverlapPolicy(StrEnum):
    """Treatment of a schedule's time while an earlier run has not ended."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    REPLACE = "replace"


class ScheduleOutcome(StrEnum):
    """Outcome of a schedule's time."""

    MADE = "made"
    BACKFILLED = "backfilled"
    SKIPPED = "skipped"
    MISSED = "missed"
    REFUSED = "refused"


class RunKind(StrEnum):
    """Kinds of runs that a document starts."""

    EXECUTION = "execution"
    ARRAY = "array"
    WORKFLOW = "workflow"


class NotificationKind(TextEnum):
    """Events of an execution that notify its user."""

    SUBMITTED = "submitted"
    STARTED = "started"
    """All essential services run, at each attempt."""
    REQUEUED = "requeued"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DEADLINE_MISSED = "deadline_missed"


class DeadlineStatus(TextEnum):
    """Status of an execution against its deadline; none if it failed or was cancelled before the deadline."""

    MET = "met"
    """It succeeded in time."""
    AT_RISK = "at_risk"
    """It has not ended, and is expected to end late."""
    MISSED = "missed"


class DeadlineOutlook(TextEnum):
    """Whether a deadline is expected to be met."""

    MET = "met"
    AT_RISK = "at_risk"
    CANNOT_BE_MET = "cannot_be_met"
    UNKNOWN = "unknown"


class DeadlineCause(TextEnum):
    """Why a deadline was missed; stable names, in the order in which they are checked."""

    NOT_BEGUN = "not_begun"
    TOO_SHORT = "too_short"
    INPUT_LATE = "input_late"
    NODES_LOST = "nodes_lost"
    ATTEMPTS_FAILED = "attempts_failed"
    STORE = "store"
    QUEUE = "queue"
    SLOWER = "slower"
    RUN_TIME_UNKNOWN = "run_time_unknown"


class OfferKind(TextEnum):
    """Kinds of offers, by their difference from the request."""

    EARLIEST = "earliest"
    """The earliest end with the requested confidence."""
    LESS_SURE = "less_sure"
    """The requested time, with less confidence."""
    CHEAPEST = "cheapest"
    """Later, for the lowest price."""
    DEARER = "dearer"
    """The requested time, for more than the budget."""


class PromiseRisk(TextEnum):
    """Why a promise is expected to be broken; stable names."""

    NO_ROOM = "no_room"
    """It waits, and the room for it is not free in time."""
    SLOWER = "slower"
    """It runs, and takes longer than expected."""
    FAILED = "failed"
    """An attempt failed, and another does not end in time."""
    HELD = "held"
    """It is held, and does not end in time if it is released now."""
    INPUT_LATE = "input_late"
    """It depends on others that have not ended."""


class IndexState(TextEnum):
    """States of an index of an array; the last three are terminal."""

    WAITING = "waiting"
    """It has no execution yet."""
    ACTIVE = "active"
    """Its execution waits or runs."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ListProblem(TextEnum):
    """Why the list of a step with `for_each` cannot be used; stable names."""

    MISSING = "list_missing"
    UNREADABLE = "list_unreadable"
    TOO_LARGE = "list_too_large"
    NOT_UTF8 = "list_not_utf8"
    NOT_JSON = "list_not_json"
    NOT_A_LIST = "list_not_a_list"
    TOO_MANY = "list_too_many_entries"
    BAD_ENTRY = "list_bad_entry"


class Holder(TextEnum):
    """Who holds an execution out of the queue; only operators release an operator's hold."""

    USER = "user"
    OPERATOR = "operator"


class WorkspaceKind(TextEnum):
    """Location of files: the user's own workspace, or the one of all users of the tenant."""

    WORKSPACE = "workspace"
    SHARED = "shared"


STORE_ROOT = "store:"
"""Prefix of roots in the object store: `store:SERVICE`."""


class ServiceState(TextEnum):
    """States of a service; `ended` and `lost` are terminal."""

    CREATED = "created"
    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    ENDED = "ended"
    LOST = "lost"


class Outcome(TextEnum):
    """How an execution ends; the terminal state of the same name follows when all its services have ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Mark(TextEnum):
    """Points of an execution's timeline; the same names everywhere."""

    QUEUED = "queued"
    ADMITTED = "admitted"
    STORAGE_GRANTED = "storage_granted"
    STORAGE_WITHDRAWN = "storage_withdrawn"
    PLACED = "placed"
    TENANT_CREDENTIAL = "tenant_credential"
    STARTED = "started"
    READY = "ready"
    IDLE_WARNED = "idle_warned"
    OPENED = "opened"
    PROLOGUE_ENDED = "prologue_ended"
    EPILOGUE_DUE = "epilogue_due"
    VIEW_FAILED = "view_failed"
    ENDED = "ended"


class Cause(TextEnum):
    """Why a service or an execution ended; stable names."""

    EXITED = "exited"
    OUT_OF_MEMORY = "out_of_memory"
    NEVER_READY = "never_ready"
    START_FAILED = "start_failed"
    ENGINE_FAULT = "engine_fault"
    IMAGE_UNAVAILABLE = "image_unavailable"
    PORT_TAKEN = "port_taken"
    NODE_LOST = "node_lost"
    STOPPED = "stopped"
    KILLED = "killed"
    TIME_LIMIT = "time_limit"
    IDLE = "idle"
    CANCELLED = "cancelled"
    CORE_ENDED = "core_ended"
    PREEMPTED = "preempted"
    NEVER_FITS = "never_fits"
    DISK_FULL = "disk_full"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    DEPENDENCY_FAILED = "dependency_failed"
    REQUEUED = "requeued"
    SCALED_DOWN = "scaled_down"
    NO_PROMISE = "no_promise"
    PROLOGUE_FAILED = "prologue_failed"


ACTIVE_STATES = frozenset({ExecutionState.STARTING, ExecutionState.RUNNING, ExecutionState.STOPPING})
TERMINAL_STATES = frozenset({ExecutionState.SUCCEEDED, ExecutionState.FAILED, ExecutionState.CANCELLED})


class ReasonCode(TextEnum):
    """Stable names: they never change their meaning and are never reused."""

    NO_RESOURCES = "no_resources"
    MAKING_ROOM = "making_room"
    BEHIND_IN_QUEUE = "behind_in_queue"
    NEVER_FITS = "never_fits"
    NO_NODES = "no_nodes"
    NODES_AWAY = "nodes_away"
    WINDOW_AHEAD = "window_ahead"
    FOREIGN_USE = "foreign_use"
    RETRY_BACKOFF = "retry_backoff"
    STORAGE_BANDWIDTH = "storage_bandwidth"
    STORAGE_REFUSED = "storage_refused"
    TENANT_LIMIT = "tenant_limit"
    USER_LIMIT = "user_limit"
    IMAGE_PULLING = "image_pulling"
    LOCATING_INPUTS = "locating_inputs"
    SCAN_LIMIT = "scan_limit"
    HELD = "held"
    BEGIN_TIME = "begin_time"
    DEPENDENCIES = "dependencies"
    PROMISE = "promise"
    BOOKED = "booked"
    CREDENTIAL = "credential"
    PROLOGUE = "prologue"


class WaitCause(StrEnum):
    """Why time passed before the start; stable names."""

    MASTER = "master"
    CLUSTER_FULL = "cluster_full"
    NODES_AWAY = "nodes_away"
    FOREIGN_USE = "foreign_use"
    OTHERS_AHEAD = "others_ahead"
    QUOTA = "quota"
    STORAGE = "storage"
    IMAGE = "image"
    MAKING_ROOM = "making_room"
    OWN_FAILURE = "own_failure"
    POLICY = "policy"
    NEVER_FITS = "never_fits"
    CONDITIONS = "conditions"


class Scope(StrEnum):
    """A right that a route requires."""

    READ = "read"
    """See your own executions, those shared with you, the tenant's use, and the state of the cluster."""
    SUBMIT = "submit"
    """Submit in your tenant; cancel, open and share your executions; make tokens."""
    OPERATE = "operate"
    """See and cancel the executions of all tenants; drain and reserve nodes; replay the journal."""
    ADMIN = "admin"
    """Set the policy; change users, tenants, roles and quotas; read the audit log."""


class Role(StrEnum):
    """A user's role in a tenant; each includes the ones before."""

    VIEWER = "viewer"
    USER = "user"
    OPERATOR = "operator"
    ADMIN = "admin"


class DescriptionIcon(StrEnum):
    """Icons for entries of the catalogue."""

    CHART = "chart"
    CODE = "code"
    GLOBE = "globe"
    LAYERS = "layers"
    NODES = "nodes"
    NOTEBOOK = "notebook"
    SPARK = "spark"
    STATISTICS = "statistics"
    TABLE = "table"
    TERMINAL = "terminal"


class ShareLevel(StrEnum):
    """Rights that a share gives; each level includes the ones before."""

    LOOK = "look"
    """State, description without values of the environment, output, events and reasons."""
    OPEN = "open"
    """Also open the application through the proxy."""
    CONTROL = "control"
    """Also use a terminal in its services, as the owner; hold, release, modify, requeue and cancel."""

    def includes(self, other: ShareLevel) -> bool:
        """Return whether this level includes all rights of the other one."""
        order = list(ShareLevel)
        return order.index(self) >= order.index(other)
