from collections import Counter

from tests.support.scheduling import queued
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.ordering.reasons import Reasons

NO_ROOM, BEHIND = Reason(ReasonCode.NO_RESOURCES, "no room"), Reason(ReasonCode.BEHIND_IN_QUEUE, "behind")


def test_everybody_of_the_rest_has_the_common_reason_until_it_goes() -> None:
    reasons = Reasons({"head": NO_ROOM, "odd": NO_ROOM})
    assert dict(reasons) == {"head": NO_ROOM, "odd": NO_ROOM}
    reasons.give_rest([queued("a"), queued("b"), queued("c")], BEHIND)
    reasons.drop("b")
    reasons.drop("odd")
    assert dict(reasons) == {"head": NO_ROOM, "a": BEHIND, "c": BEHIND}
    assert len(reasons) == 3
    assert reasons.get("b") is None
    assert "nobody" not in reasons


def test_they_are_counted_by_code_without_a_look_at_each() -> None:
    reasons = Reasons({"head": NO_ROOM})
    reasons.give_rest([queued(name) for name in "abcd"], BEHIND)
    reasons.drop("b")
    reasons.give("c", NO_ROOM)
    assert reasons.counts() == Counter(reason.code for reason in reasons.values())
    assert reasons.counts() == {ReasonCode.NO_RESOURCES: 2, ReasonCode.BEHIND_IN_QUEUE: 2}
    assert len(reasons) == len(list(reasons)) == 4
