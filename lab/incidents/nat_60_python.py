"""A gateway forgets connections that were idle for 60 s, without a word; behind it a producer of kafka-python."""

import time

from lab import background
from lab.pythonclient import python_produce
from lab.session import Lab, Truth
from lab.wire import Habits


def run(lab: Lab) -> Truth:
    (broker,) = lab.cluster()
    lab.topics(orders=background.ORDERS, alarms={"partitions": 1})
    wire = lab.wire("hut", Habits(forget_after_s=60, delay_s=0.005))
    with lab.capture(broker.host, client=wire.host):
        background.shop(lab, per_s=2)
        quick = {"request_timeout_ms": 8000, "metadata_max_age_ms": 600_000}
        lab.start(wire.host, python_produce, lab.bootstrap, "hut-alarms", "alarms", 1 / 65, 100, 200.0, **quick)
        time.sleep(150)
    return Truth(["idle_killed"], [["hut-alarms", wire.host.address], [broker.address]])
