"""A NAT forgets connections that were idle for 6 s and drops what comes on them later, without a word."""

import time

from lab.clients import consume, produce
from lab.session import Lab, Truth
from lab.tricks import produce_now_and_then
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(alarms={"partitions": 1}, orders={"partitions": 2})
    nat = lab.wire("cellar", Habits(forget_after_s=6))
    shop = lab.host("shop")
    with lab.capture(nat.host, shop):
        lab.start(shop, produce, lab.bootstrap, "shop-orders", "orders", per_s=10)
        lab.start(shop, consume, lab.bootstrap, "packing", "packing", "orders")
        # Its own patience is shorter than a minute, so that the run is.
        lab.start(nat.host, produce_now_and_then, lab.bootstrap, "sensor", "alarms", 9.0, socket_timeout_ms=4000)
        time.sleep(40)
    return Truth(["idle_killed"], [["sensor", nat.host.address], [broker.address]])
