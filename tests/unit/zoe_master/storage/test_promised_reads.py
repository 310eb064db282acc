"""Inputs are read as promised: plainly without a question, through a view whether or not that saves time."""

from __future__ import annotations

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import View, ViewSample
from storage_bridge.simulated import SimulatedController
from tests.support.applications import application, component, execution
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.promises import view_schemes
from zoe_lib.domain.values.finish_times import FinishTerms, Promise
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.storage import Pushdown, StorageDemand, StorageObject
from zoe_master.state.crash_points import never_crash
from zoe_master.storage.view_reconciler import InputViews, ViewReconciler

VIEWS = InputViews(view_schemes(False))
# All is wanted, so a view saves nothing.
ALL = ViewSample(8_000_000, 8_000_000, 6_000_000, 8_000_000, 0.02, 0.4, None, ("id", "kwh"))


def promised(views: bool | None) -> Execution:
    storage = StorageDemand(inputs=(StorageObject("meters", "swift2d://m.zoe/x", Pushdown(columns=("id", "kwh"))),))
    terms = FinishTerms(1000.0, 0.9, 0, 10.0, 900.0, views=views)
    reads = changed(application(component()), storage=storage)
    return changed(execution(), application=reads, promise=Promise(terms, 1.0))


@pytest.mark.parametrize(
    ("views", "through", "sentence"),
    [
        (True, True, "through a view, as promised: 6 of 8 MB of a sample are needed"),
        (None, False, "plainly: a view would not save time; 6 of 8 MB of a sample are needed"),
        (False, False, "plainly: it was promised so, since that costs less"),
    ],
)
def test_how_inputs_are_read_is_kept_as_promised(views: bool | None, through: bool, sentence: str) -> None:
    controller = SimulatedController(Capacity(100_000_000, {"disk": 100_000_000}))
    controller.sampled = ALL
    one = promised(views)
    wanted = list(VIEWS.views_for(one).values())
    assert bool(wanted) is (views is not False)
    verdicts = ViewReconciler(controller, never_crash).look(wanted, frozenset(view.id for view in wanted))
    [read] = VIEWS.ways_to_read(one, verdicts, "nobody asked")
    assert bool(read.view) is through
    assert read.why.startswith(sentence)
    assert read.share == (None if views is False else 0.75)
    assert [view.id for view in controller.views()] == ([read.view] if through else [])


def test_a_view_is_the_same_one_whether_or_not_it_is_promised() -> None:
    """So that it is found again in the controller's reports, which know nothing of promises."""
    plain, wanted = View("v", "t", "swift2d://m.zoe/x"), View("v", "t", "swift2d://m.zoe/x", promised=True)
    assert plain == wanted
