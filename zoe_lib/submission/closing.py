"""Whether submissions are taken at present."""

from __future__ import annotations

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.store.people import Principal
from zoe_lib.submission.refusal import SubmissionRefused


def check_open(policy: Policy, principal: Principal) -> None:
    """Raise SubmissionRefused with the admin's sentence while submissions are closed; operators may still submit."""
    if policy.submissions_closed and not principal.operator:
        hint = "what was submitted earlier runs on; submit it when an admin has opened submissions again"
        raise SubmissionRefused("submissions_closed", policy.submissions_closed, hint)
