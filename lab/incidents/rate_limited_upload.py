"""A client writes more than its link of 1 Mbit/s carries; the queue before the link is full all the time."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, films={"partitions": 1})
    wire, near = lab.wire("studio", Habits(rate_bps=1e6, queue_s=0.25)), lab.host("desk")
    with lab.capture(broker.host, client=wire.host):
        background.shop(lab)
        lab.start(near, produce, lab.bootstrap, "desk-upload", "films", per_s=10, size=2000)
        lab.start(wire.host, produce, lab.bootstrap, "studio-upload", "films", per_s=100, size=4000, linger_ms=50)
        time.sleep(20)
    what = f"It is studio-upload at {wire.host.address}: 400 kB/s, where 125 kB/s go through."
    return Truth(["rate_limited_link"], [["studio-upload", wire.host.address]], what)
