"""A producer sends each of its 150 small records a second in a request of its own (linger.ms=0)."""

import time

from lab import background
from lab.clients import produce
from lab.session import Lab, Truth


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, ticks={"partitions": 1})
    desk = lab.host("desk")
    small = {"linger_ms": 0, "batch_num_messages": 1}
    with lab.capture(broker.host):
        background.shop(lab)
        lab.start(desk, produce, lab.bootstrap, "tick-feed", "ticks", per_s=150, size=40, **small)
        time.sleep(12)
    return Truth(["tiny_batches"], [["tick-feed"]], "It is tick-feed.")
