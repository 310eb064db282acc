"""Users, tenants, and their tokens, sessions and credentials, in PostgreSQL."""

from __future__ import annotations

from zoe_lib.store.sql.accounts import credentials, machines, signing_in, system_ids
from zoe_lib.store.sql.batch import job_submissions
from zoe_lib.store.sql.connection.database import Database, looks, reads, writes
from zoe_lib.store.sql.journal import notifications as notification_rows
from zoe_lib.store.sql.visible import audit as audit_log
from zoe_lib.store.sql.visible import name_claims, people
from zoe_lib.store.sql.visible import secrets as secret_rows
from zoe_lib.store.sql.visible import shares as share_rows
from zoe_lib.store.values import StoreLimits


class AccountStore:
    """Accounts, and the audit log of changes to them. Thread-safe; each method is one transaction.

    Every method may raise StoreUnavailable; a call that raised anything else changed nothing. A method is documented at
    the function that it runs.
    """

    def __init__(self, database: Database, limits: StoreLimits) -> None:
        self.database = database
        self._limits = limits

    ensure_member = writes(people.ensure_member)
    remove_member = writes(people.remove_member)
    memberships = reads(people.read_memberships)
    add_user = writes(people.add_user)
    adopt = writes(people.adopt)
    users = reads(people.read_users)
    user = reads(people.read_user)
    set_password = writes(people.set_password)
    set_disabled = writes(people.set_disabled)
    add_tenant = writes(people.add_tenant)
    tenants = reads(people.read_tenants)

    add_token = writes(signing_in.add_token)
    revoke_token = writes(signing_in.revoke_token)
    end_access = writes(signing_in.end_access)
    tokens = reads(signing_in.read_tokens)
    principal = looks(signing_in.principal)
    principal_and_terms = looks(signing_in.principal_and_terms)
    add_session = writes(signing_in.add_session)
    session = looks(signing_in.read_session)
    sessions_among = looks(signing_in.read_sessions)
    end_session = writes(signing_in.end_session)
    session_end = reads(signing_in.session_end)
    claim_unconfirmed = writes(signing_in.claim_unconfirmed)
    unconfirm = writes(signing_in.unconfirm)
    end_unknown = writes(signing_in.end_unknown)
    add_sign_in = writes(signing_in.add_sign_in)
    take_sign_in = writes(signing_in.take_sign_in)
    ask_for_machine = writes(machines.ask)
    machine_sign_in = reads(machines.read)
    decide_machine = writes(machines.decide)
    redeem_machine = writes(machines.redeem)
    add_app_access = writes(signing_in.add_app_access)
    enter_app = writes(signing_in.enter_app)
    app_access = reads(signing_in.read_app_access)
    app_accesses_among = reads(signing_in.app_accesses_among)
    add_failure = writes(signing_in.add_failure)
    take_guess = writes(signing_in.take_guess)
    give_back_guess = writes(signing_in.give_back_guess)
    failures = reads(signing_in.read_failures)

    set_storage_credential = writes(credentials.put)
    storage_credentials = reads(credentials.read)
    reseal_storage_credential = writes(credentials.reseal)
    remove_storage_credential = writes(credentials.remove)
    claim_names = writes(name_claims.claim)
    release_names = writes(name_claims.release)

    set_secret = writes(secret_rows.put)
    secrets = reads(secret_rows.read)
    secret_names = looks(secret_rows.names_of)
    secrets_of_tenant = reads(secret_rows.of_tenant)
    reseal_secret = writes(secret_rows.reseal)
    remove_secret = writes(secret_rows.remove)

    set_target = writes(notification_rows.put)
    targets = reads(notification_rows.read)
    targets_of_tenant = reads(notification_rows.of_tenant)
    reseal_target = writes(notification_rows.reseal)
    remove_target = writes(notification_rows.remove)
    test_target = writes(notification_rows.ask_for_test)
    note_news = writes(notification_rows.note_news)
    due_targets = reads(notification_rows.due)
    notifications = reads(notification_rows.notifications)
    refusals = reads(notification_rows.refusals)
    note_refusals_told = writes(notification_rows.note_refusals_told)
    note_told = writes(notification_rows.note_told)
    note_not_told = writes(notification_rows.note_not_told)

    system_id = writes(system_ids.assign)

    share = writes(share_rows.put)
    end_share = writes(share_rows.end)
    shares = reads(share_rows.read)
    shared_level = looks(share_rows.given)

    job_holder = looks(job_submissions.holder)
    note_job_submission = writes(job_submissions.note)
    stop_job = writes(job_submissions.stop)
    is_stopped_job = looks(job_submissions.is_stopped)
    resume_job = writes(job_submissions.resume)
    is_job_family = looks(job_submissions.is_family)
    job_family_among = looks(job_submissions.family_among)
    job_family = looks(job_submissions.family)
    job_parents = looks(job_submissions.parents)
    job_children = looks(job_submissions.children)

    add_audit = writes(audit_log.add)
    end_audit = writes(audit_log.end)
    audit = reads(audit_log.read)

    def prune(self, now_s: float) -> None:
        """Remove expired sessions, old failures, and audit entries beyond their retention."""
        self.database.write(lambda c: signing_in.prune(c, now_s, now_s - self._limits.failures_kept_s))
        self.database.write(lambda c: audit_log.prune(c, now_s - self._limits.audit_kept_s))
