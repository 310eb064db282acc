"""Bounds that several users share: how each fills up, whom it blocks, and how it is freed: the source of bounds.md."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from scripts.reference.tables import page, table
from zoe_lib.settings.config import Settings

SETTING = "setting:"


@dataclass(frozen=True, slots=True)
class SharedBound:
    """A bound. amounts: `text {0} text`, and the place of each number: `module:name`, or `setting:name`. codes: of
    refusals. tests: that it stops no other tenant."""

    what: str
    amounts: str
    numbers: tuple[str, ...]
    filled_by: str
    stops: str
    freed: str
    codes: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


def number_at(place: str) -> Any:
    """Return the number at a place in the code, or the default of a setting."""
    if place.startswith(SETTING):
        return Settings.model_fields[place.removeprefix(SETTING)].default
    module, _, names = place.partition(":")
    found: Any = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


_HANDLERS, _CHECKS = "zoe_master.rpc.handlers", "zoe_api.http.attempts.password_checks"
_STORE = "zoe_api.storage.client"
_NAT = "users at the same address"
_LANES = ("tests/unit/zoe_master/rpc/test_lanes.py::test_the_bounds_leave_room_for_others",)
_OF_TENANTS = "tests/contract/test_bounds_of_tenants.py::"

STRANGERS: tuple[SharedBound, ...] = (
    SharedBound(
        "sign-ins under way at OpenID Connect providers",
        "{0} of a network, {1} in all",
        (
            "zoe_api.people.sign_in.oidc_routes:_BOUNDS.of_network_max",
            "zoe_api.people.sign_in.oidc_routes:_BOUNDS.in_all_max",
        ),
        "anyone",
        f"{_NAT}, for ten minutes; a full table takes places from the network that has most",
        "at the end of the sign-in, by another one in the same browser, or after ten minutes",
        ("sign_in_busy",),
        (
            "tests/contract/test_account_sign_ins.py::test_sign_ins_that_one_network_begins_stop_none_of_another",
            "tests/contract/test_account_sign_ins.py::test_one_place_for_each_of_many_networks_is_given_on",
        ),
    ),
    SharedBound(
        "machines that ask for a token (`zoe login`)",
        "{0} of a network, {1} in all",
        ("zoe_api.people.machines:WAITING_OF_NETWORK_MAX", "zoe_api.people.machines:WAITING_MAX"),
        "anyone",
        f"{_NAT}, as above; they make a token in the web UI",
        "when the machine has its token, or after ten minutes",
        ("sign_in_busy",),
        (f"{_OF_TENANTS}test_machines_of_one_network_stop_none_of_another",),
    ),
    SharedBound(
        "passwords that are checked or wait, of a provider and an API process",
        "{0} of a network, {1} in all",
        (f"{_CHECKS}:OF_NETWORK_MAX", f"{_CHECKS}:INSIDE_MAX"),
        "anyone",
        "users who are new at their address, while 36 networks flood; familiar users have threads of their own",
        "within a second",
        ("sign_in_busy",),
        ("tests/unit/zoe_api/http/attempts/test_lane.py::test_a_newcomer_gets_the_last_place_of_the_longest_queue",),
    ),
    SharedBound(
        "wrong passwords",
        "{0} of a user at a network, {1} of a network, in five minutes; {2} of a user in an hour",
        tuple(f"zoe_api.http.attempts.guess_limit:FAILURES_OF_{of}_MAX" for of in ("PAIR", "NETWORK", "USER")),
        "anyone",
        f"the user there; others only where they have not signed in within four days ({_NAT})",
        "with time",
        ("too_many_sign_ins",),
        ("tests/api/test_sessions.py::test_guessing_is_slowed_for_one_user_without_locking_out_others",),
    ),
    SharedBound(
        "connections of an API process",
        "{0} of an address, {1} in all",
        ("setting:api_connections_of_address_max", "setting:api_connections_max"),
        "anyone",
        f"{_NAT}; four addresses fill all of a process",
        "when they end, or idle ones by time limits",
        ("too_many_connections",),
        ("tests/unit/zoe_api/http/serving/test_connections.py::test_there_are_so_many_in_all_and_of_one_address",),
    ),
    SharedBound(
        "lines in the log of an API process, and of Zoe's filters in a process of a proxy",
        "{0} a second of a network",
        ("zoe_lib.logs.few_lines:LINES_OF_CLIENT_A_SECOND_MAX",),
        "anyone",
        "no one; the next line of the network has the number of dropped ones",
        "a second later",
        (),
        (
            "tests/unit/zoe_lib/logs/test_few_lines.py::test_a_client_has_so_many_lines_a_second_and_the_next_one_tells_the_others",
        ),
    ),
)
MEMBERS: tuple[SharedBound, ...] = (
    SharedBound(
        "streams, WebSockets and requests to applications, of an API process",
        "{0} of a token, {1} of a user; {2} requests",
        tuple(f"setting:api_{name}_max" for name in ("streams_of_token", "streams_of_user", "app_requests_of_user")),
        "a user",
        "this user",
        "when they end",
        ("too_many_streams",),
        ("tests/api/test_stream_places.py::test_streams_are_bounded_by_token_and_by_user_and_others_get_theirs",),
    ),
    SharedBound(
        "questions (checks, plans, conversions, trials) and large bodies, of an API process",
        "{0} of a token or session at once, {1} with those that wait",
        ("zoe_api.http.turns:AT_ONCE_MAX", "zoe_api.http.turns:INSIDE_MAX"),
        "a token or session",
        "its own questions",
        "when they are answered",
        ("check_busy",),
        ("tests/unit/zoe_api/http/test_turns.py::test_a_client_has_its_turns_and_delays_itself_only",),
    ),
    SharedBound(
        "long checks and conversions, in processes of an API process",
        "{0} of a tenant and {1} in all at once, {2} of a tenant and {3} in all with those that wait",
        tuple(
            f"zoe_api.questions.pool:{name}"
            for name in ("OF_TENANT_AT_ONCE_MAX", "AT_ONCE_MAX", "OF_TENANT_MAX", "INSIDE_MAX")
        ),
        "a user, the places of the tenant; four tenants together, all",
        "long checks of the tenant; those of others wait for their turn, and a full table takes places from the tenant "
        "that has most",
        "when they are answered: after 10 s of CPU time at most",
        ("check_busy",),
        ("tests/unit/zoe_api/questions/test_pool.py::test_a_tenant_has_one_process_and_a_few_places",),
    ),
    SharedBound(
        "replays of an API process",
        "one at a time",
        (),
        "an operator",
        "replays of other operators",
        "when it ends, or reaches a limit (settings `replay_*`)",
        ("replay_busy",),
        ("tests/api/test_replays.py::test_one_at_a_time",),
    ),
    SharedBound(
        "descriptions that are checked, of an API process",
        "{0} of a user, {1} in all",
        ("zoe_api.services.dependencies:_CHECKS.of_asker_max", "zoe_api.services.dependencies:_CHECKS.in_all_max"),
        "a user, a quarter; four users together, all",
        "others for parts of a second",
        "when they end",
        ("check_busy",),
        (f"{_OF_TENANTS}test_one_user_leaves_places_of_each_kind_of_question_to_others",),
    ),
    SharedBound(
        "requests that wait for a position, of an API process",
        "{0} of a user, {1} in all",
        ("zoe_api.services.positions:_PLACES.of_asker_max", "zoe_api.services.positions:_PLACES.in_all_max"),
        "a user, a quarter; four users together, all",
        "others that wait for a position, for two seconds",
        "when the master has seen it, or after two seconds",
        ("position_busy",),
        (
            "tests/unit/zoe_api/services/test_positions.py::test_four_requests_of_a_user_wait_at_a_time_and_others_go_on",
        ),
    ),
    *(
        SharedBound(
            what,
            "{0} of a user, {1} in all, by {2} threads of the master",
            (f"{_HANDLERS}:_{name}_OF_ASKER_MAX", f"{_HANDLERS}:_{name}_MAX", f"{_HANDLERS}:{lane}.threads"),
            who,
            stops,
            "when they are answered",
            codes,
            _LANES,
        )
        for what, name, lane, who, stops, codes in (
            (
                "plans and dry runs",
                "PLANS",
                "SCHEDULER",
                "two users",
                "other plans, for seconds",
                ("plan_busy", "replay_busy"),
            ),
            (
                "explanations and forecasts",
                "LOOKS",
                "SCHEDULER",
                "four users; **four questions of one user delay those of other users**",
                "others wait for the steps of four questions",
                ("plan_busy",),
            ),
            ("reads of output", "READS", "OUTPUT", "six users", "others, while engines hang", ("logs_busy",)),
            ("files", "FILES", "FILES", "eight users", "others, while disks hang", ("files_busy",)),
            (
                "terminals that are opened",
                "TERMINALS",
                "TERMINALS",
                "two users",
                "others, while engines hang",
                ("terminals_busy",),
            ),
        )
    ),
    *(
        SharedBound(
            f"{what}, of an API process",
            "{0} of a user, {1} in all, {2} of them at the storage controller at once",
            tuple(f"{_STORE}:{lane}.{name}" for name in ("bounds.of_asker_max", "bounds.in_all_max", "at_once_max")),
            who,
            stops,
            "when they are answered",
            (),
            ("tests/unit/zoe_api/storage/test_client.py::test_a_user_has_few_places_and_leaves_others_theirs",),
        )
        for what, lane, who, stops in (
            ("questions about rules of the object store", "QUESTIONS", "four users", "others, for seconds"),
            ("uploads of filters", "UPLOADS", "eight users", "other uploads, for 20 s"),
        )
    ),
    SharedBound(
        "executions that wait or run",
        "none, or the [limits](../operate/people.md#tenants-and-quotas) of an admin",
        (),
        "a user, up to the user's limit; else the tenant's users",
        "the user or the tenant. **Without limits, one user's queue delays others, unless the policy shares by tenant "
        "(`tenants: drf`, or the order `fair-share`)**",
        "when they end",
        ("quota_exceeded",),
        ("tests/contract/test_store_quotas.py::test_a_quota_of_users_counts_each_of_them",),
    ),
    SharedBound(
        "arrays that have not ended",
        "{0} of a tenant",
        ("zoe_lib.store.sql.batch.arrays:OPEN_MAX",),
        "a user",
        "the tenant",
        "when they end",
        ("quota_exceeded",),
        (f"{_OF_TENANTS}test_arrays_of_one_tenant_stop_none_of_another",),
    ),
    SharedBound(
        "lists of steps with `for_each` that are read at once",
        "one of a user, {0} in all",
        ("zoe_master.background.list_thread:WORKERS",),
        "four users who slow down the program that serves their files",
        "others, for up to 40 s",
        "when they are read, or after 40 s; after ten minutes the step fails",
        (),
        ("tests/unit/zoe_master/background/test_list_thread.py::test_slow_lists_of_one_owner_hold_up_one_worker_only",),
    ),
    SharedBound(
        "entries of a list",
        "{0}, in {1} bytes",
        ("zoe_lib.domain.applications.entries:ENTRIES_MAX", "zoe_lib.domain.applications.entries:LIST_BYTES_MAX"),
        "a user",
        "this user",
        "when the array is removed",
        (),
        (
            "tests/unit/zoe_master/loop/test_mapped_arrays.py::test_ten_thousand_entries_do_not_hold_up_what_others_submit",
        ),
    ),
    SharedBound(
        "volumes",
        "{0} bytes of a tenant together",
        ("setting:volumes_of_tenant_bytes_max",),
        "a user of the tenant",
        "the tenant",
        "by removal",
        ("too_many_volumes",),
        ("tests/contract/test_volumes.py::test_names_are_those_of_a_user_and_bytes_those_of_a_tenant",),
    ),
    SharedBound(
        "secrets, stored applications, schedules, targets of notifications",
        "{0}, {1}, {2}, {3}: of a user in a tenant; the first two and the last also of a tenant itself",
        tuple(
            f"setting:{name}"
            for name in ("secrets_of_user_max", "stored_applications_max", "schedules_max", "notification_targets_max")
        ),
        "a user; those of the tenant by operators",
        "this user",
        "by removal; with the membership",
        ("too_many_secrets", "too_many_stored", "too_many_targets"),
        (f"{_OF_TENANTS}test_full_bound_of_one_user_does_not_stop_others",),
    ),
    SharedBound(
        "API tokens and sessions of a user",
        "{0} valid tokens, {1} sessions",
        (
            "zoe_lib.store.sql.accounts.signing_in:TOKENS_OF_USER_MAX",
            "zoe_lib.store.sql.accounts.signing_in:SESSIONS_OF_USER_MAX",
        ),
        "the user",
        "this user; a new session ends the oldest one",
        "tokens when they are revoked or expire",
        ("too_many_tokens",),
        ("tests/contract/test_accounts.py::test_tokens_and_sessions_of_a_user_are_bounded",),
    ),
    SharedBound(
        "submissions of a job by its token",
        "{0} generations and {1} descendants that have not ended, {2} in a minute: of a job with all its descendants",
        tuple(f"setting:{name}" for name in ("job_depth_max", "job_descendants_max", "job_submissions_per_minute_max")),
        "the programs of a job and of its descendants",
        "these jobs; quotas of executions apply as well",
        "when descendants end, or a minute after a submission",
        ("job_too_deep", "too_many_descendants", "job_submits_too_often"),
        (
            "tests/contract/test_job_submissions.py::"
            "test_descendants_that_have_not_ended_are_bounded_for_the_whole_family",
        ),
    ),
    SharedBound(
        "requests of a job by its token",
        "{0} per second at one API process, and those of two seconds at once; as many refusals per second, since one "
        "costs as much as a short answer; one request at a time on each connection",
        ("setting:job_calls_per_s_max",),
        "the programs of a job",
        "this job",
        "within two seconds",
        ("job_calls_too_often",),
        (
            "tests/unit/zoe_api/services/test_job_calls.py::test_a_job_has_its_rate_and_others_theirs",
            "tests/unit/zoe_api/services/test_job_calls.py::test_refusals_of_a_job_are_spaced_as_its_calls_are",
        ),
    ),
    SharedBound(
        "shares of an execution",
        "{0}",
        ("zoe_lib.store.sql.visible.shares:SHARES_MAX",),
        "its owner",
        "its owner",
        "by ending one",
        ("too_many_shares",),
        ("tests/contract/test_account_shares.py::test_only_members_share_with_members_and_only_so_often",),
    ),
    SharedBound(
        "unfinished uploads of files or objects",
        "{0}",
        ("zoe_files.uploads:UNFINISHED_MAX",),
        "a user",
        "this user",
        "by ending them, or after a day",
        ("too_many_uploads", "upload_busy"),
        ("tests/local/test_files.py::test_unfinished_uploads_are_bounded",),
    ),
    SharedBound(
        "modules of filters",
        "{0} names and {1} versions of a tenant",
        ("storage_controller.rules.module_ledger:NAMES_MAX", "storage_controller.rules.module_ledger:VERSIONS_MAX"),
        "a user fills the names; versions beyond the newest stay only by rules of admins",
        "the tenant",
        "names by removal; versions when no rule runs them and no object can need them, or by an admin "
        "(`zoe storage filter rm NAME --version`)",
        (),
        ("tests/contract/test_modules_of_the_controller.py::test_no_tenant_uses_up_the_versions_of_another",),
    ),
    SharedBound(
        "memory of filter modules, of a process of a proxy",
        "{0} bytes; a tenant half of the memory that the others leave free",
        ("storage_filters.transforms.modules.memory:OF_PROCESS_BYTES",),
        "a user, half of it; further tenants half of the rest each",
        "the tenant; others have less, and never nothing",
        "when the object is read or stored",
        (),
        (
            "tests/unit/storage_filters/transforms/modules/test_memory.py::"
            "test_of_many_readers_as_many_run_as_fit_and_another_tenant_gets_its_share",
        ),
    ),
    SharedBound(
        "webhooks and mails under way",
        "{0} in all",
        ("zoe_master.notifications.thread:_AT_ONCE_MAX",),
        "two users whose targets hang",
        "**notifications of all others, for the time limit of a try; the targets that waited longest come first**",
        "when a try ends",
        (),
        ("tests/api/test_notifications.py::test_targets_that_hang_hold_up_no_other",),
    ),
    SharedBound(
        "kinds of runs whose times are remembered",
        "{0} in all",
        ("zoe_lib.run_times.history:KINDS_MAX",),
        "a user who ends as many executions of different names",
        "**no one; forecasts for other users are less precise until their executions run again**",
        "the one that ran longest ago is forgotten",
        (),
        (
            "tests/unit/zoe_lib/run_times/test_history.py::test_names_of_one_user_push_out_only_what_others_no_longer_run",
        ),
    ),
    SharedBound(
        "containers of the object store in statistics",
        "{0} in a minute for rates, {1} in five minutes for `try`, {2} samples of contents",
        (
            "storage_controller.traffic.traffic:COUNTERS_MAX",
            "storage_controller.traffic.last_hour:SUBJECTS_MAX",
            "storage_controller.traffic.contents:PLACES_MAX",
        ),
        "a user who uses as many containers",
        "**no one; numbers of other tenants are less exact, and rules on `COMPRESSIBILITY` may lack a value**",
        "with time",
        (),
        (
            "tests/unit/storage_controller/traffic/test_traffic.py::test_containers_of_one_tenant_take_no_rate_of_another",
        ),
    ),
)
ADMINS: tuple[SharedBound, ...] = (
    SharedBound(
        "rules of the object store",
        "{0} of a target, {1} in all",
        ("storage_controller.rules.rule_store:TARGET_RULES_MAX", "storage_filters.rules.documents:RULES_MAX"),
        "admins only",
        "admins",
        "by removal",
    ),
    SharedBound(
        "filter words, added metrics, tenants with cores of their own",
        "{0}, {1}, {2}",
        (
            "storage_controller.rules.words:WORDS_MAX",
            "storage_controller.metrics.metric_store:METRICS_MAX",
            "storage_controller.promises.filter_cores:_TENANTS_MAX",
        ),
        "admins only",
        "admins",
        "by removal",
    ),
    SharedBound(
        "jobs that store objects again",
        "one at a time",
        (),
        "admins only",
        "admins",
        "when it ends, or is cancelled",
    ),
)


def bounds_page() -> str:
    """Return the page."""
    head = ("what", "bound", "filled by", "whom that stops", "freed", "refusal")
    intro = (
        "Each bound that several users share: who can fill it, whom that stops, and how it is freed. Bold: one user, "
        "or a few, affect others. Bounds of one request, document or answer stop no one else and are not listed. "
        "Numbers are read from the code; [settings](settings.md) have their defaults. Tests fill those of users as "
        "one plain user, while another tenant goes on.\n"
    )
    gaps = (
        "## Without a bound\n\nThe audit log keeps two years of changes. Room on disks is "
        "bounded by quotas of the file system or the object store only.\n"
    )
    parts = [f"## {title}\n\n{table(head, map(_row, rows))}" for title, rows in _TITLES]
    return page("Bounds that users share", "`scripts/reference/shared_bounds.py`", intro, *parts, gaps)


def _row(one: SharedBound) -> tuple[str, ...]:
    numbers = [f"{number_at(place):,}" for place in one.numbers]
    codes = ", ".join(f"`{code}`" for code in one.codes)
    return one.what, one.amounts.format(*numbers), one.filled_by, one.stops, one.freed, codes


_TITLES = (("Before a sign-in", STRANGERS), ("Members of a tenant", MEMBERS), ("Admins", ADMINS))
ALL = (*STRANGERS, *MEMBERS, *ADMINS)
