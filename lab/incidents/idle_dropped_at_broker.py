"""A gateway forgets connections that were idle for 6 s and drops what comes on them: seen beside the broker."""

import time

from lab import background
from lab.clients import consume, produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, alarms={"partitions": 1})
    wire = lab.wire("tower", Habits(forget_after_s=6))
    patient = {"fetch_wait_max_ms": 8000, "socket_timeout_ms": 12000, "heartbeat_interval_ms": 2000}
    with lab.capture(broker.host):
        shop = background.shop(lab, per_s=5)
        # A long poll on a quiet topic is silent for longer than the gateway remembers: the reply is dropped.
        lab.start(shop, produce, lab.bootstrap, "shop-alarms", "alarms", per_s=0.05)
        lab.start(wire.host, consume, lab.bootstrap, "alarm-tower", "alarm-tower", "alarms", **patient)
        time.sleep(45)
    what = f"Behind it is alarm-tower at {wire.host.address}, which polls for up to 8 s."
    return Truth(["idle_killed"], [["alarm-tower", wire.host.address], [broker.address]], what)
