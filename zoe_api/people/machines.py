"""Sign-in of machines: a terminal requests access and shows a code, and a signed-in user allows it in a browser (RFC
8628).
"""

from __future__ import annotations

import re
import secrets
from typing import Annotated

from fastapi import Path, Request, Response

from zoe_api.access import access
from zoe_api.access.access import AsSignedIn
from zoe_api.http.addresses import address_of
from zoe_api.http.attempts.guess_limit import TooManyGuesses, network_of
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Services, ServicesDep
from zoe_client.wire import MachineAnswer, MachineAsked, MachineDecision, MachineRequest, MachineSecret, MachineView
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import Role
from zoe_lib.store.errors import ConcurrentUpdate, NotFound, TooManyWaiting
from zoe_lib.store.people import MachineSignIn, Principal, Token
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.sql.accounts.waiting import WaitingBounds
from zoe_lib.submission.ids import hash_of
from zoe_lib.tokens.api_tokens import TokenText

router = api_router("/session", tag="session")

WAITS_S = 600.0
ASK_EVERY_S = 2.0
WAITING_OF_NETWORK_MAX = 100
"""A class behind one address signs in at the same time; more users there use a token of the web UI."""
WAITING_MAX = 10_000
"""A full table drops rows of the network that has most."""
WRONG_CODES_MAX, WRONG_WITHIN_S = 10, 300.0
PAGE = "/machine"
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""Without vowels no word appears by chance, and no letter is like a digit (RFC 8628, section 6.1)."""
_CODE_LETTERS = 8
_SECRET_BYTES = 32
_NOT_LETTERS = re.compile(r"[\s-]+")
_TRIES = 5
CodeOfMachine = Annotated[str, Path(max_length=32, description="The code that the machine shows.")]


@router.post("/machines", status_code=201, response_model=MachineAsked)
def ask_for_machine(body: MachineRequest, request: Request, services: ServicesDep) -> MachineAsked:
    """Ask for a token for a machine; this needs no authentication. Show the code to the user, who allows it on a page
    of the web UI, and ask for the token with the secret.
    """
    now_s, secret, address = services.clock.now_s(), secrets.token_urlsafe(_SECRET_BYTES), address_of(request)
    for _ in range(_TRIES):
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LETTERS))
        wanted = MachineSignIn(
            id=hash_of(secret),
            code=code,
            machine=body.machine,
            address=address,
            network=network_of(address),
            scopes=frozenset(body.scopes),
            lifetime_s=body.lifetime_s,
            asked_at_s=now_s,
            expires_at_s=now_s + WAITS_S,
        )
        try:
            services.accounts.ask_for_machine(wanted, WaitingBounds(WAITING_OF_NETWORK_MAX, WAITING_MAX))
        except ConcurrentUpdate:
            continue
        except TooManyWaiting as refused:
            hint = (
                "a place is free in ten minutes at the latest: try again then, or make a token in the web UI and use "
                "`zoe login --token-file`"
            )
            raise ApiProblem(Code.SIGN_IN_BUSY, str(refused), hint).retry_after(WAITS_S) from None
        return MachineAsked(
            code=readable_code(code), secret=secret, path=PAGE, expires_in_s=WAITS_S, interval_s=ASK_EVERY_S
        )
    raise ApiProblem(Code.SIGN_IN_BUSY, "no free code was found", "try again")


@router.post("/machine-token", response_model=MachineAnswer)
def get_machine_token(body: MachineSecret, request: Request, services: ServicesDep) -> MachineAnswer:
    """Return whether the machine with this secret is allowed, and then once its token. 404 after it has waited too
    long, if the session that allowed it has ended, or if it has its token already.
    """
    now_s, text = services.clock.now_s(), TokenText.new()
    ends_s = now_s + services.settings.session_token_lifetime_s_max
    token = Token(text.id, "", "", text.secret_hash, frozenset(), now_s, ends_s)
    found = services.accounts.redeem_machine(token, hash_of(body.secret), now_s)
    if found is None:
        raise NotFound("no machine with this secret is waiting")
    if isinstance(found, MachineSignIn):
        return MachineAnswer(state="refused" if found.refused else "waiting")
    holder = Principal(found.user, found.tenant, Role.VIEWER, token_id=found.id)
    services.accounts.add_audit(access.entry(holder, request, "get_machine_token", found.note, 200))
    return MachineAnswer(state="allowed", token=str(text))


@router.get("/machines/{code}", response_model=MachineView)
def get_machine(code: CodeOfMachine, caller: AsSignedIn) -> MachineView:
    """Return the machine with this code, and the access that it requests."""
    found = _request_of_code(code, caller.principal, caller.services.accounts)
    return MachineView(
        code=readable_code(found.code),
        machine=found.machine,
        address=found.address,
        same_network=found.network == network_of(address_of(caller.request)),
        asked_at_s=found.asked_at_s,
        scopes=sorted(found.scopes & caller.principal.scopes),
        token_expires_at_s=_end_of(found, caller.services),
    )


@router.put("/machines/{code}", status_code=204)
def decide_on_machine(code: CodeOfMachine, body: MachineDecision, caller: AsSignedIn) -> Response:
    """Allow or refuse the machine with this code. Its token has your user, this tenant, and no scope that your role
    lacks; it appears in the list of your tokens.
    """
    accounts = caller.services.accounts
    found = _request_of_code(code, caller.principal, accounts)
    if body.allow and not found.scopes & caller.principal.scopes:
        raise ApiProblem(Code.ROLE_MISSING, f"your role has none of: {', '.join(sorted(found.scopes))}")
    accounts.decide_machine(
        found.code, caller.principal.session_id if body.allow else None, caller.services.clock.now_s()
    )
    return Response(status_code=204)


def readable_code(code: str) -> str:
    """Return the code in its readable form."""
    return f"{code[:4]}-{code[4:]}"


def _request_of_code(
    text: str, principal: Principal, accounts: AccountStore, clock: Clock = SYSTEM_CLOCK
) -> MachineSignIn:
    """Return the request for an entered code. Wrong codes are counted before the query, so that other users' codes
    cannot be guessed.
    """
    now_s, key = clock.now_s(), hash_of(f"machine {principal.user}")
    if accounts.take_guess([key], {key: (now_s - WRONG_WITHIN_S, WRONG_CODES_MAX)}, now_s) is not None:
        raise TooManyGuesses(key, WRONG_WITHIN_S)
    found = accounts.machine_sign_in(_NOT_LETTERS.sub("", text).upper(), now_s)
    if found is None:
        raise NotFound("no machine is waiting with this code, or its request has expired")
    accounts.give_back_guess([key], now_s)
    return found


def _end_of(found: MachineSignIn, services: Services) -> float:
    longest_s = services.settings.session_token_lifetime_s_max
    return services.clock.now_s() + min(longest_s, found.lifetime_s or longest_s)
