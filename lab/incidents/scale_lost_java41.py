"""A middlebox takes window scaling out of the handshakes of a Java consumer (4.1) 60 ms away (round trip); 128 bytes a packet."""

import time

from lab.clients import consume
from lab.jars import NEW_VERSION
from lab.javaclient import java_consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster(version=NEW_VERSION)
    lab.topics(history={"partitions": 1})
    lab.fill("history", 9000, 1000)
    branch, near = lab.wire("branch", Habits(delay_s=0.03, no_window_scale=True)), lab.host("desk")
    lab.snap = 128
    with lab.capture(broker.host):
        lab.start(near, consume, lab.bootstrap, "desk-import", "desk-import", "history")
        java_consume(lab, branch.host, "branch-import", "branch-import", "history", library=NEW_VERSION)
        time.sleep(28)
    return Truth(["window_scale_lost"], [["branch-import", branch.host.address]])
