"""Clients 30 ms away that are made for it: large batches, many requests in flight, long polls."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders={"partitions": 2})
    one, two = lab.wire("north", Habits(delay_s=0.015)), lab.wire("south", Habits(delay_s=0.015))
    near = lab.host("near")
    with lab.capture(broker.host):
        lab.start(near, produce, lab.bootstrap, "near-orders", "orders", per_s=10)
        lab.start(one.host, produce, lab.bootstrap, "north-orders", "orders", per_s=20, linger_ms=100)
        java_produce(lab, two.host, "south-orders", "orders", per_s=20, linger_ms="100")
        lab.start(one.host, consume, lab.bootstrap, "north-packing", "packing", "orders")
        lab.start(two.host, consume, lab.bootstrap, "south-report", "report", "orders")
        time.sleep(20)
    return Truth()
