"""A gateway forgets connections that were idle for 240 s, and drops what comes on them later without a word."""

import time

from lab.session import Lab, Truth
from lab.tricks import produce_now_and_then
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(alarms={"partitions": 1})
    wire = lab.wire("cellar", Habits(forget_after_s=240))
    office = lab.host("office")
    quiet = {"topic_metadata_refresh_interval_ms": -1, "socket_timeout_ms": 10000}
    with lab.capture(wire.host, office):
        lab.start(office, produce_now_and_then, lab.bootstrap, "door", "alarms", 250.0, 500.0, **quiet)
        lab.start(wire.host, produce_now_and_then, lab.bootstrap, "sensor", "alarms", 250.0, 500.0, **quiet)
        lab.start(wire.host, produce_now_and_then, lab.bootstrap, "thermometer", "alarms", 60.0, 500.0, **quiet)
        time.sleep(280)
    what = "It is sensor; door is as seldom, but has no gateway before it."
    return Truth(["idle_killed"], [["sensor", wire.host.address], [broker.address]], what)
