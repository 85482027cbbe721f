"""A load balancer forgets connections that were idle for 8 s, and answers what comes on them with a reset."""

import time

from lab.session import Lab, Truth
from lab.tricks import produce_now_and_then
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(alarms={"partitions": 1})
    wire = lab.wire("cellar", Habits(forget_after_s=8, reset_forgotten=True))
    office = lab.host("office")
    with lab.capture(wire.host, office):
        lab.start(office, produce_now_and_then, lab.bootstrap, "door", "alarms", 11.0)
        lab.start(wire.host, produce_now_and_then, lab.bootstrap, "sensor", "alarms", 11.0)
        # It is never idle for that long.
        lab.start(wire.host, produce_now_and_then, lab.bootstrap, "thermometer", "alarms", 2.0)
        time.sleep(50)
    return Truth(
        ["idle_killed"],
        [["sensor", wire.host.address], [broker.address]],
        "It is sensor; door is as seldom, but has no balancer before it.",
    )
