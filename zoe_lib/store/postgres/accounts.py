"""Users, tenants, and their tokens, sessions and credentials, in PostgreSQL."""

from __future__ import annotations

from zoe_lib.store.sql.accounts import credentials, machines, signing_in, system_ids
from zoe_lib.store.sql.batch import job_submissions
from zoe_lib.store.sql.connection.database import Database, look_method, read_method, write_method
from zoe_lib.store.sql.journal import notifications as notification_rows
from zoe_lib.store.sql.visible import audit as audit_log
from zoe_lib.store.sql.visible import name_claims, people
from zoe_lib.store.sql.visible import secrets as secret_rows
from zoe_lib.store.sql.visible import shares as share_rows
from zoe_lib.store.sql.visible import volumes as volume_rows
from zoe_lib.store.values import StoreLimits


class AccountStore:
    """Accounts, and the audit log of changes to them. Thread-safe; each method is one transaction.

    Every method may raise StoreUnavailable; a call that raised anything else changed nothing. A method is documented at
    the function that it runs.
    """

    def __init__(self, database: Database, limits: StoreLimits) -> None:
        self.database = database
        self._limits = limits

    ensure_member = write_method(people.ensure_member)
    remove_member = write_method(people.remove_member)
    memberships = read_method(people.read_memberships)
    add_user = write_method(people.add_user)
    adopt = write_method(people.adopt)
    users = read_method(people.read_users)
    user = read_method(people.read_user)
    set_password = write_method(people.set_password)
    set_disabled = write_method(people.set_disabled)
    add_tenant = write_method(people.add_tenant)
    tenants = read_method(people.read_tenants)

    add_token = write_method(signing_in.add_token)
    revoke_token = write_method(signing_in.revoke_token)
    end_access = write_method(signing_in.end_access)
    tokens = read_method(signing_in.read_tokens)
    principal = look_method(signing_in.principal)
    principal_and_terms = look_method(signing_in.principal_and_terms)
    add_session = write_method(signing_in.add_session)
    session = look_method(signing_in.read_session)
    sessions_among = look_method(signing_in.read_sessions)
    end_session = write_method(signing_in.end_session)
    session_end = read_method(signing_in.session_end)
    claim_unconfirmed = write_method(signing_in.claim_unconfirmed)
    unconfirm = write_method(signing_in.unconfirm)
    end_unknown = write_method(signing_in.end_unknown)
    add_sign_in = write_method(signing_in.add_sign_in)
    take_sign_in = write_method(signing_in.take_sign_in)
    ask_for_machine = write_method(machines.ask)
    machine_sign_in = read_method(machines.read)
    decide_machine = write_method(machines.decide)
    redeem_machine = write_method(machines.redeem)
    add_app_access = write_method(signing_in.add_app_access)
    enter_app = write_method(signing_in.enter_app)
    app_access = read_method(signing_in.read_app_access)
    app_accesses_among = read_method(signing_in.app_accesses_among)
    add_failure = write_method(signing_in.add_failure)
    take_guess = write_method(signing_in.take_guess)
    give_back_guess = write_method(signing_in.give_back_guess)
    failures = read_method(signing_in.read_failures)

    set_storage_credential = write_method(credentials.put)
    storage_credentials = read_method(credentials.read)
    reseal_storage_credential = write_method(credentials.reseal)
    remove_storage_credential = write_method(credentials.remove)
    claim_names = write_method(name_claims.claim)
    release_names = write_method(name_claims.release)

    set_secret = write_method(secret_rows.put)
    secrets = read_method(secret_rows.read)
    secret_names = look_method(secret_rows.names_of)
    secrets_of_tenant = read_method(secret_rows.of_tenant)
    reseal_secret = write_method(secret_rows.reseal)
    remove_secret = write_method(secret_rows.remove)

    add_volume = write_method(volume_rows.add)
    volumes = read_method(volume_rows.read)
    volumes_named = look_method(volume_rows.read_named)
    volume = read_method(volume_rows.read_volume)
    volumes_attached = read_method(volume_rows.attached_to)
    set_volume_state = write_method(volume_rows.set_state)
    attach_volume = write_method(volume_rows.attach)
    remove_volume = write_method(volume_rows.remove)
    reseal_volume = write_method(volume_rows.reseal)
    hand_over_volumes = write_method(volume_rows.hand_over)

    set_target = write_method(notification_rows.put)
    targets = read_method(notification_rows.read)
    targets_of_tenant = read_method(notification_rows.of_tenant)
    reseal_target = write_method(notification_rows.reseal)
    remove_target = write_method(notification_rows.remove)
    test_target = write_method(notification_rows.ask_for_test)
    note_news = write_method(notification_rows.note_news)
    due_targets = read_method(notification_rows.due)
    notifications = read_method(notification_rows.notifications)
    refusals = read_method(notification_rows.refusals)
    note_refusals_told = write_method(notification_rows.record_refusals_sent)
    note_told = write_method(notification_rows.record_sent)
    note_not_told = write_method(notification_rows.record_failure)

    system_id = write_method(system_ids.assign)

    share = write_method(share_rows.put)
    end_share = write_method(share_rows.end)
    shares = read_method(share_rows.read)
    shared_level = look_method(share_rows.level_for)
    was_opened = look_method(share_rows.was_opened)

    job_holder = look_method(job_submissions.holder)
    note_job_submission = write_method(job_submissions.note)
    stop_job = write_method(job_submissions.stop)
    is_stopped_job = look_method(job_submissions.is_stopped)
    resume_job = write_method(job_submissions.resume)
    is_job_family = look_method(job_submissions.is_family)
    job_family_among = look_method(job_submissions.family_among)
    job_family = look_method(job_submissions.family)
    job_parents = look_method(job_submissions.parents)
    job_children = look_method(job_submissions.children)

    add_audit = write_method(audit_log.add)
    end_audit = write_method(audit_log.end)
    audit = read_method(audit_log.read)

    def prune(self, now_s: float) -> None:
        """Remove expired sessions, old failures, and audit entries beyond their retention."""
        self.database.write(lambda c: signing_in.prune(c, now_s, now_s - self._limits.failures_kept_s))
        self.database.write(lambda c: audit_log.prune(c, now_s - self._limits.audit_kept_s))
