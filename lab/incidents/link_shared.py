"""Three readers on one machine share its link of 3 Mbit/s to two brokers, which is full."""

import time

from lab.clients import consume
from lab.javaclient import java_consume
from lab.pythonclient import python_consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    lab.cluster(2)
    lab.topics(history={"assignment": [[1], [2]]})
    lab.fill("history", 9000, 800)
    wire = lab.wire("branch", Habits(rate_bps=3e6, queue_s=0.15, delay_s=0.003))
    with lab.capture(lab.network.hub):
        lab.start(wire.host, consume, lab.bootstrap, "branch-one", "one", "history")
        lab.start(wire.host, python_consume, lab.bootstrap, "branch-two", "two", "history")
        java_consume(lab, wire.host, "branch-three", "three", "history")
        time.sleep(22)
    return Truth(["rate_limited_link"], [[wire.host.address, "branch-one", "branch-two", "branch-three"]])
