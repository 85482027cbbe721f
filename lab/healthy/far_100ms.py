"""Java's and librdkafka's clients 100 ms away (round trip) that work well: batches in flight, and a mirror that polls."""

import time

from lab.clients import consume, produce
from lab.javaclient import java_consume, java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders={"partitions": 2})
    far, near = lab.wire("far", Habits(delay_s=0.05)), lab.host("near")
    with lab.capture(broker.host, client=far.host):
        lab.start(near, produce, lab.bootstrap, "near-orders", "orders", per_s=20)
        java_produce(lab, far.host, "far-orders", "orders", per_s=20, linger_ms="200")
        java_consume(lab, far.host, "far-report", "report", "orders")
        lab.start(far.host, consume, lab.bootstrap, "far-packing", "packing", "orders")
        time.sleep(25)
    return Truth()
