"""A client reads a backlog over a link of 4 Mbit/s, whose queue is full all the time."""

import time

from lab import background
from lab.clients import consume
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, history={"partitions": 1})
    lab.fill("history", 12000, 1000)
    wire = lab.wire("branch", Habits(rate_bps=4e6, queue_s=0.2))
    with lab.capture(broker.host, client=wire.host):
        background.shop(lab)
        lab.start(wire.host, consume, lab.bootstrap, "branch-import", "branch-import", "history")
        time.sleep(18)
    what = f"It is branch-import at {wire.host.address}; 200 ms of queue before the link."
    return Truth(["rate_limited_link"], [["branch-import", wire.host.address]], what)
