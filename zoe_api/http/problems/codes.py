"""Codes of refusals, each with its status and title; docs/reference/errors.md explains them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Code(StrEnum):
    """Stable names of refusals: clients depend on them, so they are never renamed."""

    INVALID_JSON = "invalid_json"
    INVALID_CURSOR = "invalid_cursor"
    NO_TOKEN = "no_token"  # noqa: S105 - a name
    BAD_TOKEN = "bad_token"  # noqa: S105 - a name
    JOB_TOKEN_ENDED = "job_token_ended"  # noqa: S105 - a name
    NOT_FOR_JOBS = "not_for_jobs"
    NOT_OF_JOB = "not_of_job"
    JOB_CANCELLED = "job_cancelled"
    JOB_TOO_DEEP = "job_too_deep"
    TOO_MANY_DESCENDANTS = "too_many_descendants"
    JOB_SUBMITS_TOO_OFTEN = "job_submits_too_often"
    JOB_CALLS_TOO_OFTEN = "job_calls_too_often"
    JOBS_UNREACHABLE = "jobs_unreachable"
    SCOPE_MISSING = "scope_missing"
    NOT_ADMIN = "not_admin"
    ROLE_MISSING = "role_missing"
    SESSION_OVER = "session_over"
    SESSION_NEEDED = "session_needed"
    CSRF_TOKEN_MISSING = "csrf_token_missing"  # noqa: S105 - a name
    SHARE_TOO_LOW = "share_too_low"
    TOO_MANY_SHARES = "too_many_shares"
    HELD_BY_OPERATOR = "held_by_operator"
    TOO_MANY_TARGETS = "too_many_targets"
    TARGET_REFUSED = "target_refused"
    TOO_MANY_STORED = "too_many_stored"
    INVALID_SCHEDULE = "invalid_schedule"
    TOO_MANY_SECRETS = "too_many_secrets"
    TOO_MANY_VOLUMES = "too_many_volumes"
    VOLUME_ATTACHED = "volume_attached"
    VOLUME_REFUSED = "volume_refused"
    TOO_MANY_TOKENS = "too_many_tokens"
    FOREIGN_ORIGIN = "foreign_origin"
    HOST_NOT_ALLOWED = "host_not_allowed"
    SOCKET_REFUSED = "socket_refused"
    BAD_SIGN_IN = "bad_sign_in"
    TOO_MANY_SIGN_INS = "too_many_sign_ins"
    SIGN_IN_BUSY = "sign_in_busy"
    NO_MEMBERSHIP = "no_membership"
    SIGN_IN_FAILED = "sign_in_failed"
    SIGN_IN_MIXED_UP = "sign_in_mixed_up"
    SIGN_IN_REFUSED = "sign_in_refused"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    OWN_ACCOUNT = "own_account"
    ONE_TENANT = "one_tenant"
    BUDGET_EXCEEDED = "budget_exceeded"
    SUBMISSIONS_CLOSED = "submissions_closed"
    INVALID_PRICE_LIST = "invalid_price_list"
    PRICE_LIST_REFUSED = "price_list_refused"
    STATEMENT_REFUSED = "statement_refused"
    QUOTA_EXCEEDED = "quota_exceeded"
    TIME_LIMIT_TOO_LONG = "time_limit_too_long"
    PRIORITY_TOO_HIGH = "priority_too_high"
    NOT_FOUND = "not_found"
    NO_SUCH_ROUTE = "no_such_route"
    NO_LOGS = "no_logs"
    NO_TERMINAL = "no_terminal"
    STORAGE_RULE_REFUSED = "storage_rule_refused"
    STORAGE_RULES_UNAVAILABLE = "storage_rules_unavailable"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    CONFLICT = "conflict"
    NAME_TAKEN = "name_taken"
    ILLEGAL_STATE = "illegal_state"
    ALREADY_ENDED = "already_ended"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    VERSION_MISMATCH = "version_mismatch"
    TOO_LARGE = "too_large"
    NOT_HTTP = "not_http"
    TOO_SLOW = "too_slow"
    HEAD_TOO_LARGE = "head_too_large"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    INVALID_REQUEST = "invalid_request"
    INVALID_DESCRIPTION = "invalid_description"
    INVALID_POLICY = "invalid_policy"
    REPLAY_REFUSED = "replay_refused"
    REPLAY_TOO_LONG = "replay_too_long"
    REPLAY_BUSY = "replay_busy"
    PLAN_BUSY = "plan_busy"
    LOGS_BUSY = "logs_busy"
    TERMINALS_BUSY = "terminals_busy"
    CHECK_BUSY = "check_busy"
    CHECK_TOO_LONG = "check_too_long"
    POSITION_BUSY = "position_busy"
    POSITION_UNKNOWN = "position_unknown"
    POSITION_NOT_REACHED = "position_not_reached"
    TOO_MANY_STREAMS = "too_many_streams"
    QUEUE_TOO_LONG = "queue_too_long"
    FILE_DENIED = "file_denied"
    FILE_EXISTS = "file_exists"
    WRONG_KIND = "wrong_kind"
    INVALID_PATH = "invalid_path"
    INVALID_RANGE = "invalid_range"
    INVALID_UPLOAD = "invalid_upload"
    UPLOAD_GONE = "upload_gone"
    UPLOAD_OFFSET = "upload_offset"
    UPLOAD_BUSY = "upload_busy"
    TOO_MANY_UPLOADS = "too_many_uploads"
    WORKSPACE_FULL = "workspace_full"
    FILES_BUSY = "files_busy"
    FILES_UNAVAILABLE = "files_unavailable"
    REPLAY_FAILED = "replay_failed"
    NEVER_FITS = "never_fits"
    STORAGE_GUARANTEE_UNAVAILABLE = "storage_guarantee_unavailable"
    UNSTORABLE = "unstorable"
    INTERNAL = "internal"
    MASTER_REFUSED = "master_refused"
    DATABASE_UNAVAILABLE = "database_unavailable"
    MASTER_UNREACHABLE = "master_unreachable"
    HTTP_ERROR = "http_error"


PROBLEMS: Mapping[Code, tuple[int, str]] = {
    Code.INVALID_JSON: (400, "The body is not valid JSON"),
    Code.INVALID_CURSOR: (400, "The cursor is not valid"),
    Code.NO_TOKEN: (401, "A token is required"),
    Code.BAD_TOKEN: (401, "The token is unknown or has expired"),
    Code.JOB_TOKEN_ENDED: (401, "The token belonged to an attempt of a job that has ended"),
    Code.NOT_FOR_JOBS: (403, "Jobs may not do this with their token"),
    Code.NOT_OF_JOB: (403, "A job can see and change only itself and its submissions"),
    Code.JOB_CANCELLED: (403, "The job was cancelled, and may not submit any more"),
    Code.JOB_TOO_DEEP: (403, "Too many jobs that submitted each other have not ended"),
    Code.TOO_MANY_DESCENDANTS: (403, "The job has as many descendants as it may"),
    Code.JOB_SUBMITS_TOO_OFTEN: (429, "The job and its descendants submit too often"),
    Code.JOB_CALLS_TOO_OFTEN: (429, "The job calls the API too often"),
    Code.JOBS_UNREACHABLE: (422, "Jobs cannot call the API of this installation"),
    Code.SCOPE_MISSING: (403, "The token lacks a scope"),
    Code.NOT_ADMIN: (403, "Only admins may do this"),
    Code.ROLE_MISSING: (403, "Your role in this tenant does not allow this"),
    Code.SHARE_TOO_LOW: (403, "Its owner has not shared this with you"),
    Code.HELD_BY_OPERATOR: (403, "An operator holds it"),
    Code.TOO_MANY_SHARES: (409, "It has the maximum of shares: end another share first"),
    Code.TOO_MANY_TARGETS: (409, "You have as many targets as allowed: remove another one first"),
    Code.TOO_MANY_STORED: (409, "You have as many as allowed: remove another one first"),
    Code.INVALID_SCHEDULE: (422, "The times of the schedule cannot be understood"),
    Code.TARGET_REFUSED: (422, "Notifications are not sent there"),
    Code.TOO_MANY_TOKENS: (409, "You have as many tokens as allowed: revoke another one first"),
    Code.TOO_MANY_VOLUMES: (409, "The tenant's volumes are as large as allowed: remove one first"),
    Code.VOLUME_ATTACHED: (409, "The volume is attached to an execution"),
    Code.VOLUME_REFUSED: (409, "The volume cannot be made or removed"),
    Code.TOO_MANY_SECRETS: (409, "You have as many secrets as allowed: remove another one first"),
    Code.SESSION_OVER: (401, "The session has ended: sign in again"),
    Code.SESSION_NEEDED: (403, "This needs a browser session; a token is not enough"),
    Code.CSRF_TOKEN_MISSING: (403, "Changes made in a session need its CSRF token"),
    Code.FOREIGN_ORIGIN: (403, "Pages of other origins may not use this API"),
    Code.HOST_NOT_ALLOWED: (421, "This Zoe does not serve this host name"),
    Code.SOCKET_REFUSED: (403, "The WebSocket was refused"),
    Code.BAD_SIGN_IN: (401, "The user name or password is wrong"),
    Code.TOO_MANY_SIGN_INS: (429, "Too many failed sign-ins from your network"),
    Code.SIGN_IN_BUSY: (429, "Too many sign-ins are under way"),
    Code.NO_MEMBERSHIP: (403, "You are not a member of this tenant"),
    Code.SIGN_IN_FAILED: (401, "The sign-in was not completed: start again"),
    Code.SIGN_IN_MIXED_UP: (401, "The answer comes from another provider than the one of this sign-in"),
    Code.SIGN_IN_REFUSED: (403, "The provider knows you, but you may not sign in to this Zoe"),
    Code.PROVIDER_UNAVAILABLE: (502, "The identity provider is unavailable"),
    Code.OWN_ACCOUNT: (409, "You cannot do this to your own account"),
    Code.ONE_TENANT: (409, "The local back-end supports one tenant only"),
    Code.BUDGET_EXCEEDED: (403, "The budget of this month is spent"),
    Code.SUBMISSIONS_CLOSED: (403, "No submissions are taken now"),
    Code.INVALID_PRICE_LIST: (422, "The price list is invalid"),
    Code.PRICE_LIST_REFUSED: (409, "The price list would change past prices"),
    Code.STATEMENT_REFUSED: (409, "The month cannot be closed or opened now"),
    Code.QUOTA_EXCEEDED: (429, "The quota of executions is used up"),
    Code.TIME_LIMIT_TOO_LONG: (422, "The time limit is longer than your tenant's quota allows"),
    Code.PRIORITY_TOO_HIGH: (422, "The priority is higher than you may set"),
    Code.NOT_FOUND: (404, "It does not exist, or you may not see it"),
    Code.NO_SUCH_ROUTE: (404, "This path does not exist"),
    Code.NO_LOGS: (404, "The output is no longer kept"),
    Code.NO_TERMINAL: (409, "A terminal cannot be opened there"),
    Code.STORAGE_RULE_REFUSED: (422, "The storage controller refuses this"),
    Code.STORAGE_RULES_UNAVAILABLE: (503, "The storage controller does not answer for the object store's rules"),
    Code.METHOD_NOT_ALLOWED: (405, "This path does not support this method"),
    Code.CONFLICT: (409, "It was changed concurrently: read it again and retry"),
    Code.NAME_TAKEN: (409, "The name is taken"),
    Code.ILLEGAL_STATE: (409, "Its present state does not allow this"),
    Code.ALREADY_ENDED: (409, "It has already ended"),
    Code.IDEMPOTENCY_CONFLICT: (409, "This idempotency key was used for a different request"),
    Code.VERSION_MISMATCH: (412, "It has changed since you read it"),
    Code.TOO_LARGE: (413, "The request is too large"),
    Code.NOT_HTTP: (400, "The request cannot be read as HTTP"),
    Code.TOO_SLOW: (408, "The request took too long to arrive"),
    Code.HEAD_TOO_LARGE: (431, "The head of the request is too large"),
    Code.TOO_MANY_CONNECTIONS: (503, "Too many connections, in total or from your address"),
    Code.INVALID_REQUEST: (422, "The request is not valid"),
    Code.INVALID_DESCRIPTION: (422, "The description is not valid"),
    Code.INVALID_POLICY: (422, "The policy is not valid"),
    Code.REPLAY_REFUSED: (422, "This cannot be replayed"),
    Code.REPLAY_TOO_LONG: (422, "The replay exceeded its time, CPU or memory limit"),
    Code.REPLAY_BUSY: (429, "Another replay is running; try again soon"),
    Code.PLAN_BUSY: (429, "The master is computing other plans; try again soon"),
    Code.LOGS_BUSY: (429, "Too many readers of output at the moment; try again soon"),
    Code.TERMINALS_BUSY: (429, "Too many terminals are being opened; try again soon"),
    Code.CHECK_BUSY: (429, "Too many descriptions are being checked; try again soon"),
    Code.CHECK_TOO_LONG: (422, "The check exceeded its time, CPU or memory limit"),
    Code.POSITION_BUSY: (429, "Too many requests wait for a position; try again soon"),
    Code.POSITION_UNKNOWN: (409, "The journal has no such position"),
    Code.POSITION_NOT_REACHED: (503, "The master has not reached the position yet; try again soon"),
    Code.TOO_MANY_STREAMS: (429, "You have too many open streams: close some of them"),
    Code.QUEUE_TOO_LONG: (503, "Not computed: the queue is too long"),
    Code.FILE_DENIED: (403, "You may not do this with these files"),
    Code.FILE_EXISTS: (409, "A file of this name exists"),
    Code.WRONG_KIND: (409, "It is another kind of file than this needs"),
    Code.INVALID_PATH: (422, "The path is not valid"),
    Code.INVALID_RANGE: (416, "The file does not have these bytes"),
    Code.INVALID_UPLOAD: (422, "The upload is not valid"),
    Code.UPLOAD_GONE: (404, "There is no such unfinished upload"),
    Code.UPLOAD_OFFSET: (409, "The upload continues at another offset"),
    Code.UPLOAD_BUSY: (423, "Another request writes to this upload"),
    Code.TOO_MANY_UPLOADS: (429, "You have too many unfinished uploads"),
    Code.WORKSPACE_FULL: (507, "There is not enough room for the files"),
    Code.FILES_BUSY: (429, "Too many requests for files at the moment; try again soon"),
    Code.FILES_UNAVAILABLE: (503, "Files are not available now"),
    Code.REPLAY_FAILED: (500, "The replay failed"),
    Code.NEVER_FITS: (422, "The application cannot run on this installation"),
    Code.STORAGE_GUARANTEE_UNAVAILABLE: (
        422,
        "Guaranteed bandwidth needs a storage controller, and none is configured",
    ),
    Code.UNSTORABLE: (422, "The request contains text that cannot be stored"),
    Code.INTERNAL: (500, "Internal error; the log has it under the request id"),
    Code.MASTER_REFUSED: (502, "The master could not answer"),
    Code.DATABASE_UNAVAILABLE: (503, "The database is unavailable; try again soon"),
    Code.MASTER_UNREACHABLE: (503, "The master is not reachable; submissions are accepted and run later"),
    Code.HTTP_ERROR: (400, "The request was refused"),
}
