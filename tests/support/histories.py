"""Random legal histories of an execution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.support.applications import GIB
from zoe_client.vocabulary import OfferKind, PromiseRisk
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.deadline_misses import miss_of
from zoe_lib.domain.executions.execution import Cause, Execution, Outcome, Service
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition, apply
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, PromiseNotice, PromiseOffers
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.locality import InputObjects, InputPlaces, Places
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.storage import InputRead
from zoe_lib.domain.values.transfers import StoreTransfers

Choose = Callable[[int], int]  # a number below the one given


def history(execution: Execution, steps: int, choose: Choose) -> Iterator[ev.Event]:
    """Return up to this many consecutive legal events, from a submitted execution on."""
    for step in range(steps):
        legal = legal_events(execution, at_s=execution.submitted_at_s + step + 0.25)
        if not legal:
            return
        event = legal[choose(len(legal))]
        execution = apply(execution, event)
        yield event


def legal_events(execution: Execution, at_s: float) -> Sequence[ev.Event]:
    """Yield one event of every kind, for every service, that may come next."""
    return [event for event in _candidates(execution, at_s) if _is_legal(execution, event)]


def _is_legal(execution: Execution, event: ev.Event) -> bool:
    try:
        apply(execution, event)
    except IllegalTransition:
        return False
    return True


def _candidates(execution: Execution, at_s: float) -> Iterator[ev.Event]:
    waits = Reason(ReasonCode.NO_RESOURCES, f"no room at {at_s}", {"resources": 3}, "wait")
    yield ev.Queued(at_s=at_s, cause_id="tick")
    yield ev.ReasonChanged(at_s=at_s, reason=waits)
    terms = FinishTerms(at_s + 90.0, 0.9, 1, 40.0, at_s + 50.0, GIB, "1.25", "EUR", 7)
    offered = PromiseOffers("There is no room", at_s + 60.0, (Offer(OfferKind.EARLIEST, terms),))
    yield ev.PromiseOffered(at_s=at_s, offers=offered)
    yield ev.Promised(at_s=at_s, terms=terms, user="ada")
    yield ev.PromiseAdjusted(at_s=at_s, elastic=0, read_bytes_per_s=2 * GIB)
    yield ev.PromiseAtRisk(at_s=at_s, notice=PromiseNotice(PromiseRisk.SLOWER, at_s + 99.0, at_s))
    yield ev.Forecasted(at_s=at_s, forecast=Forecast(at_s, 5.0, None, at_s + 4.0, at_s + 9.0, samples=30))
    held = InputObjects(3, int(at_s * 100))
    places = (InputPlaces("a", Places(held, held, {"n1": held}, complete=False)), InputPlaces("b"))
    core = _placements(execution.core_services())
    yield ev.StartPlanned(at_s=at_s, cause_id="plan", placements=core, places=places)
    yield ev.StorageGranted(at_s=at_s, read_bytes_per_s=GIB)
    yield ev.StorageRefused(at_s=at_s, why=f"refused at {at_s}")
    yield ev.StorageDeclined(at_s=at_s, write_bytes_per_s=GIB, why=f"declined at {at_s}")
    yield ev.StorageWithdrawn(at_s=at_s, read_bytes_per_s=GIB, why=f"withdrawn at {at_s}")
    yield ev.TenantCredentialUsed(at_s=at_s)
    yield ev.AttemptOpened(at_s=at_s, prologue=True, epilogue=True)
    yield ev.PrologueEnded(at_s=at_s, exit_code=0, output="mounted")
    yield ev.EpilogueEnded(at_s=at_s, exit_code=1, output=f"failed at {at_s}")
    generation = 1 if execution.transfers is None else execution.transfers.generation + 3
    moved = StoreTransfers(generation, int(at_s * 1000) % 10**15, 7 * generation, 12.5, 30.25, at_s=at_s)
    yield ev.StorageTransferred(at_s=at_s, attempt=execution.attempt, transfers=moved)
    yield ev.InputsDecided(at_s=at_s, inputs=(InputRead("a", "swift2d://b.zoe/c", "v", ("d", "e"), f"at {at_s}"),))
    yield ev.ElasticPlaced(at_s=at_s, placements=_placements(execution.elastic_services()[:1]))
    yield ev.Running(at_s=at_s)
    yield ev.ScalingBlind(at_s=at_s, why="" if int(at_s) % 2 else "no answer")
    yield ev.IdleWarned(at_s=at_s, used_at_s=at_s - 1, ends_at_s=at_s + 60)
    if execution.user != "eve":
        yield ev.OwnerChanged(at_s=at_s, former=execution.user, user="eve")
    if execution.deadline_s is not None:
        yield ev.DeadlineMissed(at_s=at_s, miss=miss_of(execution, execution.deadline_s))
    yield ev.Stopping(at_s=at_s, outcome=Outcome.FAILED, cause=Cause.EXITED, exit_code=3, message="exit code 3")
    yield ev.Ended(at_s=at_s)
    yield ev.Requeued(at_s=at_s, not_before_s=at_s + 10)
    yield ev.Refused(at_s=at_s, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED, message="by ada")
    for service in execution.services:
        yield from _about(service, at_s)


def _about(service: Service, at_s: float) -> Iterator[ev.Event]:
    yield ev.ServiceStarting(at_s=at_s, service_id=service.id)
    yield ev.ServiceStarted(at_s=at_s, service_id=service.id, backend_id=f"process {service.index}")
    yield ev.ServiceReady(at_s=at_s, service_id=service.id)
    yield ev.ServiceStopping(at_s=at_s, service_id=service.id, cause=Cause.CORE_ENDED)
    yield ev.ServiceEnded(at_s=at_s, service_id=service.id, cause=Cause.EXITED, exit_code=0, message="bye")
    yield ev.ServiceLost(at_s=at_s, service_id=service.id, message="node gone")
    yield ev.ServiceRetried(at_s=at_s, service_id=service.id, not_before_s=at_s + 5)


def _placements(services: Sequence[Service]) -> tuple[ev.Placement, ...]:
    return tuple(ev.Placement(service_id=s.id, node=f"node-{s.index}") for s in services if s.node is None)
