"""Views are a part of the choice for a promise, if the amounts read with and without them are known."""

from __future__ import annotations

from tests.unit.zoe_master.loop.promises.test_decisions import MB, NODES, reader, terms
from zoe_client.vocabulary import PromiseRisk
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.executions.metering import Meter
from zoe_lib.domain.executions.promises import BandwidthSupply, Rates
from zoe_lib.domain.values.finish_times import FinishTerms, Promise, PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.storage import InputRead, Pushdown, StorageDemand, StorageObject
from zoe_lib.pricing.price_list import PriceList, Row
from zoe_lib.run_times.values import RunSample, RunSetting
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.state.promise_prices import StoredPrices
from zoe_master.state.run_times import LearnedRunTimes

BYTES, SHARE = 6000 * MB, 0.1
# A core costs 1 an hour, and a view as much as 100 of them; bandwidth is cheap.
PRICES = PriceList(
    "EUR",
    "UTC",
    0,
    digits=6,
    rates=(
        Row("1.0", meter=Meter.CORE_HOURS),
        Row("0.0", meter=Meter.MEMORY_GIB_HOURS),
        Row("100.0", meter=Meter.VIEW_HOURS),
        Row("0.001", meter=Meter.BANDWIDTH_MB_S_HOURS),
    ),
)


def selective() -> Application:
    pushdown = Pushdown(columns=("id",), where="kwh > 90")
    demand = StorageDemand(inputs=(StorageObject("in", "swift2d://c.zoe/in", pushdown),))
    return changed(reader(), storage=demand)


def taught(*ways: bool | None, share: float | None = SHARE) -> LearnedRunTimes:
    """Learn runs limited by a store of 10 MB/s: 600 s plainly, and 60 s through a view."""
    times = LearnedRunTimes()
    for number in range(24):
        views = ways[number % len(ways)]
        read = BYTES * (SHARE if views else 1.0)
        setting = RunSetting((1.0, 4.0, 9.0)[number // 2 % 3], read, 10 * MB, views=views)
        sample = RunSample(setting, 1.0, read / (10 * MB), 0.05, share)
        times._times.learn(str(number), ("default", "ada", reader().program), sample)
    return times


def decided(times: LearnedRunTimes, in_s: float, application: Application, priced: bool = True) -> FinishTerms:
    seen = Snapshot(1000.0, NODES, storage=BandwidthSupply(Rates(40 * MB, 0)))
    tick = Tick(seen, Plan(), "plan", 0.0, False, policy=Policy(promise_offer_s=10.0))
    wanted = tick.fresh(application, "default", "ada", seen.now_s + in_s)
    prices = StoredPrices(lambda: [PRICES] if priced else [])
    return terms(PromiseDecisions(times, prices).decide_new(tick, wanted))


def test_a_view_is_chosen_where_plain_objects_would_be_read_too_late() -> None:
    times = taught(False, True)
    loose, tight = (decided(times, in_s, selective()) for in_s in (2000.0, 100.0))
    assert (loose.views, tight.views) == (False, True)
    assert loose.run_s > 5 * tight.run_s
    assert float(tight.price or 0) > float(loose.price or 0)


def test_without_prices_of_views_they_are_used_since_all_else_is_needed_for_less_time() -> None:
    assert decided(taught(False, True), 2000.0, selective(), priced=False).views is True


def test_a_sample_is_enough_to_promise_a_view_that_was_never_used() -> None:
    assert decided(taught(False), 100.0, selective()).views is True
    assert decided(taught(False, share=None), 2000.0, selective()).views is None


def test_a_promise_by_runs_through_views_needs_views() -> None:
    assert decided(taught(True), 2000.0, selective()).views is True


def test_where_nothing_is_pushed_down_nothing_is_chosen() -> None:
    assert decided(taught(False, True), 2000.0, reader()).views is None
    assert decided(taught(None), 2000.0, selective()).views is None


def test_a_view_that_is_not_there_after_all_puts_the_promise_at_risk() -> None:
    """It is expected by the way its inputs are read, as soon as that is decided."""
    application = changed(selective(), promise=PromiseWish(0.5))
    terms_ = FinishTerms(1100.0, 0.5, 0, 70.0, 1010.0, views=True)
    marks = {Mark.PLACED: 1000.0}
    for view, expected in (("v", None), ("", PromiseRisk.SLOWER)):
        execution = Execution(
            "x",
            "x",
            "default",
            "ada",
            application,
            990.0,
            state=ExecutionState.RUNNING,
            marks=marks,
            promise=Promise(terms_, 990.0),
            deadline_s=1100.0,
            inputs=(InputRead("in", "swift2d://c.zoe/in", view),),
        )
        tick = Tick(Snapshot(1005.0, NODES), Plan(), "plan", 0.0, False, policy=Policy(), promised=(execution,))
        notices = [
            decision.notice for decision in PromiseDecisions(taught(False, True), StoredPrices(list)).decide_on(tick)
        ]
        assert [notice.risk for notice in notices if notice is not None] == ([] if expected is None else [expected])
