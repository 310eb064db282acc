from tests.support.scheduling import queued
from zoe_lib.domain.reasons import Reason, ReasonCode
from zoe_master.scheduler.reasons import Reasons

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
