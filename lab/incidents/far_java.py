"""A Java producer 120 ms away (round trip) with one request in flight and no batches; seen beside it, from the middle."""

import time

from lab import background
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, bids={"partitions": 1})
    wire = lab.wire("island", Habits(delay_s=0.06))
    one = {"max_in_flight_requests_per_connection": "1", "batch_size": "1", "linger_ms": "0"}
    background.shop(lab)
    java_produce(lab, wire.host, "island-bids", "bids", per_s=40, **one)
    time.sleep(6)
    with lab.capture(wire.host, broker=broker.host):
        time.sleep(15)
    return Truth(["far_broker"], [["island-bids", wire.host.address], [broker.address]])
