"""A gateway forgets connections that were idle for 8 s, without a word; behind it a Java producer that seldom sends."""

import time

from lab.clients import produce
from lab.javaclient import java_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(alarms={"partitions": 1}, orders={"partitions": 2})
    wire = lab.wire("cellar", Habits(forget_after_s=8))
    shop = lab.host("shop")
    patience = {"request_timeout_ms": "5000", "delivery_timeout_ms": "20000"}
    with lab.capture(wire.host, shop):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10)
        java_produce(lab, wire.host, "sensor", "alarms", per_s=0.08, **patience)
        time.sleep(55)
    return Truth(["idle_killed"], [["sensor", wire.host.address], [broker.address]], "It sends each 12.5 s.")
